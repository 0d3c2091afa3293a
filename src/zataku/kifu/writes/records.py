"""Writes that add, change, move, share and remove records, and that permit others to see them.

Conditions on a record are conditions on the claim of its slug: a condition check in a transaction costs as much as a
write of the item, and a record is large.
"""

from msgspec.structs import replace

from zataku.kifu.design import kifu_table
from zataku.kifu.entities import (
    LibraryPermission,
    Record,
    RecordPermission,
    RemovedRecord,
    ReplacedText,
    SlugClaim,
    SystemSettings,
    UserSettings,
)
from zataku.kifu.errors import InvalidChange, LibraryFull, NotOwner
from zataku.kifu.limits import (
    ACCESS_SECONDS,
    MAX_TEXTS,
    KifuId,
    KifuKey,
    NamedUser,
    ShareCode,
    SharedCode,
    Slug,
    UserName,
)
from zataku.kifu.writes.settings import DEFAULTS, NEW_USER, below_cap, kifu_count, kifu_max
from zataku.table import Budget, Condition, Instant, Key, Plan, add_seconds, check, delete, path, put, save, update

claimed_by = path(SlugClaim, lambda claim: claim.kifu_id)
text = path(SlugClaim, lambda claim: claim.text)
latest_access = path(Record, lambda record: record.latest_access)

TYPICAL = "a record of 2 KB"
A_MOMENT = "2025-12-31T11:11:31Z"
A_GAME = Record(
    username=UserName("h-akira"),
    kifu_id=KifuId("fdsaj9d9s0"),
    slug="社団戦/2025/鈴木",
    kifu="手合割：平手",
    first_or_second="first",
    result="win",
    memo="",
    public=False,
    share=False,
    created=A_MOMENT,
    latest_access=A_MOMENT,
    latest_update=A_MOMENT,
)
REVISED = replace(A_GAME, memo="序盤研究用の棋譜")
SHARED = replace(A_GAME, share=True, share_code=ShareCode("lkihofkwif4tF"))
A_CLAIM = SlugClaim(username=A_GAME.username, slug=A_GAME.slug, kifu_id=A_GAME.kifu_id)
A_VIEW = {"viewer": "h-akira", "username": "h-akira", "now": A_MOMENT}


def claim_key(claim: SlugClaim) -> Key[SlugClaim]:
    """The key of a claim."""
    return SlugClaim.key(username=claim.username, slug=claim.slug)


def claim_unchanged(claim: SlugClaim) -> Condition[SlugClaim]:
    """The condition that the record still exists with this slug."""
    return claimed_by.equals(claim.kifu_id)


def text_unchanged(claim: SlugClaim) -> Condition[SlugClaim]:
    """The condition that the record still exists with this slug and these moves."""
    return claim_unchanged(claim) & text.equals(claim.text)


def _require_claim_of(claim: SlugClaim, record: Record) -> None:
    if (claim.username, claim.slug, claim.kifu_id) != (record.username, record.slug, record.kifu_id):
        raise InvalidChange("The claim belongs to another record or slug. Read both again.")


# Records


@kifu_table.write(budget=Budget(writes=16, of=TYPICAL), example={"owner": NEW_USER, "system": DEFAULTS})
def add_record(record: Record, owner: UserSettings, system: SystemSettings = DEFAULTS) -> Plan[Record]:
    """Add a record to its owner's library, if its slug is free and the owner has fewer records than allowed."""
    if owner.username != record.username:
        raise NotOwner("The settings belong to another user than the record. Read those of its owner.")
    cap = system.kifu_max if owner.kifu_max is None else owner.kifu_max
    if (owner.kifu_count or 0) >= cap:
        raise LibraryFull(f"The library has {cap:,} records, as many as allowed. Remove one first.")
    return Plan(
        put(record, if_absent=True),
        put(SlugClaim(username=record.username, slug=record.slug, kifu_id=record.kifu_id), if_absent=True),
        update(
            UserSettings.key(username=owner.username),
            kifu_count.add(1),
            when=below_cap(kifu_count, kifu_max, owner.kifu_max, cap),
        ),
    )


def _update_record(record: Record, was: Record, now: Instant) -> Record:
    """The changed record with its new time. Raises InvalidChange where another write is responsible."""
    if replace(record, latest_update=was.latest_update) == was:
        raise InvalidChange("The record already is like this. Change a field.")
    if (record.slug, record.share_code) != (was.slug, was.share_code):
        raise InvalidChange("Change a slug with move_record, and a share code with share_record or unshare_record.")
    if (record.created, record.latest_access) != (was.created, was.latest_access):
        raise InvalidChange("The time of creation never changes. Change the time of the last view with touch_record.")
    # A slow clock must not set the time back.
    return replace(record, latest_update=max(now, was.latest_update))


@kifu_table.write(
    budget=Budget(writes=6, of=f"the memo of {TYPICAL}"), example={"record": REVISED, "was": A_GAME, "now": A_MOMENT}
)
def change_record(record: Record, was: Record, now: Instant) -> Plan[Record]:
    """Change side, result, memo or visibility of a record, and set the time of the last change.

    Refused when the record was changed since it was read. Changes within the same second have the same time: then it is
    refused only where the same field was changed, and other changes stay. Views and share links do not conflict. Moves,
    slug and share code have writes of their own.
    """
    if record.kifu != was.kifu:
        raise InvalidChange("Change the moves with change_moves.")
    return Plan(save(_update_record(record, was, now), was=was))


@kifu_table.write(
    budget=Budget(writes=14, of=TYPICAL),
    example={"record": replace(REVISED, kifu="手合割：香落ち"), "was": A_GAME, "claim": A_CLAIM, "now": A_MOMENT},
)
def change_moves(record: Record, was: Record, claim: SlugClaim, now: Instant) -> Plan[Record]:
    """Change the moves of a record, and any field that `change_record` changes. The record gets a new text number.

    Refused when the moves were changed since record and claim were read, and where `change_record` is refused. No
    positions of the old text can be added, and `cleanup` deletes the existing ones. At most 999,999 changes are
    possible.
    """
    _require_claim_of(claim, was)
    if record.kifu == was.kifu:
        raise InvalidChange("The moves are unchanged. Change other fields with change_record.")
    if claim.text >= MAX_TEXTS:
        raise InvalidChange("The moves have been changed as often as allowed. Add them as a new record.")
    return Plan(
        save(_update_record(record, was, now), was=was),
        update(claim_key(claim), text.add(1), when=text_unchanged(claim)),
        put(ReplacedText(username=claim.username, kifu_id=claim.kifu_id, text=claim.text)),
    )


@kifu_table.write(budget=Budget(writes=18, of=TYPICAL), example={"slug": "社団戦/2025/田中"})
def move_record(record: Record, claim: SlugClaim, slug: Slug, now: Instant) -> Plan[Record]:
    """Give a record another slug, if that is free. The old one becomes free in the same transaction."""
    _require_claim_of(claim, record)
    if slug == record.slug:
        raise InvalidChange("The record already has this slug. Choose another one.")
    return Plan(
        save(replace(record, slug=slug, latest_update=max(now, record.latest_update)), was=record),
        delete(claim_key(claim), when=text_unchanged(claim)),
        put(replace(claim, slug=slug), if_absent=True),
    )


@kifu_table.write(budget=Budget(writes=19, of=TYPICAL))
def remove_record(claim: SlugClaim) -> Plan[Record]:
    """Remove a record, release its slug and decrement the owner's count. Nothing can be added to it afterwards.

    Its links, permissions, positions and kept results may not fit in a transaction: a marker is written for `cleanup`,
    which deletes them. Until then a link may refer to a removed record; readers skip it.
    """
    return Plan(
        delete(Record.key(username=claim.username, kifu_id=claim.kifu_id)),
        delete(claim_key(claim), when=claim_unchanged(claim)),
        update(UserSettings.key(username=claim.username), kifu_count.add(-1), when=kifu_count.at_least(1)),
        put(RemovedRecord(username=claim.username, kifu_id=claim.kifu_id)),
    )


@kifu_table.write(budget=Budget(writes=6, of=TYPICAL), example=A_VIEW)
def touch_record(viewer: NamedUser, username: NamedUser, kifu_id: KifuKey, now: Instant) -> Plan[Record]:
    """Set the time of the owner's last view, at most once an hour, since the whole item is copied into two indexes."""
    if viewer != username:
        raise NotOwner("Only views of the owner are recorded.")
    due = latest_access.at_most(add_seconds(now, -ACCESS_SECONDS))
    return Plan(update(Record.key(username=username, kifu_id=kifu_id), latest_access.set(now), when=due))


# Sharing


@kifu_table.write(budget=Budget(writes=10, of=TYPICAL), example={"code": "ABC123abc456def"})
def share_record(record: Record, code: SharedCode) -> Plan[Record]:
    """Share a record under a code, which replaces an earlier code.

    Refused when it was shared or unshared since it was read. Sharing does not change `latest_update`.
    """
    if record.share_code == code:
        raise InvalidChange("The record already has this share code. Choose another one.")
    return Plan(save(replace(record, share=True, share_code=code), was=record))


@kifu_table.write(budget=Budget(writes=10, of=TYPICAL), example={"record": SHARED})
def unshare_record(record: Record) -> Plan[Record]:
    """Disable the share link of a record. Its code opens nothing once this is acknowledged.

    Refused when the record was shared again, unshared or removed since it was read.
    """
    if not record.share:
        raise InvalidChange("The record is not shared. Read it again.")
    return Plan(save(replace(record, share=False, share_code=None), was=record))


def _require_other_user(owner: NamedUser, username: NamedUser) -> None:
    if owner == username:
        raise InvalidChange("The owner needs no permission. Name another user.")


@kifu_table.write(budget=Budget(writes=5), example={"username": "h-akira2"})
def allow_record(claim: SlugClaim, username: NamedUser) -> Plan[RecordPermission]:
    """Permit a user to see one record, if it exists. Permitting twice is not an error."""
    _require_other_user(claim.username, username)
    return Plan(
        put(RecordPermission(kifu_id=claim.kifu_id, username=username)),
        check(claim_key(claim), claim_unchanged(claim)),
    )


@kifu_table.write(budget=Budget(writes=5))
def disallow_record(claim: SlugClaim, username: NamedUser) -> Plan[RecordPermission]:
    """Withdraw a user's permission for one record. Withdrawing twice is not an error."""
    return Plan(
        delete(RecordPermission.key(kifu_id=claim.kifu_id, username=username)),
        check(claim_key(claim), claim_unchanged(claim)),
    )


@kifu_table.write(budget=Budget(writes=2), example={"username": "h-akira2"})
def allow_library(owner: NamedUser, username: NamedUser) -> Plan[LibraryPermission]:
    """Permit a user to see all records of the owner. Permitting twice is not an error."""
    _require_other_user(owner, username)
    return Plan(put(LibraryPermission(owner=owner, username=username)))


@kifu_table.write(budget=Budget(writes=2))
def disallow_library(owner: NamedUser, username: NamedUser) -> Plan[LibraryPermission]:
    """Withdraw a user's permission for all records of the owner. Withdrawing twice is not an error."""
    return Plan(delete(LibraryPermission.key(owner=owner, username=username)))
