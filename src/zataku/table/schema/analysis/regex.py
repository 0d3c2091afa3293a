"""Patterns such as `^[A-H][1-8]$`: the size of the texts that they allow, and a text that matches.

Parses characters, classes, groups, alternatives and counts, and nothing else, such as a look-ahead.
"""

import re
from math import inf
from typing import TypeAlias

from msgspec import Struct

from zataku.table.schema.field_types import END

_LARGEST_CHARACTER = 4  # bytes in UTF-8
_CHARACTER = re.compile(r"\\[dDwWsS.^$*+?()\[\]{}|/\\-]|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\^$*+?()\[\]{}|]")
_COUNT = re.compile(r"\{(?P<exact>\d+)\}|\{(?P<least>\d+),(?P<most>\d*)\}|(?P<sign>[*+?])")
_SIGNS: dict[str, tuple[int, float]] = {"*": (0, inf), "+": (1, inf), "?": (0, 1)}
_GROUP = re.compile(r"\((?:\?:)?(?!\?)")
_SAMPLE_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789あ亜ア -_"


class TextBounds(Struct, frozen=True):
    """The most characters of a text, and the most bytes of one of them."""

    characters: float
    bytes_each: int


UNBOUNDED = TextBounds(inf, _LARGEST_CHARACTER)


class _Character(Struct, frozen=True):
    """A character, an escape or a class, as the pattern writes it."""

    source: str


class _Repeat(Struct, frozen=True):
    node: "_Node"
    least: int
    most: float


class _Sequence(Struct, frozen=True):
    nodes: tuple["_Node", ...]


class _Alternatives(Struct, frozen=True):
    options: tuple["_Node", ...]


_Node: TypeAlias = _Character | _Repeat | _Sequence | _Alternatives


def readable_pattern(pattern: str) -> str:
    """The pattern as people write it, with `$` for its end."""
    return pattern.removesuffix(END) + "$" if pattern.endswith(END) else pattern


def text_bounds(pattern: str) -> TextBounds:
    """The bounds of the texts that an anchored pattern allows."""
    readable = readable_pattern(pattern)
    if not readable.startswith("^") or not readable.endswith("$") or readable.endswith("\\$"):
        return UNBOUNDED
    parsed = _parse(readable[1:-1])
    # In ^a|b$ each anchor holds for one alternative only.
    if parsed is None or len(parsed.options) > 1:
        return UNBOUNDED
    bounds = _bounds(parsed)
    # A bare `$` lets a line break pass at the end.
    return bounds if pattern.endswith(END) else TextBounds(bounds.characters + 1, bounds.bytes_each)


def matching_text(pattern: str) -> str | None:
    """A short text of the pattern's first alternatives, or None when the pattern is not parsed."""
    parsed = _parse(readable_pattern(pattern).removeprefix("^").removesuffix("$"))
    return None if parsed is None else _sample(parsed)


def _bounds(node: _Node) -> TextBounds:
    match node:
        case _Character():
            return TextBounds(1, _bytes_of(node.source))
        case _Repeat():
            inner = _bounds(node.node)
            return TextBounds(inner.characters * node.most if inner.characters else 0, inner.bytes_each)
        case _Sequence():
            parts = [_bounds(part) for part in node.nodes]
            characters = sum(part.characters for part in parts)
        case _Alternatives():
            parts = [_bounds(part) for part in node.options]
            characters = max(part.characters for part in parts)
    return TextBounds(characters, max((part.bytes_each for part in parts), default=1))


def _bytes_of(source: str) -> int:
    """The bytes of the largest character. `\\d` and its like, `.` and `[^...]` have characters of all sizes."""
    if source == "." or source.startswith("[^") or re.search(r"\\[a-zA-Z]", source):
        return _LARGEST_CHARACTER
    return max(len(character.encode()) for character in source)


def _sample(node: _Node) -> str | None:
    match node:
        case _Character():
            return _sample_character(node.source)
        case _Repeat():
            text = _sample(node.node)
            return None if text is None else text * max(1, node.least)
        case _Sequence():
            texts = [_sample(part) for part in node.nodes]
            samples = [text for text in texts if text is not None]
            return "".join(samples) if len(samples) == len(texts) else None
        case _Alternatives():
            return _sample(node.options[0])


def _sample_character(source: str) -> str | None:
    matches = re.compile(source, re.DOTALL).fullmatch
    # A class names its first characters itself; an escape or a negated class takes one of the usual ones.
    candidates = source[1:-1] + _SAMPLE_CHARACTERS if source.startswith("[") else _SAMPLE_CHARACTERS + source
    return next((character for character in candidates if matches(character)), None)


def _parse(text: str) -> _Alternatives | None:
    parsed = _parse_alternatives(text, 0)
    return None if parsed is None or parsed[1] != len(text) else parsed[0]


def _parse_alternatives(text: str, at: int) -> tuple[_Alternatives, int] | None:
    """The alternatives up to `)` or the end, and where that is."""
    options: list[_Node] = []
    while True:
        parsed = _parse_sequence(text, at)
        if parsed is None:
            return None
        options.append(parsed[0])
        at = parsed[1]
        if text[at : at + 1] != "|":
            return _Alternatives(tuple(options)), at
        at += 1


def _parse_sequence(text: str, at: int) -> tuple[_Sequence, int] | None:
    nodes: list[_Node] = []
    while at < len(text) and text[at] not in "|)":
        parsed = _parse_element(text, at)
        if parsed is None:
            return None
        node, at = parsed
        count = _COUNT.match(text, at)
        if count is not None:
            least, most = _count(count)
            node, at = _Repeat(node, least, most), count.end()
        nodes.append(node)
    return _Sequence(tuple(nodes)), at


def _parse_element(text: str, at: int) -> tuple[_Node, int] | None:
    group = _GROUP.match(text, at)
    if group is not None:
        parsed = _parse_alternatives(text, group.end())
        if parsed is None or text[parsed[1] : parsed[1] + 1] != ")":
            return None
        return parsed[0], parsed[1] + 1
    character = _CHARACTER.match(text, at)
    return None if character is None else (_Character(character[0]), character.end())


def _count(count: re.Match[str]) -> tuple[int, float]:
    if count["sign"] is not None:
        return _SIGNS[count["sign"]]
    if count["exact"] is not None:
        return int(count["exact"]), int(count["exact"])
    return int(count["least"]), int(count["most"]) if count["most"] else inf
