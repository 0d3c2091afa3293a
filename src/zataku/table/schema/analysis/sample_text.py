"""Texts for examples: what a field of some name, or with some pattern, may look like."""

import re

from zataku.table.schema.analysis.regex import readable_pattern

_UUID = "456e7890-e89b-42d3-a456-426614174001"
_MOMENT = "2026-02-21T10:30:00Z"
_BY_NAME: tuple[tuple[str, str], ...] = (
    (r"(?:^|_)(?:at|deadline|timestamp|created|updated|since|(?:latest|last)_\w+)$", _MOMENT),
    (r"(?:^|_)(?:date|day)$", "2026-02-21"),
    (r"(?:^|_)(?:id|ids|code)$", _UUID),
    (r"(?:^|_)email$", "player@example.com"),
    (r"(?:^|_)url$", "https://example.com/picture.png"),
)
# One character or class, a group's opening, a count.
_PIECE = re.compile(
    r"\\(?P<escaped>.)|\[(?P<negated>\^?)(?P<members>\]?(?:\\.|[^\]\\])*)\]|(?P<plain>[^\\^$*+?()\[\]{}|])"
)
_COUNT = re.compile(r"\{(?P<least>\d+)(?:,\d*)?\}|(?P<none>[*?])|\+")
_GROUP = re.compile(r"\((?:\?:)?(?!\?)")
_ESCAPED = {"d": "1", "w": "a", "s": " "}
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789あ亜ア -_"


def sample_text(name: str, shortest: int, longest: int | None, patterns: tuple[str, ...]) -> str:
    """A text for a field, of a fitting length and, as far as that can be told, fitting its patterns."""
    named = (text for pattern, text in _BY_NAME if re.search(pattern, name))
    words = re.sub(r"[^a-z]+", " ", name).strip() or "text"
    spelt = tuple(made for made in (_matching(pattern) for pattern in patterns) if made is not None)
    for text in (*named, words, *spelt):
        sized = text.ljust(shortest, text[-1:] or "x")[:longest]
        if all(re.search(pattern, sized) for pattern in patterns):
            return sized
    return words


def _matching(pattern: str) -> str | None:
    """A text that the pattern matches, or None when the pattern is beyond this."""
    found = _sequence(readable_pattern(pattern).removeprefix("^").removesuffix("$"), 0)
    return None if found is None else found[0]


def _sequence(pattern: str, at: int) -> tuple[str, int] | None:
    """The text of the first alternative and where all alternatives end."""
    made = ""
    while at < len(pattern) and pattern[at] not in "|)":
        found = _piece(pattern, at)
        if found is None:
            return None
        piece, at = found
        count = _COUNT.match(pattern, at)
        if count is not None:
            piece, at = piece * (int(count["least"] or 1) or 1), count.end()
        made += piece
    while at < len(pattern) and pattern[at] == "|":
        other = _sequence(pattern, at + 1)
        if other is None:
            return None
        at = other[1]
    return made, at


def _piece(pattern: str, at: int) -> tuple[str, int] | None:
    group = _GROUP.match(pattern, at)
    if group is not None:
        inner = _sequence(pattern, group.end())
        return None if inner is None or pattern[inner[1] : inner[1] + 1] != ")" else (inner[0], inner[1] + 1)
    found = _PIECE.match(pattern, at)
    if found is None:
        return None
    if found["plain"] is not None:
        return ("a" if found["plain"] == "." else found["plain"]), found.end()
    if found["escaped"] is not None:
        return _ESCAPED.get(found["escaped"], found["escaped"]), found.end()
    # A member of a class: its first that is a plain character, or any letter that the class takes.
    whole = re.compile(found[0])
    candidates = found["members"] + _LETTERS if not found["negated"] else _LETTERS
    letter = next((letter for letter in candidates if whole.fullmatch(letter)), None)
    return None if letter is None else (letter, found.end())
