"""Whether a key that is asked for can come from a template."""

from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from zataku.table.backend.port import KeyRange
from zataku.table.backend.values import KeyValue
from zataku.table.schema.analysis.annotations import choices_of_field, types_of_field
from zataku.table.schema.binding import Binding
from zataku.table.schema.key_template import KeyTemplate, Slot

# Signs that ids, dates and paths have in themselves; any other sign of a template separates its parts.
_WITHIN_VALUES = frozenset("-_:.+/@ ")


class _Piece(Protocol):
    """A part of a template."""

    def fills(self, text: str) -> Iterable[int]:
        """How many letters from the beginning of the text can be this part, in every way."""
        ...

    def goes_on(self, text: str) -> bool:
        """True when the whole text can be the beginning of this part."""
        ...


class _Words(Struct, frozen=True):
    """One of some fixed texts."""

    words: tuple[str, ...]

    def fills(self, text: str) -> Iterable[int]:
        return [len(word) for word in self.words if text.startswith(word)]

    def goes_on(self, text: str) -> bool:
        return any(word.startswith(text) for word in self.words)


class _Digits(Struct, frozen=True):
    """A whole number, padded or not."""

    width: int | None

    def fills(self, text: str) -> Iterable[int]:
        count = _digits(text)
        if self.width is not None:
            return [self.width] if count >= self.width else []
        return range(1, count + 1)

    def goes_on(self, text: str) -> bool:
        return _digits(text) == len(text) <= (self.width or len(text))


class _Text(Struct, frozen=True):
    """Any text without the signs that separate the parts of its template."""

    barred: frozenset[str]

    def fills(self, text: str) -> Iterable[int]:
        return range(1, self._length(text) + 1)

    def goes_on(self, text: str) -> bool:
        return self._length(text) == len(text)

    def _length(self, text: str) -> int:
        return next((at for at, letter in enumerate(text) if letter in self.barred), len(text))


_Pieces: TypeAlias = tuple[_Piece, ...]


def _digits(text: str) -> int:
    return next((at for at, letter in enumerate(text) if letter not in "0123456789"), len(text))


def can_be(binding: Binding[Any], template: KeyTemplate, value: KeyValue, loose: bool) -> bool:
    """True when the template can make this key. `loose` lets values hold separators, as given examples may."""
    # Keys of numbers and bytes are single fields, whose values all are possible.
    return not isinstance(value, str) or _matches(_pieces(binding, template, loose), value, whole=True)


def can_lie_in(binding: Binding[Any], template: KeyTemplate, stretch: KeyRange | None, loose: bool) -> bool:
    """True when the template can make a key within the stretch."""
    if stretch is None or not isinstance(stretch.low, str):
        return True
    if stretch.sign in ("=", "begins"):
        return _matches(_pieces(binding, template, loose), stretch.low, whole=stretch.sign == "=")
    low, high = stretch.low, stretch.high
    if stretch.sign in ("<", "<="):
        low, high = None, stretch.low
    if template.is_constant:
        # At the very end an open range differs from a closed one.
        if stretch.sign in ("<", ">") and template.text == stretch.low:
            return False
        return (low is None or low <= template.text) and (not isinstance(high, str) or template.text <= high)
    # All keys of the template begin with its prefix and go on from there, so none equals it.
    begin = template.prefix
    return (low is None or low[: len(begin)] <= begin) and (not isinstance(high, str) or begin < high)


def _pieces(binding: Binding[Any], template: KeyTemplate, loose: bool) -> _Pieces:
    literal = "".join(part for part in template.parts if isinstance(part, str))
    signs = frozenset(sign for sign in literal if not sign.isalnum()) - _WITHIN_VALUES
    barred = frozenset[str]() if loose else signs
    return tuple(_Words((part,)) if isinstance(part, str) else _slot(binding, part, barred) for part in template.parts)


def _slot(binding: Binding[Any], slot: Slot, barred: frozenset[str]) -> _Piece:
    if slot.width is not None:
        return _Digits(slot.width)
    choices = choices_of_field(binding, slot.field)
    if choices is not None:
        return _Words(tuple(map(str, choices)))
    kinds = types_of_field(binding, slot.field)
    if kinds and all(plain.type is int for plain in kinds):
        return _Digits(None)
    # A derived value is put together by a function, with whatever signs it likes.
    return _Text(barred if slot.field in binding.fields else frozenset())


def _matches(pieces: _Pieces, text: str, whole: bool) -> bool:
    """True when the pieces can make the text, or something that begins so."""
    if not pieces:
        return not text
    if not whole and pieces[0].goes_on(text):
        return True
    return any(_matches(pieces[1:], text[count:], whole) for count in pieces[0].fills(text))
