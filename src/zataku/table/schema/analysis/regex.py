"""What a pattern such as `^[A-H][1-8]$` says about the size of a text."""

import re
from math import inf

from msgspec import Struct

from zataku.table.schema.field_types import END

_LARGEST_CHARACTER = 4
_ONE = re.compile(r"\\[dDwWsS.^$*+?()\[\]{}|/\\-]|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\^$*+?()\[\]{}|]")
_COUNT = re.compile(r"\{(?:(\d+),)?(?P<most>\d+)\}|(?P<endless>[*+]|\{\d+,\})|\?")
_GROUP = re.compile(r"\((?:\?:)?(?!\?)")


class TextBounds(Struct, frozen=True):
    """How many characters a text has at most, and how many bytes the largest character."""

    characters: float
    letter: int

    def then(self, other: "TextBounds") -> "TextBounds":
        """The two, one after the other."""
        return TextBounds(self.characters + other.characters, max(self.letter, other.letter))

    def either(self, other: "TextBounds") -> "TextBounds":
        """One of the two."""
        return TextBounds(max(self.characters, other.characters), max(self.letter, other.letter))

    def times(self, count: float) -> "TextBounds":
        """The same, some times over."""
        return TextBounds(self.characters * count if self.characters else 0, self.letter)


ANYTHING = TextBounds(inf, _LARGEST_CHARACTER)
_NOTHING = TextBounds(0, 1)


def text_bounds(pattern: str) -> TextBounds:
    """The texts that a pattern allows.

    Knows anchored patterns of characters, classes, groups, alternatives and counts; everything else allows anything.
    """
    exact = pattern.endswith(END)
    pattern = readable_pattern(pattern)
    if not pattern.startswith("^") or not pattern.endswith("$") or pattern.endswith("\\$"):
        return ANYTHING
    inner = pattern[1:-1]
    found = _sequence(inner, 0)
    # In ^a|b$ each anchor holds for one alternative only, so the sequence must reach the end.
    if found is None or found[1] != len(inner):
        return ANYTHING
    # A bare `$` lets a line break pass at the end.
    return found[0] if exact else found[0].then(TextBounds(1, 1))


def readable_pattern(pattern: str) -> str:
    """The pattern as people write it, with `$` for its end."""
    return pattern.removesuffix(END) + "$" if pattern.endswith(END) else pattern


def _alternatives(text: str, at: int) -> tuple[TextBounds, int] | None:
    shape = _NOTHING
    while True:
        found = _sequence(text, at)
        if found is None:
            return None
        shape, at = shape.either(found[0]), found[1]
        if text[at : at + 1] != "|":
            return shape, at
        at += 1


def _sequence(text: str, at: int) -> tuple[TextBounds, int] | None:
    """The shape of what follows up to `|`, `)` or the end, and where that is."""
    shape = _NOTHING
    while at < len(text) and text[at] not in "|)":
        found = _element(text, at)
        if found is None:
            return None
        element, at = found
        count = _COUNT.match(text, at)
        if count:
            at = count.end()
            element = element.times(inf if count["endless"] else int(count["most"] or 1))
        shape = shape.then(element)
    return shape, at


def _element(text: str, at: int) -> tuple[TextBounds, int] | None:
    group = _GROUP.match(text, at)
    if group:
        found = _alternatives(text, group.end())
        if found is None or text[found[1] : found[1] + 1] != ")":
            return None
        return found[0], found[1] + 1
    one = _ONE.match(text, at)
    return None if one is None else (TextBounds(1, _letter(one[0])), one.end())


def _letter(one: str) -> int:
    """The bytes of the largest character. `\\d` and its like, `.` and `[^...]` have characters of all sizes."""
    if one == "." or one.startswith("[^") or re.search(r"\\[a-zA-Z]", one):
        return _LARGEST_CHARACTER
    return max(len(character.encode()) for character in one)
