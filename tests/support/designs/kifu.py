"""Records of shogi games: fields stored only in keys, a swapped index, local indexes with partial projections."""

from zataku.table import Entity, InKey, Span, Table, View, include

kifu = Table("ShogiProject-Kifu", pk="pk", sk="sk", ttl="expired", transactions=True)
swapped = kifu.index("SwapIndex", pk="sk", sk="pk")
common = kifu.index("CommonGSI", pk="cgsi_pk", sk="sk")
by_slug = kifu.local_index("CommonLSI", sk="clsi_sk", projection=include("cgsi_pk", "clsi_sk"))
by_creation = kifu.local_index("CreatedIndex", sk="created", projection=include("cgsi_pk", "clsi_sk", "share"))
by_update = kifu.local_index("LatestUpdateIndex", sk="latest_update", projection=include("clsi_sk", "share"))


@kifu.entity(
    pk="kifu#uname#{username}",
    sk="kid#{kifu_id}",
    index={"cgsi_pk": "kifu#scode#{share_code}", "clsi_sk": "slug#{slug}"},
)
class Kifu(Entity, frozen=True, kw_only=True):
    """A record, which can be shared under a code and found by a slug."""

    username: InKey[str]
    kifu_id: InKey[str]
    share_code: InKey[str | None] = None
    slug: InKey[str | None] = None
    kifu: str = ""
    share: bool = False
    created: str = "2025-12-31T11:11:31Z"
    latest_update: str = "2025-12-31T11:11:31Z"


@kifu.entity(pk="tag#kid#{kifu_id}", sk="tid#{tag_id}")
class Tagging(Entity, frozen=True, kw_only=True):
    """A tag of a record."""

    kifu_id: InKey[str]
    tag_id: InKey[str]


@kifu.entity(pk="analysis", sk="aid#{analysis_id}", index={"cgsi_pk": "analysis#uname#{username}"})
class Analysis(Entity, frozen=True, kw_only=True):
    """An engine's analysis of a position, which expires."""

    analysis_id: InKey[str]
    username: InKey[str]
    status: str = "waiting"
    expired: int | None = None


@kifu.view(Kifu)
class KifuLine(View, frozen=True, kw_only=True):
    """A row in a list of records."""

    username: str
    kifu_id: str
    slug: str | None = None
    share: bool


@kifu.view(Kifu)
class Slug(View, frozen=True, kw_only=True):
    """The record that has a slug."""

    kifu_id: str
    slug: str
    share_code: str | None = None


@kifu.query(returns=KifuLine, strong=True)
def kifu_by_creation(username: str) -> Span:
    """A user's records, oldest first."""
    return by_creation.partition(f"kifu#uname#{username}")


@kifu.query(returns=Slug, strong=True)
def slugs(username: str, prefix: str) -> Span:
    """A user's records whose slugs begin with a prefix."""
    return by_slug.partition(f"kifu#uname#{username}").begins_with(f"slug#{prefix}")


@kifu.view(Kifu)
class KifuText(View, frozen=True, kw_only=True):
    """The moves of a record, which no local index projects."""

    kifu_id: str
    kifu: str


@kifu.query(returns=KifuText, strong=True)
def texts_by_update(username: str) -> Span:
    """The moves of a user's records by their last change, fetched from the table."""
    return by_update.partition(f"kifu#uname#{username}")


@kifu.query(returns=Kifu)
def kifu_shared_as(code: str) -> Span:
    """The record shared under a code."""
    return common.partition(f"kifu#scode#{code}")


@kifu.query(returns=Tagging)
def tagged(tag_id: str) -> Span:
    """All records with a tag."""
    return swapped.partition(f"tid#{tag_id}").begins_with("tag#kid#")


@kifu.query(returns=Kifu)
def kifu_of_id(kifu_id: str) -> Span:
    """A record by its id alone."""
    return swapped.partition(f"kid#{kifu_id}").begins_with("kifu#uname#")
