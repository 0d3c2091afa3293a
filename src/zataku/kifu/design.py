"""ShogiProject stores a player's shogi records, and everything about them, in one table.

The prefix of a key states the kind of the item and its owner: `kifu#uname#<user>` has a user's records,
`tag#uname#<user>` the tags, `tag#kid#<record>` the tags of a record, `kallowed#` and `uallowed#` the permissions,
`analysis#<id>` the results of an engine, `users#<user>` a user's settings. SwapIndex swaps partition and sort key, so
that each relation can be read from both sides. CommonGSI finds records by share code and analyses by user. The local
indexes sort a user's records and tags by name and by three times; they are small, because they do not project the
moves.

Slugs and tag names are unique through claims under `uniq#uname#<user>`, which are written together with the record or
tag. The claim of a slug also stands in for its record: a write that requires the record checks the claim, for 2 write
units in a transaction instead of 600 for a record of 300 KB. Positions are stored under `pos#uname#<user>`. A removal
writes a marker under `gone#uname#<user>`, which stays until all dependent items are deleted.

Reads are eventually consistent where a list may be slightly stale, and strong where a decision depends on them.
"""

from zataku.kifu.departures import DEPARTURES
from zataku.kifu.entities import (
    Analysis,
    KeptAnalysis,
    LibraryPermission,
    Position,
    PositionList,
    Record,
    RecordPermission,
    RemovedRecord,
    RemovedTag,
    ReplacedText,
    SlugClaim,
    SystemSettings,
    Tag,
    Tagging,
    TagNameClaim,
    UserSettings,
    common_gsi,
    common_lsi,
    created_index,
    kifu_table,
    latest_access_index,
    latest_update_index,
    swap_index,
)
from zataku.kifu.limits import AnalysisKey, KifuKey, NamedUser, PositionKey, SharedCode, Slug, TagKey, TagName
from zataku.table import Budget, Instant, Key, Span, View
from zataku.table.lint import check

# The order is that of the document: indexes and entities are in `entities`, the access patterns below.

TITLE = "ShogiProject: shogi records, their tags, sharing and analysis"
PAGE = "a page of 50"
# The lint cannot derive valid ids from their patterns.
A_RECORD = {"username": "h-akira", "kifu_id": "fdsaj9d9s0"}
A_TAG = {"username": "h-akira", "tag_id": "jko2kdl"}

# Projections of the indexes


@kifu_table.view(Record)
class NamedRecord(View, frozen=True, kw_only=True):
    """A record as CommonLSI projects it."""

    username: NamedUser
    kifu_id: KifuKey
    slug: Slug
    share_code: SharedCode | None = None


@kifu_table.view(Record)
class CreatedRecord(NamedRecord, frozen=True, kw_only=True):
    """A record as CreatedIndex projects it."""

    share: bool
    created: Instant


@kifu_table.view(Record)
class AccessedRecord(NamedRecord, frozen=True, kw_only=True):
    """A record as LatestAccessIndex projects it."""

    share: bool
    latest_access: Instant


@kifu_table.view(Record)
class UpdatedRecord(NamedRecord, frozen=True, kw_only=True):
    """A record as LatestUpdateIndex projects it."""

    share: bool
    latest_update: Instant


@kifu_table.view(Record)
class RecordReference(View, frozen=True, kw_only=True):
    """The key of a record, as the global indexes project it."""

    username: NamedUser
    kifu_id: KifuKey


@kifu_table.view(Tag)
class NamedTag(View, frozen=True, kw_only=True):
    """A tag as CommonLSI projects it."""

    username: NamedUser
    tag_id: TagKey
    name: TagName


@kifu_table.view(Tag)
class CreatedTag(NamedTag, frozen=True, kw_only=True):
    """A tag as CreatedIndex projects it."""

    created: Instant


def _in_order(span: Span, newest_first: bool) -> Span:
    return span.newest_first() if newest_first else span


# Records


@kifu_table.query(returns=CreatedRecord, budget=Budget(reads=1, of=PAGE))
def records_by_creation(username: NamedUser, newest_first: bool = True) -> Span:
    """A user's records by the time they were added."""
    return _in_order(created_index.partition(f"kifu#uname#{username}"), newest_first)


@kifu_table.query(returns=AccessedRecord, budget=Budget(reads=1, of=PAGE))
def records_by_access(username: NamedUser, newest_first: bool = True) -> Span:
    """A user's records by the time of the owner's last view, to the hour."""
    return _in_order(latest_access_index.partition(f"kifu#uname#{username}"), newest_first)


@kifu_table.query(returns=UpdatedRecord, budget=Budget(reads=1, of=PAGE))
def records_by_update(username: NamedUser, newest_first: bool = True) -> Span:
    """A user's records by the time of their last change."""
    return _in_order(latest_update_index.partition(f"kifu#uname#{username}"), newest_first)


@kifu_table.query(returns=NamedRecord, budget=Budget(reads=0.5, of=PAGE))
def records_in_folder(username: NamedUser, folder: str) -> Span:
    """The records in a folder such as 社団戦/2025 and its subfolders, by slug; the folder "" has all records."""
    return common_lsi.partition(f"kifu#uname#{username}").begins_with(f"slug#{folder}/" if folder else "slug#")


@kifu_table.query(returns=NamedRecord, budget=Budget(reads=0.5, of="one record"))
def record_at(username: NamedUser, slug: Slug) -> Span:
    """The record with a slug, for custom URLs."""
    return common_lsi.partition(f"kifu#uname#{username}").equals(f"slug#{slug}")


@kifu_table.query(returns=CreatedRecord, strong=True, budget=Budget(reads=2, of=PAGE))
def library_of(username: NamedUser) -> Span:
    """All records of a user, for moving folders, exports and the cleanup of links.

    In the order of creation, which never changes: a record that is moved during the read is not missed.
    """
    return created_index.partition(f"kifu#uname#{username}")


@kifu_table.item(strong=True, example=A_RECORD, budget=Budget(reads=86, of="the largest record, 340 KB"))
def record(username: NamedUser, kifu_id: KifuKey) -> Key[Record]:
    """One record with its moves, read strongly."""
    return Record.key(username=username, kifu_id=kifu_id)


@kifu_table.query(returns=RecordReference, budget=Budget(reads=0.5, of="a record of 2 KB"))
def record_of_id(kifu_id: KifuKey) -> Span:
    """The owner of the record with an id. The index projects the moves too, so a record of 300 KB costs 38 units."""
    return swap_index.partition(f"kid#{kifu_id}").begins_with("kifu#uname#")


@kifu_table.query(returns=RecordReference, budget=Budget(reads=0.5, of="a record of 2 KB"))
def records_under_code(share_code: SharedCode) -> Span:
    """The record shared under a code, eventually consistent. `authorization` checks the record itself."""
    return common_gsi.partition(f"kifu#scode#{share_code}").begins_with("kid#")


@kifu_table.item(strong=True, budget=Budget(reads=1))
def slug_claim(username: NamedUser, slug: Slug) -> Key[SlugClaim]:
    """The claim of a slug, with the id of its record."""
    return SlugClaim.key(username=username, slug=slug)


# Settings


@kifu_table.item(strong=True, budget=Budget(reads=1))
def user_settings(username: NamedUser) -> Key[UserSettings]:
    """A user's caps and counts."""
    return UserSettings.key(username=username)


@kifu_table.item(budget=Budget(reads=0.5))
def system_settings() -> Key[SystemSettings]:
    """The caps of users who have none of their own; when absent, the defaults hold, 2,000 and 50."""
    return SystemSettings.key()


# Tags


@kifu_table.query(returns=NamedTag, budget=Budget(reads=0.5, of="50 tags"))
def tags_named(username: NamedUser, prefix: str = "") -> Span:
    """A user's tags whose names begin with a prefix, by name."""
    return common_lsi.partition(f"tag#uname#{username}").begins_with(f"tname#{prefix}")


@kifu_table.query(returns=CreatedTag, budget=Budget(reads=1, of="50 tags"))
def tags_by_creation(username: NamedUser, newest_first: bool = True) -> Span:
    """A user's tags by the time they were added."""
    return _in_order(created_index.partition(f"tag#uname#{username}"), newest_first)


@kifu_table.item(strong=True, example=A_TAG, budget=Budget(reads=1))
def tag(username: NamedUser, tag_id: TagKey) -> Key[Tag]:
    """One tag of a user."""
    return Tag.key(username=username, tag_id=tag_id)


@kifu_table.item(strong=True, budget=Budget(reads=1))
def tag_name_claim(username: NamedUser, name: TagName) -> Key[TagNameClaim]:
    """The claim of a tag name, with the id of its tag."""
    return TagNameClaim.key(username=username, name=name)


@kifu_table.query(returns=Tagging, strong=True, budget=Budget(reads=1, of="50 tags"))
def tags_of_record(kifu_id: KifuKey) -> Span:
    """The links of a record to its tags. The tag may have just been removed: skip such links."""
    return kifu_table.partition(f"tag#kid#{kifu_id}").begins_with("tid#")


@kifu_table.query(returns=Tagging, budget=Budget(reads=0.5, of=PAGE))
def records_with_tag(tag_id: TagKey) -> Span:
    """The links of a tag to its records. The record may have just been removed: skip such links."""
    return swap_index.partition(f"tid#{tag_id}").begins_with("tag#kid#")


# Permissions


@kifu_table.item(strong=True, example=A_RECORD, budget=Budget(reads=1))
def record_permission(kifu_id: KifuKey, username: NamedUser) -> Key[RecordPermission]:
    """The permission of a user for one record; absent without one."""
    return RecordPermission.key(kifu_id=kifu_id, username=username)


@kifu_table.item(strong=True, budget=Budget(reads=1))
def library_permission(owner: NamedUser, username: NamedUser) -> Key[LibraryPermission]:
    """The permission of a user for all records of an owner; absent without one."""
    return LibraryPermission.key(owner=owner, username=username)


@kifu_table.query(returns=RecordPermission, strong=True, budget=Budget(reads=1, of=PAGE))
def record_viewers(kifu_id: KifuKey) -> Span:
    """The users who may see one record."""
    return kifu_table.partition(f"kallowed#kid#{kifu_id}").begins_with("uname#")


@kifu_table.query(returns=LibraryPermission, strong=True, budget=Budget(reads=1, of=PAGE))
def library_viewers(owner: NamedUser) -> Span:
    """The users who may see all records of an owner."""
    return kifu_table.partition(f"uallowed#uname#{owner}").begins_with("uname#")


@kifu_table.query(returns=(RecordPermission, LibraryPermission), budget=Budget(reads=0.5, of=PAGE))
def permissions_of_user(username: NamedUser) -> Span:
    """The permissions of a user for single records and for whole libraries of other users."""
    # From kallowed# to uallowed#, since $ is the next character after #; users# comes later.
    return swap_index.partition(f"uname#{username}").between("kallowed#", "uallowed$")


# Analyses


@kifu_table.query(returns=Analysis, budget=Budget(reads=1, of="50 waiting analyses"))
def analyses_of(username: NamedUser, newest_first: bool = True) -> Span:
    """A user's analyses in the order of their requests."""
    return _in_order(common_gsi.partition(f"analysis#uname#{username}").begins_with("aid#"), newest_first)


@kifu_table.item(strong=True, budget=Budget(reads=5, of="a result of 20 KB"))
def analysis(analysis_id: AnalysisKey) -> Key[Analysis]:
    """One analysis, read strongly."""
    return Analysis.key(analysis_id=analysis_id)


@kifu_table.query(returns=KeptAnalysis, strong=True, budget=Budget(reads=5, of="a result of 20 KB"))
def kept_analyses(kifu_id: KifuKey) -> Span:
    """The results that the owner keeps with a record, oldest first."""
    return kifu_table.partition(f"kept#kid#{kifu_id}").begins_with("aid#")


# Positions


@kifu_table.query(returns=Position, budget=Budget(reads=0.5, of=PAGE))
def records_at_position(username: NamedUser, position: PositionKey) -> Span:
    """A user's records that reach a position. After a change of moves a record may occur once for each text."""
    return kifu_table.partition(f"pos#uname#{username}").begins_with(f"at#{position}#")


@kifu_table.query(returns=PositionList, strong=True, budget=Budget(reads=1, of="a game of 120 moves"))
def positions_of(username: NamedUser, kifu_id: KifuKey) -> Span:
    """The positions that a record reaches, in parts of 98, those of earlier texts first."""
    return kifu_table.partition(f"pos#uname#{username}").begins_with(f"of#{kifu_id}#")


# Cleanup


@kifu_table.query(returns=(RemovedRecord, RemovedTag, ReplacedText), strong=True, budget=Budget(reads=1, of=PAGE))
def cleanup_markers_of(username: NamedUser) -> Span:
    """The markers of a user's removed records, removed tags and replaced texts that are not cleaned up yet."""
    return kifu_table.partition(f"gone#uname#{username}")


__all__ = ["DEPARTURES", "TITLE", "kifu_table"]

check(kifu_table)
