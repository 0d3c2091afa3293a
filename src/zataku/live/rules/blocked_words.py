"""Blocked words: the form in which texts are searched for them, and the search.

Every comment of a room is searched on the event loop, so the work is bounded for the costliest text and words, too: 500
characters may fold to thousands, marks above one letter are put in order one by one, and `in` may compare every letter
of a word at every place.

A word is found by its two ends, each as long as the largest power of two within its length, so that they cover it. For
each such length, the parts of the text are looked up among the ends once, however many words there are; then the places
of both ends of a word are compared, all at once, as the bytes of two numbers.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from zataku.live.limits import fold_word
from zataku.text import is_visible

MAX_LIGATURES = 8
"""Ligatures of whole words in a text that are unfolded; further ones are left out."""
MAX_MARKS = 16
"""Marks in a row that count, such as accents; further ones are left out."""
MAX_CACHED_CHARACTERS = 1 << 14

# U+FDFA is eighteen letters, and the units of measurement in one square are up to six.
_LIGATURE = re.compile("[\ufdfa\ufdfb\u3300-\u33ff]")
# Marks are neither letters nor digits for `re`, which has no class of their own.
_MARKS_OR_SYMBOLS = re.compile(rf"[^\w\s]{{{MAX_MARKS + 1},}}")


class _Word(NamedTuple):
    first: str
    last: str
    gap: int
    """Characters from the beginning of the first end to that of the last."""


class _Words(NamedTuple):
    words: tuple[_Word, ...]
    ends: frozenset[str]


_WordIndex: TypeAlias = Mapping[int, _Words]
"""The match forms of blocked words by the length of their ends."""


class _VisibleForms(dict[int, str | None]):
    """What `str.translate` makes of each character, computed when it first occurs."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        form = " " if character.isspace() else character if is_visible(character) else None
        if len(self) < MAX_CACHED_CHARACTERS:
            self[code] = form
        return form


# Lower case of the Turkish İ and I, which are an i in other languages. The dot is a mark, and invisible by itself.
_VISIBLE_FORMS = _VisibleForms({ord("ı"): "i"})


def match_form(text: str) -> str:
    """The form in which texts are searched for words: as `fold_word`, without invisible characters and dots on an i."""
    if text.isascii():
        return fold_word(text).translate(_VISIBLE_FORMS)
    return fold_word(_without_excess(text)).translate(_VISIBLE_FORMS)


def contains_blocked_word(words: frozenset[str], *texts: str) -> bool:
    """True when one of the texts contains one of the words, which are written as by `fold_word`."""
    index = _index(words)
    return bool(index) and any(_contains(index, match_form(text)) for text in texts)


def _contains(index: _WordIndex, form: str) -> bool:
    return any(
        _contains_any(words, [form[at : at + length] for at in range(len(form) - length + 1)])
        for length, words in index.items()
    )


def _contains_any(words: _Words, parts: Sequence[str]) -> bool:
    """Whether a text has one of the words, given all of its parts that are as long as their ends."""
    present = words.ends.intersection(parts)
    candidates = [word for word in words.words if word.first in present and word.last in present]
    if not candidates:
        return False
    marks = {end: bytearray(len(parts)) for word in candidates for end in (word.first, word.last)}
    for at, part in enumerate(parts):
        if part in marks:
            marks[part][at] = 1
    places = {end: int.from_bytes(marked, "little") for end, marked in marks.items()}
    return any(places[word.first] & places[word.last] >> 8 * word.gap for word in candidates)


@lru_cache(256)
def _index(words: frozenset[str]) -> _WordIndex:
    by_length: dict[int, list[_Word]] = {}
    for word in _match_forms(words):
        length = 1 << (len(word).bit_length() - 1)
        by_length.setdefault(length, []).append(_Word(word[:length], word[-length:], len(word) - length))
    return {
        length: _Words(tuple(found), frozenset(end for word in found for end in (word.first, word.last)))
        for length, found in by_length.items()
    }


def _match_forms(words: Iterable[str]) -> set[str]:
    # A word of invisible characters only has no form; it would be part of every text.
    return {form for word in words if (form := match_form(word))}


def _without_excess(text: str) -> str:
    shortened = _MARKS_OR_SYMBOLS.sub(lambda run: _first_of(run[0], unicodedata.combining, MAX_MARKS), text)
    if len(_LIGATURE.findall(shortened)) <= MAX_LIGATURES:
        return shortened
    return _first_of(shortened, _LIGATURE.match, MAX_LIGATURES)


def _first_of(text: str, is_limited: Callable[[str], object], limit: int) -> str:
    """The text without the limited characters that come after so many of them."""
    limited = 0
    kept: list[str] = []
    for character in text:
        if is_limited(character):
            limited += 1
            if limited > limit:
                continue
        kept.append(character)
    return "".join(kept)
