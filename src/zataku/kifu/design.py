"""ShogiProject keeps a player's shogi records, and everything about them, in one table.

The prefix of a key says what an item is and whose: `kifu#uname#<user>` has a user's records, `tag#uname#<user>` the
tags, `tag#kid#<record>` the tags of a record, `kallowed#` and `uallowed#` who may see what, `analysis#<id>` what an
engine found, `users#<user>` a user's settings. SwapIndex turns every key around, so that each relation can be read from
both ends. CommonGSI gathers what is shared or belongs together. The local indexes sort a user's records and tags by
name and by three times; they are small, because they leave the moves out.

Slugs and tag names are unique through claims under `uniq#uname#<user>`, which are written with what they name. The
claim of a slug is also the small stand-in of its record: whoever relies on a record being there looks at its claim, for
2 write units in a transaction instead of 600 for a record of 300 KB. Positions lie under `pos#uname#<user>`. What is
removed and leaves something behind is noted under `gone#uname#<user>` until that is taken away.

Reads are eventually consistent where a list may be a moment old, and strong where something is decided.
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

# In the order of the document: the indexes and entities are in `entities`, the access patterns below.

TITLE = "ShogiProject: shogi records, their tags, sharing and analysis"
PAGE = "a page of 50"
# Ids have forms that the lint does not guess.
A_RECORD = {"username": "h-akira", "kifu_id": "fdsaj9d9s0"}
A_TAG = {"username": "h-akira", "tag_id": "jko2kdl"}

# What the local indexes show of a record or tag.


@kifu_table.view(Record)
class NamedRecord(View, frozen=True, kw_only=True):
    """A record as CommonLSI shows it."""

    username: NamedUser
    kifu_id: KifuKey
    slug: Slug
    share_code: SharedCode | None = None


@kifu_table.view(Record)
class CreatedRecord(NamedRecord, frozen=True, kw_only=True):
    """A record as CreatedIndex shows it."""

    share: bool
    created: Instant


@kifu_table.view(Record)
class AccessedRecord(NamedRecord, frozen=True, kw_only=True):
    """A record as LatestAccessIndex shows it."""

    share: bool
    latest_access: Instant


@kifu_table.view(Record)
class UpdatedRecord(NamedRecord, frozen=True, kw_only=True):
    """A record as LatestUpdateIndex shows it."""

    share: bool
    latest_update: Instant


@kifu_table.view(Record)
class RecordReference(View, frozen=True, kw_only=True):
    """Where a record lies, as the global indexes tell."""

    username: NamedUser
    kifu_id: KifuKey


@kifu_table.view(Tag)
class NamedTag(View, frozen=True, kw_only=True):
    """A tag as CommonLSI shows it."""

    username: NamedUser
    tag_id: TagKey
    name: TagName


@kifu_table.view(Tag)
class CreatedTag(NamedTag, frozen=True, kw_only=True):
    """A tag as CreatedIndex shows it."""

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
    """A user's records by the time the owner looked at them last, to the hour."""
    return _in_order(latest_access_index.partition(f"kifu#uname#{username}"), newest_first)


@kifu_table.query(returns=UpdatedRecord, budget=Budget(reads=1, of=PAGE))
def records_by_update(username: NamedUser, newest_first: bool = True) -> Span:
    """A user's records by the time of their last change."""
    return _in_order(latest_update_index.partition(f"kifu#uname#{username}"), newest_first)


@kifu_table.query(returns=NamedRecord, budget=Budget(reads=0.5, of=PAGE))
def records_in_folder(username: NamedUser, folder: str) -> Span:
    """The records in a folder such as 社団戦/2025 and in the folders inside it, by slug; in "" all records are."""
    return common_lsi.partition(f"kifu#uname#{username}").begins_with(f"slug#{folder}/" if folder else "slug#")


@kifu_table.query(returns=NamedRecord, budget=Budget(reads=0.5, of="one record"))
def record_at(username: NamedUser, slug: Slug) -> Span:
    """Which record a custom URL means."""
    return common_lsi.partition(f"kifu#uname#{username}").equals(f"slug#{slug}")


@kifu_table.query(returns=CreatedRecord, strong=True, budget=Budget(reads=2, of=PAGE))
def library_of(username: NamedUser) -> Span:
    """All records of a user, for moving folders, exports and taking links away.

    In the order they were added, which never changes: a record that gets another slug meanwhile is not missed.
    """
    return created_index.partition(f"kifu#uname#{username}")


@kifu_table.item(strong=True, example=A_RECORD, budget=Budget(reads=86, of="the largest record, 340 KB"))
def record(username: NamedUser, kifu_id: KifuKey) -> Key[Record]:
    """One record with its moves, as it is right now."""
    return Record.key(username=username, kifu_id=kifu_id)


@kifu_table.query(returns=RecordReference, budget=Budget(reads=0.5, of="a record of 2 KB"))
def record_of_id(kifu_id: KifuKey) -> Span:
    """Whose record has this id. The index holds the moves too, so that a record of 300 KB costs 38 units here."""
    return swap_index.partition(f"kid#{kifu_id}").begins_with("kifu#uname#")


@kifu_table.query(returns=RecordReference, budget=Budget(reads=0.5, of="a record of 2 KB"))
def records_under_code(share_code: SharedCode) -> Span:
    """Which record was shared under a code a moment ago. Only the record itself says whether it still is: `sharing`."""
    return common_gsi.partition(f"kifu#scode#{share_code}").begins_with("kid#")


@kifu_table.item(strong=True, budget=Budget(reads=1))
def slug_claim(username: NamedUser, slug: Slug) -> Key[SlugClaim]:
    """Which record has a slug right now."""
    return SlugClaim.key(username=username, slug=slug)


# Settings


@kifu_table.item(strong=True, budget=Budget(reads=1))
def user_settings(username: NamedUser) -> Key[UserSettings]:
    """A user's caps and counts."""
    return UserSettings.key(username=username)


@kifu_table.item(budget=Budget(reads=0.5))
def system_settings() -> Key[SystemSettings]:
    """The caps of users who have none of their own; none there means the defaults, 2,000 and 50."""
    return SystemSettings.key()


# Tags


@kifu_table.query(returns=NamedTag, budget=Budget(reads=0.5, of="50 tags"))
def tags_named(username: NamedUser, prefix: str = "") -> Span:
    """A user's tags whose names begin so, by name."""
    return common_lsi.partition(f"tag#uname#{username}").begins_with(f"tname#{prefix}")


@kifu_table.query(returns=CreatedTag, budget=Budget(reads=1, of="50 tags"))
def tags_by_creation(username: NamedUser, newest_first: bool = True) -> Span:
    """A user's tags by the time they were made."""
    return _in_order(created_index.partition(f"tag#uname#{username}"), newest_first)


@kifu_table.item(strong=True, example=A_TAG, budget=Budget(reads=1))
def tag(username: NamedUser, tag_id: TagKey) -> Key[Tag]:
    """One tag of a user."""
    return Tag.key(username=username, tag_id=tag_id)


@kifu_table.item(strong=True, budget=Budget(reads=1))
def tag_name_claim(username: NamedUser, name: TagName) -> Key[TagNameClaim]:
    """Which tag has a name right now."""
    return TagNameClaim.key(username=username, name=name)


@kifu_table.query(returns=Tagging, strong=True, budget=Budget(reads=1, of="50 tags"))
def tags_of_record(kifu_id: KifuKey) -> Span:
    """The tags of a record. One that was removed a moment ago may still be named: pass over it."""
    return kifu_table.partition(f"tag#kid#{kifu_id}").begins_with("tid#")


@kifu_table.query(returns=Tagging, budget=Budget(reads=0.5, of=PAGE))
def records_with_tag(tag_id: TagKey) -> Span:
    """The records with a tag. One that was removed a moment ago may still be named: pass over it."""
    return swap_index.partition(f"tid#{tag_id}").begins_with("tag#kid#")


# Permissions


@kifu_table.item(strong=True, example=A_RECORD, budget=Budget(reads=1))
def record_permission(kifu_id: KifuKey, username: NamedUser) -> Key[RecordPermission]:
    """Whether a user may see one record."""
    return RecordPermission.key(kifu_id=kifu_id, username=username)


@kifu_table.item(strong=True, budget=Budget(reads=1))
def library_permission(owner: NamedUser, username: NamedUser) -> Key[LibraryPermission]:
    """Whether a user may see all records of an owner."""
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
    """The records of others, and the others with all their records, that a user may see."""
    # From kallowed# to uallowed#, since $ is the next sign after #; users# comes later.
    return swap_index.partition(f"uname#{username}").between("kallowed#", "uallowed$")


# Analyses


@kifu_table.query(returns=Analysis, budget=Budget(reads=1, of="50 analyses that wait"))
def analyses_of(username: NamedUser, newest_first: bool = True) -> Span:
    """A user's analyses in the order they were asked for."""
    return _in_order(common_gsi.partition(f"analysis#uname#{username}").begins_with("aid#"), newest_first)


@kifu_table.item(strong=True, budget=Budget(reads=5, of="a result of 20 KB"))
def analysis(analysis_id: AnalysisKey) -> Key[Analysis]:
    """One analysis, as it is right now."""
    return Analysis.key(analysis_id=analysis_id)


@kifu_table.query(returns=KeptAnalysis, strong=True, budget=Budget(reads=5, of="a result of 20 KB"))
def kept_analyses(kifu_id: KifuKey) -> Span:
    """The results that the owner keeps with a record, oldest first."""
    return kifu_table.partition(f"kept#kid#{kifu_id}").begins_with("aid#")


# Positions


@kifu_table.query(returns=Position, budget=Budget(reads=0.5, of=PAGE))
def records_at_position(username: NamedUser, position: PositionKey) -> Span:
    """All my games that reached this board. One whose moves changed a moment ago may come once for each text."""
    return kifu_table.partition(f"pos#uname#{username}").begins_with(f"at#{position}#")


@kifu_table.query(returns=PositionList, strong=True, budget=Budget(reads=1, of="a game of 120 moves"))
def positions_of(username: NamedUser, kifu_id: KifuKey) -> Span:
    """The positions that a record reached, in parts of 98, those of earlier texts first."""
    return kifu_table.partition(f"pos#uname#{username}").begins_with(f"of#{kifu_id}#")


# What is gone


@kifu_table.query(returns=(RemovedRecord, RemovedTag, ReplacedText), strong=True, budget=Budget(reads=1, of=PAGE))
def cleanup_markers_of(username: NamedUser) -> Span:
    """What a user removed or replaced and what has not lost all that hung on it yet."""
    return kifu_table.partition(f"gone#uname#{username}")


__all__ = ["DEPARTURES", "TITLE", "kifu_table"]

check(kifu_table)
