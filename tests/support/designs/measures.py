"""Measurements, blobs and words: keys that are numbers, bytes and arbitrary text."""

from decimal import Decimal

from zataku.table import Entity, Span, Table, binary, number, path

measures = Table("MeasuresByRoom", pk=number("room"), sk=number("at"))
by_stamp = measures.local_index("StampIndex", sk=binary("stamp"))
by_device = measures.index("DeviceIndex", pk=binary("device"), sk=number("level"))

blobs = Table("BlobsByDigest", pk=binary("digest"), sk=binary("part"))

words = Table("WordsOfTheDay", pk="language", sk="word")


@measures.entity(pk="{room}", sk="{at}")
class Measure(Entity, frozen=True, kw_only=True):
    """A level measured in a room at a time."""

    room: int
    at: Decimal
    stamp: bytes | None = None
    device: bytes | None = None
    level: Decimal | None = None


@blobs.entity(pk="{digest}", sk="{part}")
class Blob(Entity, frozen=True, kw_only=True):
    """One part of a blob."""

    digest: bytes
    part: bytes


@words.entity(pk="{language}", sk="{word}")
class Word(Entity, frozen=True, kw_only=True):
    """A word, in the order of its bytes."""

    language: str
    word: str
    note: str = ""


@measures.query(returns=Measure, strong=True)
def measures_in(room: int) -> Span:
    """All measures of a room in the order of their times."""
    return measures.partition(room)


@measures.query(returns=Measure, strong=True)
def measures_within(room: int, low: Decimal, high: Decimal) -> Span:
    """The measures of a room between two times."""
    return measures.partition(room).between(low, high)


@measures.query(returns=Measure, strong=True)
def stamped(room: int) -> Span:
    """The measures of a room in the order of their stamps."""
    return by_stamp.partition(room)


@measures.query(returns=Measure)
def measures_from(device: bytes) -> Span:
    """The measures of a device, lowest level first."""
    return by_device.partition(device)


@blobs.query(returns=Blob, strong=True)
def parts_of(digest: bytes) -> Span:
    """All parts of a blob."""
    return blobs.partition(digest)


@blobs.query(returns=Blob, strong=True)
def parts_beginning(digest: bytes, prefix: bytes) -> Span:
    """The parts of a blob that begin with a prefix."""
    return blobs.partition(digest).begins_with(prefix)


@words.query(returns=Word, strong=True)
def words_in(language: str) -> Span:
    """All words of a language."""
    return words.partition(language)


@words.query(returns=Word, strong=True)
def words_back(language: str) -> Span:
    """All words of a language, last to first."""
    return words.partition(language).newest_first()


@words.query(returns=Word, strong=True)
def words_narrowed(language: str, method: str, low: str, high: str) -> Span:
    """The words of a language in the range that a method of Span sets."""
    span = words.partition(language)
    return span.between(low, high) if method == "between" else getattr(span, method)(low)


@words.query(returns=Word, strong=True)
def words_with_note(language: str, note: str) -> Span:
    """The words of a language with a given note."""
    return words.partition(language).where(path(Word, lambda word: word.note).equals(note))
