"""Types and limits of names, ids, texts and times of the record library.

Types express patterns and lengths. Rules about bytes or Unicode are functions here, which the entities call on
construction, which covers writing and reading.
"""

import unicodedata
from typing import Annotated, Final, Literal, NewType, TypeAlias

from msgspec import Meta

from zataku.table import Instant, Seconds, anchored
from zataku.table.backend.limits import SORT_KEY_BYTES
from zataku.text import BLANKS, is_blank, is_disallowed

KIFU_BYTES: Final = 300 * 1024
RESPONSE_BYTES: Final = 64 * 1024
SLUG_PREFIX: Final = "slug#"
DEFAULT_KIFU_MAX: Final = 2000
DEFAULT_TAG_MAX: Final = 50
MAX_TAGS: Final = 100
ACCESS_SECONDS: Final = 60 * 60
ANALYSIS_SECONDS: Final = 24 * 60 * 60
HASH_BYTES: Final = 8
MAX_PART_POSITIONS: Final = 98
MAX_TEXTS: Final = 999_999

UserName = NewType("UserName", str)
KifuId = NewType("KifuId", str)
TagId = NewType("TagId", str)
ShareCode = NewType("ShareCode", str)
AnalysisId = NewType("AnalysisId", str)
PositionHash = NewType("PositionHash", str)

NamedUser: TypeAlias = Annotated[
    UserName,
    Meta(pattern=anchored("[a-z0-9](?:[a-z0-9_-]{0,30}[a-z0-9])?"), description="name of a user, such as h-akira"),
]
"""1 to 32 lower-case letters, digits, - and _, with a letter or digit at both ends, so that case never differs."""

KifuKey: TypeAlias = Annotated[
    KifuId, Meta(pattern=anchored("[A-Za-z0-9]{10,32}"), description="id of a record, random, never reused")
]
"""10 to 32 letters and digits, as fdsaj9d9s0. New ones have 16: see `ids`."""

TagKey: TypeAlias = Annotated[
    TagId, Meta(pattern=anchored("[A-Za-z0-9]{7,32}"), description="id of a tag, random, never reused")
]
"""7 to 32 letters and digits, as jko2kdl."""

SharedCode: TypeAlias = Annotated[
    ShareCode,
    Meta(
        pattern=anchored("[A-Za-z0-9]{13,43}"),
        description="code of a share link; everyone who has it may see the record",
    ),
]
"""13 to 43 letters and digits, as lkihofkwif4tF. New ones have 22, that is 130 bits, which cannot be guessed."""

AnalysisKey: TypeAlias = Annotated[
    AnalysisId,
    Meta(
        pattern=anchored("[0-7][0-9A-HJKMNP-TV-Z]{25}|[a-z]{10}"),
        description="id of an analysis: its time in 10 characters, then 16 random ones",
    ),
]
"""Time and random bits in 26 characters that sort by time; or ten lower-case letters, as fdjsklfadf, after them."""

PositionKey: TypeAlias = Annotated[
    PositionHash,
    Meta(pattern=anchored("[0-9a-f]{16}"), description="hash of a position: board, hands and side to move"),
]
"""64 bits in lower-case hexadecimal digits."""

Slug: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=255, description="the path of a record in the library, such as 社団戦/2025/鈴木")
]
"""A path of at most 255 characters and 1,019 bytes; `check_slug` has the other rules."""

TagName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=127, description="name of a tag, such as 四間飛車")]
"""At most 127 characters; `check_tag_name` has the other rules."""

KifuText: TypeAlias = Annotated[
    str,
    Meta(min_length=1, max_length=KIFU_BYTES, description="the record itself (KIF or KI2), at most 300 KB of UTF-8"),
]
"""The moves. The limit is in bytes, since a Japanese character has three: `check_bytes`."""

Memo: TypeAlias = Annotated[str, Meta(max_length=10_000, description="notes of the owner")]
"""At most 10,000 characters, 40,000 bytes, which fits in an item with the largest record."""

Response: TypeAlias = Annotated[
    str,
    Meta(max_length=RESPONSE_BYTES, description="result or error, at most 64 KB, compressed or plain"),
]
"""The result of the engine. A game with three lines a move has about 20 KB: see `writes.analyses`."""

Request: TypeAlias = Annotated[
    str, Meta(max_length=2000, description="the subject of the analysis: a position or the game")
]
"""The request as a short JSON document."""

PackedPositions: TypeAlias = Annotated[
    bytes,
    Meta(
        min_length=HASH_BYTES,
        max_length=HASH_BYTES * MAX_PART_POSITIONS,
        description="hashes of up to 98 positions, 8 bytes each",
    ),
]
"""A part of the positions that a record reaches, in order."""

Side: TypeAlias = Annotated[Literal["first", "second"], Meta(description="the owner's side: 先手 or 後手")]

Result: TypeAlias = Annotated[
    Literal["win", "lose", "draw", "sennichite", "jishogi", "none"],
    Meta(description="result for the owner; none for an unfinished game or one that the owner did not play"),
]

Public: TypeAlias = Annotated[bool, Meta(description="whether everyone may see the record")]
Share: TypeAlias = Annotated[bool, Meta(description="whether the record can be seen with its share code")]
Created: TypeAlias = Annotated[Instant, Meta(description="when it was added")]
LatestAccess: TypeAlias = Annotated[Instant, Meta(description="when the owner last viewed it, to the hour")]
LatestUpdate: TypeAlias = Annotated[Instant, Meta(description="when it was last changed")]

AnalysisStatus: TypeAlias = Annotated[
    Literal["waiting", "succeeded", "error"], Meta(description="waiting for an engine, or its outcome")
]
Finished: TypeAlias = Literal["succeeded", "error"]
Expired: TypeAlias = Annotated[Seconds, Meta(description="a day after it was requested or finished")]

KifuCap: TypeAlias = Annotated[int, Meta(ge=0, le=25_000, description="the largest number of records of a user")]
"""At most 25,000: with local indexes a partition has at most 10 GB, and 25,000 of the largest records have 8.8 GB."""

TagCap: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_TAGS, description="the largest number of tags of a user")]
"""At most 100, so that the tags of a record are read and deleted in one batch."""

Count: TypeAlias = Annotated[int, Meta(ge=0, description="the current number")]
TextNumber: TypeAlias = Annotated[
    int,
    Meta(ge=0, le=MAX_TEXTS, description="number of the record's text: 0 at first, incremented when the moves change"),
]
Part: TypeAlias = Annotated[int, Meta(ge=0, le=999, description="number of the part of a long game, from 0")]
"""1,000 parts have room for 98,000 positions; 300 KB of KI2 have about 25,600 moves."""


def check_bytes(text: str, limit: int, label: str) -> None:
    """Raise ValueError for a text with more bytes in UTF-8 than the limit."""
    size = len(text.encode())
    if size > limit:
        raise ValueError(f"{label} has {size:,} bytes, but at most {limit:,} are allowed. Shorten it.")


def check_name(text: str, label: str) -> None:
    """Raise ValueError for names with control or invisible characters, outer spaces, or another normal form."""
    if any(is_disallowed(letter) or letter in BLANKS for letter in text):
        raise ValueError(f"{label} has control or invisible characters. Remove them.")
    if is_blank(text):
        raise ValueError(f"{label} has no visible character. Add one.")
    if not unicodedata.is_normalized("NFC", text):
        raise ValueError(f"{label} is not in Unicode's normal form C. Normalise it.")
    if text != text.strip():
        raise ValueError(f"{label} begins or ends with space. Remove it.")


def check_slug(slug: str) -> None:
    """Raise ValueError for empty segments, a slash at an end, `.` and `..`, and more bytes than fit in a key."""
    check_name(slug, "The slug")
    for segment in slug.split("/"):
        if segment != segment.strip() or segment in (".", "..") or is_blank(segment):
            raise ValueError("The slug is a path of names with one / between two of them, none empty, `.` or `..`.")
    check_bytes(slug, SORT_KEY_BYTES - len(SLUG_PREFIX), "The slug")


def check_tag_name(name: str) -> None:
    """Raise ValueError for a tag name that `check_name` refuses."""
    check_name(name, "The tag name")
