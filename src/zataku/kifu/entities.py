"""The table of the library, its six indexes and its entities.

The eight entities of the document come first, in its order, then those for uniqueness, search and cleanup.
"""

from zataku.kifu.limits import (
    DEFAULT_KIFU_MAX,
    DEFAULT_TAG_MAX,
    HASH_BYTES,
    KIFU_BYTES,
    RESPONSE_BYTES,
    AnalysisKey,
    AnalysisStatus,
    Count,
    Created,
    Expired,
    KifuCap,
    KifuKey,
    KifuText,
    LatestAccess,
    LatestUpdate,
    Memo,
    NamedUser,
    PackedPositions,
    Part,
    PositionHash,
    PositionKey,
    Public,
    Request,
    Response,
    Result,
    Share,
    SharedCode,
    Side,
    Slug,
    TagCap,
    TagKey,
    TagName,
    TextNumber,
    check_bytes,
    check_slug,
    check_tag_name,
)
from zataku.table import ALL, NEW_AND_OLD, Entity, InKey, Instant, Table, Waiver, include

kifu_table = Table(
    "ShogiProject",
    pk="pk",
    sk="sk",
    ttl="expired",
    stream=NEW_AND_OLD,
    transactions=True,
    waivers=[
        Waiver(
            rule="item-too-large",
            subject="Record",
            reason="The text is limited to 300 KB on construction; the lint assumes 4 bytes a character.",
            limit="348,526 bytes for the largest record of 409,600 that an item takes",
        ),
    ],
)
swap_index = kifu_table.index("SwapIndex", pk="sk", sk="pk", projection=ALL)
common_gsi = kifu_table.index("CommonGSI", pk="cgsi_pk", sk="sk", projection=ALL)
common_lsi = kifu_table.local_index("CommonLSI", sk="clsi_sk", projection=include("cgsi_pk", "clsi_sk"))
created_index = kifu_table.local_index("CreatedIndex", sk="created", projection=include("cgsi_pk", "clsi_sk", "share"))
latest_access_index = kifu_table.local_index(
    "LatestAccessIndex", sk="latest_access", projection=include("cgsi_pk", "clsi_sk", "share")
)
latest_update_index = kifu_table.local_index(
    "LatestUpdateIndex", sk="latest_update", projection=include("cgsi_pk", "clsi_sk", "share")
)


@kifu_table.entity(
    pk="kifu#uname#{username}",
    sk="kid#{kifu_id}",
    index={"cgsi_pk": "kifu#scode#{share_code}", "clsi_sk": "slug#{slug}"},
)
class Record(Entity, frozen=True, kw_only=True):
    """The record of a game. Its slug is unique among the owner's records; it has a share code while it is shared."""

    username: InKey[NamedUser]
    kifu_id: InKey[KifuKey]
    share_code: InKey[SharedCode | None] = None
    slug: InKey[Slug]
    kifu: KifuText
    first_or_second: Side
    result: Result
    memo: Memo
    public: Public
    share: Share
    created: Created
    latest_access: LatestAccess
    latest_update: LatestUpdate

    def __post_init__(self) -> None:
        check_slug(self.slug)
        check_bytes(self.kifu, KIFU_BYTES, "The record")
        if self.share != (self.share_code is not None):
            raise ValueError("A record is shared exactly when it has a share code.")


@kifu_table.entity(pk="users#{username}", sk="uname#{username}")
class UserSettings(Entity, frozen=True, kw_only=True):
    """The numbers and caps of a user's records and tags. Without caps of their own, those of the system hold."""

    username: InKey[NamedUser]
    kifu_max: KifuCap | None = None
    tag_max: TagCap | None = None
    kifu_count: Count | None = None
    tag_count: Count | None = None


@kifu_table.entity(pk="system", sk="none")
class SystemSettings(Entity, frozen=True, kw_only=True):
    """The caps of users who have none of their own.

    It is one item in a partition of its own: it is read for every new record or tag, which one partition allows 6,000
    times a second, and hardly ever written.
    """

    kifu_max: KifuCap = DEFAULT_KIFU_MAX
    tag_max: TagCap = DEFAULT_TAG_MAX


@kifu_table.entity(pk="tag#uname#{username}", sk="tid#{tag_id}", index={"clsi_sk": "tname#{name}"})
class Tag(Entity, frozen=True, kw_only=True):
    """A tag for a user's records. Its name is unique among the user's tags."""

    username: InKey[NamedUser]
    tag_id: InKey[TagKey]
    name: InKey[TagName]
    created: Created
    latest_access: LatestAccess
    latest_update: LatestUpdate

    def __post_init__(self) -> None:
        check_tag_name(self.name)


@kifu_table.entity(pk="tag#kid#{kifu_id}", sk="tid#{tag_id}")
class Tagging(Entity, frozen=True, kw_only=True):
    """The link between a record and a tag of the same user."""

    kifu_id: InKey[KifuKey]
    tag_id: InKey[TagKey]


@kifu_table.entity(pk="kallowed#kid#{kifu_id}", sk="uname#{username}")
class RecordPermission(Entity, frozen=True, kw_only=True):
    """The permission of a user to see one record of another user."""

    kifu_id: InKey[KifuKey]
    username: InKey[NamedUser]


@kifu_table.entity(pk="uallowed#uname#{owner}", sk="uname#{username}")
class LibraryPermission(Entity, frozen=True, kw_only=True):
    """The permission of a user to see all records of another user."""

    owner: InKey[NamedUser]
    username: InKey[NamedUser]


@kifu_table.entity(pk="analysis#{analysis_id}", sk="aid#{analysis_id}", index={"cgsi_pk": "analysis#uname#{username}"})
class Analysis(Entity, frozen=True, kw_only=True):
    """A request to an engine and its result. It expires a day after it was requested or finished."""

    analysis_id: InKey[AnalysisKey]
    username: InKey[NamedUser]
    created: Created
    status: AnalysisStatus
    response: Response | None = None
    expired: Expired | None = None
    kifu_id: KifuKey | None = None
    request: Request | None = None

    def __post_init__(self) -> None:
        check_bytes(self.response or "", RESPONSE_BYTES, "The result of the analysis")


@kifu_table.entity(pk="kept#kid#{kifu_id}", sk="aid#{analysis_id}")
class KeptAnalysis(Entity, frozen=True, kw_only=True):
    """A result that the owner keeps with the record. It is deleted with the record."""

    kifu_id: InKey[KifuKey]
    analysis_id: InKey[AnalysisKey]
    response: Response
    kept_at: Instant

    def __post_init__(self) -> None:
        check_bytes(self.response, RESPONSE_BYTES, "The result of the analysis")


@kifu_table.entity(pk="uniq#uname#{username}", sk="slug#{slug}")
class SlugClaim(Entity, frozen=True, kw_only=True):
    """The claim of a slug by a record. It exists exactly as long as a record has this slug, and stands in for it.

    `text` is incremented when the moves change, which separates positions of the old moves from those of the new.
    """

    username: InKey[NamedUser]
    slug: InKey[Slug]
    kifu_id: KifuKey
    text: TextNumber = 0

    def __post_init__(self) -> None:
        check_slug(self.slug)


@kifu_table.entity(pk="uniq#uname#{username}", sk="tname#{name}")
class TagNameClaim(Entity, frozen=True, kw_only=True):
    """The claim of a name by a tag. It exists exactly as long as a tag has this name."""

    username: InKey[NamedUser]
    name: InKey[TagName]
    tag_id: TagKey

    def __post_init__(self) -> None:
        check_tag_name(self.name)


@kifu_table.entity(pk="pos#uname#{username}", sk="at#{position}#{kifu_id}#{text:06d}")
class Position(Entity, frozen=True, kw_only=True):
    """A position that one text of a record reaches."""

    username: InKey[NamedUser]
    position: InKey[PositionKey]
    kifu_id: InKey[KifuKey]
    text: InKey[TextNumber]


@kifu_table.entity(pk="pos#uname#{username}", sk="of#{kifu_id}#{text:06d}#{part:03d}")
class PositionList(Entity, frozen=True, kw_only=True):
    """Up to 98 of the positions that a record reaches, so that they can be deleted without reading its moves."""

    username: InKey[NamedUser]
    kifu_id: InKey[KifuKey]
    text: InKey[TextNumber]
    part: InKey[Part]
    positions: PackedPositions

    def __post_init__(self) -> None:
        if len(self.positions) % HASH_BYTES:
            raise ValueError("A list of positions has 8 bytes for each position.")

    @property
    def hashes(self) -> list[PositionHash]:
        """The positions one by one."""
        packed = self.positions
        return [PositionHash(packed[at : at + HASH_BYTES].hex()) for at in range(0, len(packed), HASH_BYTES)]


@kifu_table.entity(pk="gone#uname#{username}", sk="kid#{kifu_id}")
class RemovedRecord(Entity, frozen=True, kw_only=True):
    """Marker of a removed record whose links, permissions, results and positions are not all deleted: see `cleanup`."""

    username: InKey[NamedUser]
    kifu_id: InKey[KifuKey]


@kifu_table.entity(pk="gone#uname#{username}", sk="tid#{tag_id}")
class RemovedTag(Entity, frozen=True, kw_only=True):
    """Marker of a removed tag whose links are not all deleted."""

    username: InKey[NamedUser]
    tag_id: InKey[TagKey]


@kifu_table.entity(pk="gone#uname#{username}", sk="text#{kifu_id}#{text:06d}")
class ReplacedText(Entity, frozen=True, kw_only=True):
    """Marker of a replaced text whose positions are not all deleted."""

    username: InKey[NamedUser]
    kifu_id: InKey[KifuKey]
    text: InKey[TextNumber]
