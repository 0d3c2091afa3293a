"""What may happen to the library, each as one conditional write or one transaction.

A write takes what the caller has loaded, strongly, and is carried out only if the rule still holds then. Whatever leans
on a record without changing it looks at the claim of its slug, which is there as long as the record is.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from zataku.kifu.analyses import finish_analysis, keep_result, request_analysis
from zataku.kifu.claims import claim_key, still_stands, tag_changes, untouched
from zataku.kifu.design import kifu_table
from zataku.kifu.errors import LibraryFull, NotYours, TagsFull, TooManyAtOnce, UnfitChange
from zataku.kifu.items import (
    LibraryPermission,
    Record,
    RecordPermission,
    SlugClaim,
    SystemSettings,
    Tag,
    Tagging,
    TagNameClaim,
    UserSettings,
)
from zataku.kifu.limits import (
    ACCESS_SECONDS,
    KifuCap,
    KifuKey,
    NamedUser,
    SharedCode,
    Slug,
    TagCap,
    TagName,
    UserName,
)
from zataku.kifu.moments import later
from zataku.kifu.positions import forget_positions, keep_positions
from zataku.table import Budget, Condition, Path, Plan, Step, check, delete, path, put, save, update
from zataku.table.forms import Instant

kifu_count = path(UserSettings, lambda user: user.kifu_count)
tag_count = path(UserSettings, lambda user: user.tag_count)
kifu_max = path(UserSettings, lambda user: user.kifu_max)
tag_max = path(UserSettings, lambda user: user.tag_max)
named_tag = path(TagNameClaim, lambda claim: claim.tag_id)
latest_access = path(Record, lambda record: record.latest_access)

# A transaction takes 100 items; a record, its claim and its owner's count are three of them.
MOST_LINKS = 97
DEFAULTS = SystemSettings()
# The owner of the record that the design document makes up.
NEWCOMER = UserSettings(username=UserName("username"))
TYPICAL = "a record of 2 KB"
A_VIEW = {"viewer": "h-akira", "username": "h-akira", "now": "2025-12-31T11:11:31Z"}


def _below(
    count: Path[UserSettings, int | None], own: Path[UserSettings, int | None], cap: int | None, most: int
) -> Condition[UserSettings]:
    """There is room for one more, and the user's own cap is still the one that was read."""
    unchanged = own.missing() if cap is None else own.equals(cap)
    return (count.missing() | count.below(most)) & unchanged


def _of(claim: SlugClaim, record: Record) -> None:
    if (claim.username, claim.slug, claim.kifu_id) != (record.username, record.slug, record.kifu_id):
        raise UnfitChange("The claim is not the one of this record. Read both again.")


# Settings


@kifu_table.write(budget=Budget(writes=2))
def welcome_user(username: NamedUser) -> Plan[UserSettings]:
    """A user gets a library, once."""
    return Plan(put(UserSettings(username=username, kifu_count=0, tag_count=0), if_absent=True))


@kifu_table.write(budget=Budget(writes=2))
def set_user_caps(username: NamedUser, kifu_cap: KifuCap | None, tag_cap: TagCap | None) -> Plan[UserSettings]:
    """The host gives a user caps of their own, or with None the system's. What is there already stays."""
    return Plan(update(UserSettings.key(username=username), kifu_max.set(kifu_cap), tag_max.set(tag_cap)))


@kifu_table.write(budget=Budget(writes=2))
def set_system_caps(settings: SystemSettings) -> Plan[SystemSettings]:
    """The host changes the caps of all users who have none of their own. Additions that have read the old ones pass."""
    return Plan(put(settings))


# Records


@kifu_table.write(budget=Budget(writes=16, of=TYPICAL), example={"owner": NEWCOMER, "system": DEFAULTS})
def add_record(record: Record, owner: UserSettings, system: SystemSettings = DEFAULTS) -> Plan[Record]:
    """A record comes into its owner's library, if its slug is free and the owner has fewer than allowed."""
    if owner.username != record.username:
        raise NotYours("The settings are those of another user than the record's.")
    cap = system.kifu_max if owner.kifu_max is None else owner.kifu_max
    if (owner.kifu_count or 0) >= cap:
        raise LibraryFull(f"The library has {cap:,} records, as many as allowed. Remove some first.")
    return Plan(
        put(record, if_absent=True),
        put(SlugClaim(username=record.username, slug=record.slug, kifu_id=record.kifu_id), if_absent=True),
        update(
            UserSettings.key(username=owner.username),
            kifu_count.add(1),
            when=_below(kifu_count, kifu_max, owner.kifu_max, cap),
        ),
    )


@kifu_table.write(budget=Budget(writes=6, of=f"the memo of {TYPICAL}"))
def change_record(record: Record, was: Record) -> Plan[Record]:
    """The owner changes moves, side, result, memo, or whether everybody may see it. Each field must be as it was read.

    Changes of other fields by somebody else meanwhile stay. Slug and share code have writes of their own.
    """
    if (record.slug, record.share_code, record.created) != (was.slug, was.share_code, was.created):
        raise UnfitChange("A slug changes by move_record, a share code by share_record, the time it was added never.")
    return Plan(save(record, was=was))


@kifu_table.write(budget=Budget(writes=18, of=TYPICAL), example={"slug": "社団戦/2025/田中"})
def move_record(record: Record, claim: SlugClaim, slug: Slug, now: Instant) -> Plan[Record]:
    """A record gets another slug, if that is free. At no moment has it none, and the old one is free at once."""
    _of(claim, record)
    if slug == record.slug:
        raise UnfitChange("The record has this slug already.")
    return Plan(
        save(replace(record, slug=slug, latest_update=now), was=record),
        delete(claim_key(claim), when=untouched(claim)),
        put(replace(claim, slug=slug), if_absent=True),
    )


@kifu_table.write(budget=Budget(writes=166, of=f"{TYPICAL} with 50 tags"))
def remove_record(record: Record, claim: SlugClaim, links: Sequence[Tagging]) -> Plan[Record]:
    """A record goes, with its slug, all its tags and its place in the owner's count.

    Read the claim first and the links after it: a tag that came later is noticed. More than 97 links are refused; they
    can only be left over from tags that were removed a moment ago, and `unlinking` is about to take them away. It also
    takes away the permissions, positions and kept results of the record.
    """
    _of(claim, record)
    if any(link.kifu_id != record.kifu_id for link in links):
        raise UnfitChange("A link belongs to another record.")
    if len(links) > MOST_LINKS:
        raise TooManyAtOnce(f"The record has {len(links)} tags, some of them being removed. Try again in a moment.")
    gone: list[Step[Tagging]] = [delete(Tagging.key(kifu_id=link.kifu_id, tag_id=link.tag_id)) for link in links]
    return Plan(
        delete(Record.key(username=record.username, kifu_id=record.kifu_id)),
        delete(claim_key(claim), when=untouched(claim)),
        update(UserSettings.key(username=record.username), kifu_count.add(-1), when=kifu_count.at_least(1)),
        *gone,
    )


@kifu_table.write(budget=Budget(writes=6, of=TYPICAL), example=A_VIEW)
def touch_record(viewer: NamedUser, username: NamedUser, kifu_id: KifuKey, now: Instant) -> Plan[Record]:
    """The owner looked at a record. Written at most once an hour, since the whole item is copied into two indexes."""
    if viewer != username:
        raise NotYours("Only the owner's views are remembered.")
    due = latest_access.at_most(later(now, -ACCESS_SECONDS))
    return Plan(update(Record.key(username=username, kifu_id=kifu_id), latest_access.set(now), when=due))


# Tags


@kifu_table.write(budget=Budget(writes=13), example={"owner": NEWCOMER, "system": DEFAULTS})
def add_tag(tag: Tag, owner: UserSettings, system: SystemSettings = DEFAULTS) -> Plan[Tag]:
    """A user makes a tag, if its name is free and the user has fewer than allowed."""
    if owner.username != tag.username:
        raise NotYours("The settings are those of another user than the tag's.")
    cap = system.tag_max if owner.tag_max is None else owner.tag_max
    if (owner.tag_count or 0) >= cap:
        raise TagsFull(f"There are {cap} tags, as many as allowed. Remove one first.")
    return Plan(
        put(tag, if_absent=True),
        put(TagNameClaim(username=tag.username, name=tag.name, tag_id=tag.tag_id), if_absent=True),
        update(
            UserSettings.key(username=owner.username),
            tag_count.add(1),
            when=_below(tag_count, tag_max, owner.tag_max, cap),
        ),
    )


def _claim_of(tag: Tag) -> Step[TagNameClaim]:
    """The name goes, if it is still this tag's; that also shows that the tag is there."""
    return delete(TagNameClaim.key(username=tag.username, name=tag.name), when=named_tag.equals(tag.tag_id))


@kifu_table.write(budget=Budget(writes=15), example={"name": "中飛車"})
def rename_tag(tag: Tag, name: TagName, now: Instant) -> Plan[Tag]:
    """A tag gets another name, if that is free. Its links stay."""
    if name == tag.name:
        raise UnfitChange("The tag has this name already.")
    return Plan(
        save(replace(tag, name=name, latest_update=now), was=tag),
        _claim_of(tag),
        put(TagNameClaim(username=tag.username, name=name, tag_id=tag.tag_id), if_absent=True),
    )


@kifu_table.write(budget=Budget(writes=13))
def remove_tag(tag: Tag) -> Plan[Tag]:
    """A tag goes, with its name and its place in the count. From then on no record gets it.

    Its links, up to one for each of 2,000 records, do not fit a transaction: `unlinking` takes them away, following the
    table's stream. Until then a link may name a tag that is not there, which readers pass over.
    """
    return Plan(
        delete(Tag.key(username=tag.username, tag_id=tag.tag_id)),
        _claim_of(tag),
        update(UserSettings.key(username=tag.username), tag_count.add(-1), when=tag_count.at_least(1)),
    )


@kifu_table.write(budget=Budget(writes=8))
def tag_record(claim: SlugClaim, tag: Tag) -> Plan[Tagging]:
    """A record gets a tag of its owner's, if both are still there and it has not got it yet."""
    if claim.username != tag.username:
        raise NotYours("The tag belongs to another user than the record.")
    return Plan(
        put(Tagging(kifu_id=claim.kifu_id, tag_id=tag.tag_id), if_absent=True),
        update(claim_key(claim), tag_changes.add(1), when=still_stands(claim)),
        check(Tag.key(username=tag.username, tag_id=tag.tag_id)),
    )


@kifu_table.write(budget=Budget(writes=7))
def untag_record(claim: SlugClaim, tag: Tag) -> Plan[Tagging]:
    """A record loses a tag, if record and tag are the user's. To lose it twice is no error."""
    if claim.username != tag.username:
        raise NotYours("The tag belongs to another user than the record.")
    return Plan(
        delete(Tagging.key(kifu_id=claim.kifu_id, tag_id=tag.tag_id)),
        check(claim_key(claim), still_stands(claim)),
        check(Tag.key(username=tag.username, tag_id=tag.tag_id)),
    )


# Sharing


@kifu_table.write(budget=Budget(writes=10, of=TYPICAL), example={"code": "ABC123abc456def"})
def share_record(record: Record, code: SharedCode) -> Plan[Record]:
    """A record can be seen by whoever has the code. A code that it had before opens nothing any more."""
    return Plan(save(replace(record, share=True, share_code=code), was=record))


@kifu_table.write(budget=Budget(writes=10, of=TYPICAL))
def unshare_record(record: Record) -> Plan[Record]:
    """The share link of a record is switched off. Once this is acknowledged, its code opens nothing."""
    return Plan(save(replace(record, share=False, share_code=None), was=record))


def _other(owner: NamedUser, username: NamedUser) -> None:
    if owner == username:
        raise UnfitChange("The owner sees the records anyway.")


@kifu_table.write(budget=Budget(writes=5), example={"username": "h-akira2"})
def allow_record(claim: SlugClaim, username: NamedUser) -> Plan[RecordPermission]:
    """A user may see one record of the owner's, if that is still there. To allow it twice is no error."""
    _other(claim.username, username)
    return Plan(
        put(RecordPermission(kifu_id=claim.kifu_id, username=username)),
        check(claim_key(claim), still_stands(claim)),
    )


@kifu_table.write(budget=Budget(writes=5))
def disallow_record(claim: SlugClaim, username: NamedUser) -> Plan[RecordPermission]:
    """A user may no longer see one record of the owner's. To disallow it twice is no error."""
    return Plan(
        delete(RecordPermission.key(kifu_id=claim.kifu_id, username=username)),
        check(claim_key(claim), still_stands(claim)),
    )


@kifu_table.write(budget=Budget(writes=2), example={"username": "h-akira2"})
def allow_library(owner: NamedUser, username: NamedUser) -> Plan[LibraryPermission]:
    """A user may see all records of the owner's. To allow it twice is no error."""
    _other(owner, username)
    return Plan(put(LibraryPermission(owner=owner, username=username)))


@kifu_table.write(budget=Budget(writes=2))
def disallow_library(owner: NamedUser, username: NamedUser) -> Plan[LibraryPermission]:
    """A user may no longer see all records of the owner's. To disallow it twice is no error."""
    return Plan(delete(LibraryPermission.key(owner=owner, username=username)))


__all__ = [
    "add_record",
    "add_tag",
    "allow_library",
    "allow_record",
    "change_record",
    "disallow_library",
    "disallow_record",
    "finish_analysis",
    "forget_positions",
    "keep_positions",
    "keep_result",
    "move_record",
    "remove_record",
    "remove_tag",
    "rename_tag",
    "request_analysis",
    "set_system_caps",
    "set_user_caps",
    "share_record",
    "tag_record",
    "touch_record",
    "unshare_record",
    "untag_record",
    "welcome_user",
]
