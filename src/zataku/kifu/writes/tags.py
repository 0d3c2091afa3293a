"""Writes that add, rename and remove tags, and that link them with records."""

from msgspec.structs import replace

from zataku.kifu.design import kifu_table
from zataku.kifu.entities import RemovedTag, SlugClaim, SystemSettings, Tag, Tagging, TagNameClaim, UserSettings
from zataku.kifu.errors import InvalidChange, NotOwner, TagsFull
from zataku.kifu.limits import ACCESS_SECONDS, NamedUser, TagKey, TagName
from zataku.kifu.writes.records import claim_key, claim_unchanged
from zataku.kifu.writes.settings import DEFAULTS, NEW_USER, below_cap, tag_count, tag_max
from zataku.table import Budget, Instant, Plan, Step, add_seconds, check, delete, path, put, save, update

named_tag = path(TagNameClaim, lambda claim: claim.tag_id)
latest_access = path(Tag, lambda tag: tag.latest_access)
A_VIEW = {"username": "h-akira", "tag_id": "jko2kdl", "now": "2025-12-31T11:11:31Z"}


@kifu_table.write(budget=Budget(writes=13), example={"owner": NEW_USER, "system": DEFAULTS})
def add_tag(tag: Tag, owner: UserSettings, system: SystemSettings = DEFAULTS) -> Plan[Tag]:
    """Add a tag, if its name is free and the user has fewer tags than allowed."""
    if owner.username != tag.username:
        raise NotOwner("The settings belong to another user than the tag. Read those of its owner.")
    cap = system.tag_max if owner.tag_max is None else owner.tag_max
    if (owner.tag_count or 0) >= cap:
        raise TagsFull(f"There are {cap} tags, as many as allowed. Remove one first.")
    return Plan(
        put(tag, if_absent=True),
        put(TagNameClaim(username=tag.username, name=tag.name, tag_id=tag.tag_id), if_absent=True),
        update(
            UserSettings.key(username=owner.username),
            tag_count.add(1),
            when=below_cap(tag_count, tag_max, owner.tag_max, cap),
        ),
    )


def _release_name(tag: Tag) -> Step[TagNameClaim]:
    """The step that deletes the claim of a tag's name, which also checks that the tag exists."""
    return delete(TagNameClaim.key(username=tag.username, name=tag.name), when=named_tag.equals(tag.tag_id))


@kifu_table.write(budget=Budget(writes=15), example={"name": "中飛車"})
def rename_tag(tag: Tag, name: TagName, now: Instant) -> Plan[Tag]:
    """Give a tag another name, if that is free. Its links stay."""
    if name == tag.name:
        raise InvalidChange("The tag already has this name. Choose another one.")
    return Plan(
        save(replace(tag, name=name, latest_update=max(now, tag.latest_update)), was=tag),
        _release_name(tag),
        put(TagNameClaim(username=tag.username, name=name, tag_id=tag.tag_id), if_absent=True),
    )


@kifu_table.write(budget=Budget(writes=4), example=A_VIEW)
def touch_tag(username: NamedUser, tag_id: TagKey, now: Instant) -> Plan[Tag]:
    """Set the time of the owner's last view of a tag, at most once an hour."""
    due = latest_access.at_most(add_seconds(now, -ACCESS_SECONDS))
    return Plan(update(Tag.key(username=username, tag_id=tag_id), latest_access.set(now), when=due))


@kifu_table.write(budget=Budget(writes=16))
def remove_tag(tag: Tag) -> Plan[Tag]:
    """Remove a tag, release its name and decrement the count. No record can get it afterwards.

    Its links, up to one for each of 2,000 records, do not fit in a transaction: a marker is written for `cleanup`,
    which deletes them. Until then a link may refer to a removed tag; readers skip it.
    """
    return Plan(
        delete(Tag.key(username=tag.username, tag_id=tag.tag_id)),
        _release_name(tag),
        update(UserSettings.key(username=tag.username), tag_count.add(-1), when=tag_count.at_least(1)),
        put(RemovedTag(username=tag.username, tag_id=tag.tag_id)),
    )


@kifu_table.write(budget=Budget(writes=7))
def tag_record(claim: SlugClaim, tag: Tag) -> Plan[Tagging]:
    """Link a record with a tag of its owner, if both exist and are not linked yet."""
    if claim.username != tag.username:
        raise NotOwner("The tag belongs to another user than the record. Choose a tag of the owner.")
    return Plan(
        put(Tagging(kifu_id=claim.kifu_id, tag_id=tag.tag_id), if_absent=True),
        check(claim_key(claim), claim_unchanged(claim)),
        check(Tag.key(username=tag.username, tag_id=tag.tag_id)),
    )


@kifu_table.write(budget=Budget(writes=7))
def untag_record(claim: SlugClaim, tag: Tag) -> Plan[Tagging]:
    """Delete the link of a record with a tag of its owner, if both exist. Deleting it twice is not an error."""
    if claim.username != tag.username:
        raise NotOwner("The tag belongs to another user than the record. Choose a tag of the owner.")
    return Plan(
        delete(Tagging.key(kifu_id=claim.kifu_id, tag_id=tag.tag_id)),
        check(claim_key(claim), claim_unchanged(claim)),
        check(Tag.key(username=tag.username, tag_id=tag.tag_id)),
    )
