"""What names, ids, texts and times of the record library may be.

A type says what a pattern or a length can say. Rules about bytes or Unicode are functions here, which the entities call
when they are made: they hold on construction, on writing and on reading.
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
MOST_TAGS: Final = 100
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
"""1 to 32 small letters, digits, - and _, with a letter or digit at both ends: two names never differ in case only."""

KifuKey: TypeAlias = Annotated[
    KifuId, Meta(pattern=anchored("[A-Za-z0-9]{10,32}"), description="id of a record, random, never used again")
]
"""10 to 32 letters and digits, as fdsaj9d9s0. New ones have 16: see `ids`."""

TagKey: TypeAlias = Annotated[
    TagId, Meta(pattern=anchored("[A-Za-z0-9]{7,32}"), description="id of a tag, random, never used again")
]
"""7 to 32 letters and digits, as jko2kdl."""

SharedCode: TypeAlias = Annotated[
    ShareCode,
    Meta(pattern=anchored("[A-Za-z0-9]{13,43}"), description="code of a share link; who has it sees the record"),
]
"""13 to 43 letters and digits, as lkihofkwif4tF. New ones have 22, which nobody guesses: 130 bits."""

AnalysisKey: TypeAlias = Annotated[
    AnalysisId,
    Meta(
        pattern=anchored("[0-7][0-9A-HJKMNP-TV-Z]{25}|[a-z]{10}"),
        description="id of an analysis: its moment in 10 signs, then 16 random ones",
    ),
]
"""A moment and chance in 26 signs that sort by time; or ten small letters, as fdjsklfadf, after them."""

PositionKey: TypeAlias = Annotated[
    PositionHash,
    Meta(pattern=anchored("[0-9a-f]{16}"), description="hash of a position: board, hands and side to move"),
]
"""64 bits in small hexadecimal digits."""

Slug: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=255, description="the path of a record in the library, such as 社団戦/2025/鈴木")
]
"""A path of at most 255 characters and 1,019 bytes; `check_slug` has the rest."""

TagName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=127, description="name of a tag, such as 四間飛車")]
"""At most 127 characters; `check_tag_name` has the rest."""

KifuText: TypeAlias = Annotated[
    str,
    Meta(min_length=1, max_length=KIFU_BYTES, description="the record itself (KIF or KI2), at most 300 KB of UTF-8"),
]
"""The moves. The limit is in bytes, since a Japanese character has three: `check_bytes`."""

Memo: TypeAlias = Annotated[str, Meta(max_length=10_000, description="notes of the owner")]
"""At most 10,000 characters, 40,000 bytes: with the largest record it still fits an item."""

Response: TypeAlias = Annotated[
    str,
    Meta(max_length=RESPONSE_BYTES, description="result or error, at most 64 KB, compressed or plain"),
]
"""What the engine found. A whole game with three lines a move takes about 20 KB: see `responses`."""

Request: TypeAlias = Annotated[str, Meta(max_length=2000, description="what is to be analysed: a position or the game")]
"""The job in a few words of JSON."""

PackedPositions: TypeAlias = Annotated[
    bytes,
    Meta(
        min_length=HASH_BYTES,
        max_length=HASH_BYTES * MAX_PART_POSITIONS,
        description="hashes of up to 98 positions, 8 bytes each",
    ),
]
"""Part of the positions that a record reached, in order."""

Side: TypeAlias = Annotated[Literal["first", "second"], Meta(description="the owner's side: 先手 or 後手")]

Result: TypeAlias = Annotated[
    Literal["win", "lose", "draw", "sennichite", "jishogi", "none"],
    Meta(description="how the game ended for the owner; none where it did not, or the owner did not play"),
]

Public: TypeAlias = Annotated[bool, Meta(description="whether everybody may see the record")]
Share: TypeAlias = Annotated[bool, Meta(description="whether whoever has the share code may see the record")]
Created: TypeAlias = Annotated[Instant, Meta(description="when it was made")]
LatestAccess: TypeAlias = Annotated[Instant, Meta(description="when the owner looked at it last, to the hour")]
LatestUpdate: TypeAlias = Annotated[Instant, Meta(description="when it was changed last")]

AnalysisStatus: TypeAlias = Annotated[
    Literal["waiting", "succeeded", "error"], Meta(description="waits for an engine, or how it went")
]
Finished: TypeAlias = Literal["succeeded", "error"]
Expired: TypeAlias = Annotated[Seconds, Meta(description="a day after it was asked for or finished")]

KifuCap: TypeAlias = Annotated[int, Meta(ge=0, le=25_000, description="how many records a user may have")]
"""At most 25,000: with local indexes a partition takes 10 GB, and so many of the largest records have 8.8 GB."""

TagCap: TypeAlias = Annotated[int, Meta(ge=0, le=MOST_TAGS, description="how many tags a user may have")]
"""At most 100, so that the tags of a record are read and taken away in one batch."""

Count: TypeAlias = Annotated[int, Meta(ge=0, description="how many there are now")]
TextNumber: TypeAlias = Annotated[
    int, Meta(ge=0, le=MAX_TEXTS, description="which text of the record: 0 at first, one more whenever moves change")
]
Part: TypeAlias = Annotated[int, Meta(ge=0, le=999, description="which part of a long game, from 0")]
"""1,000 parts have room for 98,000 positions; 300 KB of KI2 have about 25,600 moves."""


def check_bytes(text: str, most: int, what: str) -> None:
    """Refuse a text of more bytes in UTF-8."""
    size = len(text.encode())
    if size > most:
        raise ValueError(f"{what} has {size:,} bytes, but at most {most:,} are allowed. Shorten it.")


def check_name(text: str, what: str) -> None:
    """Refuse names that look like others or cannot be seen: controls, other normal forms, space at the ends."""
    if any(is_disallowed(letter) or letter in BLANKS for letter in text):
        raise ValueError(f"{what} has control or invisible characters. Remove them.")
    if is_blank(text):
        raise ValueError(f"{what} shows nothing. Write something that can be seen.")
    if not unicodedata.is_normalized("NFC", text):
        raise ValueError(f"{what} is not in Unicode's normal form C. Normalise it.")
    if text != text.strip():
        raise ValueError(f"{what} begins or ends with space. Remove it.")


def check_slug(slug: str) -> None:
    """Refuse what is not a path: empty segments, a slash at an end, `.` and `..`, more bytes than a key takes."""
    check_name(slug, "The slug")
    for segment in slug.split("/"):
        if segment != segment.strip() or segment in (".", "..") or is_blank(segment):
            raise ValueError("The slug is a path of names with one / between two of them, none empty, `.` or `..`.")
    check_bytes(slug, SORT_KEY_BYTES - len(SLUG_PREFIX), "The slug")


def check_tag_name(name: str) -> None:
    """Refuse tag names that look like others or cannot be seen."""
    check_name(name, "The tag name")
