"""Whether a key template can render a key, a key within a range, or a key of another template."""

from collections import deque
from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from zataku.table.backend.port import KeyRange
from zataku.table.backend.values import KeyValue
from zataku.table.schema.analysis.annotations import choices_of_field, types_of_field
from zataku.table.schema.entity_bindings import Binding
from zataku.table.schema.key_template import KeyTemplate, Slot

# Characters that ids, dates and paths contain. Any other that is neither a letter nor a digit separates parts of a key.
_WITHIN_VALUES = frozenset("-_:.+/@ ")


class _Piece(Protocol):
    """A part of a template."""

    def match_lengths(self, text: str) -> Iterable[int]:
        """How many characters at the beginning of the text this part can match."""
        ...

    def can_begin_with(self, text: str) -> bool:
        """True when the whole text can be the beginning of this part."""
        ...


class _Literals(Struct, frozen=True):
    """One of some fixed texts."""

    texts: tuple[str, ...]

    def match_lengths(self, text: str) -> Iterable[int]:
        return [len(literal) for literal in self.texts if text.startswith(literal)]

    def can_begin_with(self, text: str) -> bool:
        return any(literal.startswith(text) for literal in self.texts)


class _Digits(Struct, frozen=True):
    """A whole number, padded or not."""

    width: int | None

    def match_lengths(self, text: str) -> Iterable[int]:
        count = _digit_count(text)
        if self.width is not None:
            return [self.width] if count >= self.width else []
        return range(1, count + 1)

    def can_begin_with(self, text: str) -> bool:
        return _digit_count(text) == len(text) <= (self.width or len(text))


class _Text(Struct, frozen=True):
    """Any text without the characters that separate the parts of its template."""

    separators: frozenset[str]

    def match_lengths(self, text: str) -> Iterable[int]:
        return range(1, self._length(text) + 1)

    def can_begin_with(self, text: str) -> bool:
        return self._length(text) == len(text)

    def _length(self, text: str) -> int:
        return next((at for at, character in enumerate(text) if character in self.separators), len(text))


_Pieces: TypeAlias = tuple[_Piece, ...]


def _digit_count(text: str) -> int:
    return next((at for at, character in enumerate(text) if character not in "0123456789"), len(text))


def can_equal(binding: Binding[Any], template: KeyTemplate, value: KeyValue, loose: bool) -> bool:
    """True when the template can render this key. `loose` lets values contain separators, as declared examples may."""
    # A key that is a number or bytes is a single field and can have any value.
    return not isinstance(value, str) or _matches(_pieces(binding, template, loose), value, whole=True)


def can_be_within(binding: Binding[Any], template: KeyTemplate, key_range: KeyRange | None, loose: bool) -> bool:
    """True when the template can render a key within the range."""
    if key_range is None or not isinstance(key_range.low, str):
        return True
    if key_range.sign in ("=", "begins"):
        return _matches(_pieces(binding, template, loose), key_range.low, whole=key_range.sign == "=")
    low, high = key_range.low, key_range.high
    if key_range.sign in ("<", "<="):
        low, high = None, key_range.low
    if template.is_constant:
        # An open range leaves out its end.
        if key_range.sign in ("<", ">") and template.text == key_range.low:
            return False
        return (low is None or low <= template.text) and (not isinstance(high, str) or template.text <= high)
    # All keys of the template begin with its prefix and are longer, so none equals it.
    prefix = template.prefix
    return (low is None or low[: len(prefix)] <= prefix) and (not isinstance(high, str) or prefix < high)


def _pieces(binding: Binding[Any], template: KeyTemplate, loose: bool) -> _Pieces:
    literal = "".join(part for part in template.parts if isinstance(part, str))
    characters = frozenset(character for character in literal if not character.isalnum())
    separators = frozenset[str]() if loose else characters - _WITHIN_VALUES
    return tuple(
        _Literals((part,)) if isinstance(part, str) else _slot(binding, part, separators) for part in template.parts
    )


def _slot(binding: Binding[Any], slot: Slot, separators: frozenset[str]) -> _Piece:
    if slot.width is not None:
        return _Digits(slot.width)
    choices = choices_of_field(binding, slot.field)
    if choices is not None:
        return _Literals(tuple(map(str, choices)))
    types = types_of_field(binding, slot.field)
    if types and all(plain.type is int for plain in types):
        return _Digits(None)
    # A derived value comes from a function and may contain any character.
    return _Text(separators if slot.field in binding.fields else frozenset())


def _matches(pieces: _Pieces, text: str, whole: bool) -> bool:
    """True when the pieces can match the text, or with `whole` off a longer text that begins with it."""
    if not pieces:
        return not text
    if not whole and pieces[0].can_begin_with(text):
        return True
    return any(_matches(pieces[1:], text[count:], whole) for count in pieces[0].match_lengths(text))


_Rendering: TypeAlias = tuple[Binding[Any], KeyTemplate]
_Transitions: TypeAlias = list[list[tuple[frozenset[str], int]]]


def common_key(first: _Rendering, second: _Rendering) -> str | None:
    """The shortest key that both templates can render, or None when there is none.

    Both are walked as automata side by side, over an alphabet with the characters of both and one of every other class.
    """
    both = [_pieces(binding, template, loose=False) for binding, template in (first, second)]
    alphabet = frozenset("0x").union(*(_characters(pieces) for pieces in both))
    automata = [_automaton(pieces, alphabet) for pieces in both]
    ends = tuple(len(automaton) - 1 for automaton in automata)
    reached: dict[tuple[int, int], str] = {(0, 0): ""}
    waiting = deque(reached)
    while waiting:
        states = waiting.popleft()
        text = reached[states]
        if states == ends:
            return text
        for accepted, left in automata[0][states[0]]:
            for also_accepted, right in automata[1][states[1]]:
                shared = accepted & also_accepted
                if shared and (left, right) not in reached:
                    reached[left, right] = text + max(shared)
                    waiting.append((left, right))
    return None


def _characters(pieces: _Pieces) -> set[str]:
    return {character for piece in pieces if isinstance(piece, _Literals) for text in piece.texts for character in text}


def _automaton(pieces: _Pieces, alphabet: frozenset[str]) -> _Transitions:
    """The states of a template, the last one final, each with the characters that lead on from it."""
    digits = alphabet & frozenset("0123456789")
    states: _Transitions = [[]]
    for piece in pieces:
        start = len(states) - 1
        if isinstance(piece, _Literals):
            chains = [[frozenset(character) for character in text] for text in piece.texts if text]
        elif isinstance(piece, _Digits):
            chains = [[digits] * (piece.width or 1)]
        else:
            assert isinstance(piece, _Text)
            chains = [[alphabet - piece.separators]]
        lasts: list[tuple[int, frozenset[str]]] = []
        for *chain, last in chains:
            at = start
            for accepted in chain:
                states.append([])
                states[at].append((accepted, len(states) - 1))
                at = len(states) - 1
            lasts.append((at, last))
        states.append([])
        end = len(states) - 1
        for at, accepted in lasts:
            states[at].append((accepted, end))
        if isinstance(piece, _Text):
            states[end].append((alphabet - piece.separators, end))
        elif isinstance(piece, _Digits) and piece.width is None:
            states[end].append((digits, end))
    return states
