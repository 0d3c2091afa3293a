"""Blocked words: the form in which texts are searched for them, and the search.

Every comment of a room is searched on the event loop, so the work is bounded for the costliest text and words, too: 500
characters may fold to thousands, marks above one letter are put in order one by one, and `in` may compare every letter
of a word at every place.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from operator import add
from typing import TypeAlias

from zataku.live.limits import fold_word
from zataku.text import is_visible

MAX_LIGATURES = 8
"""Ligatures of whole words in a text that are unfolded; further ones are left out."""
MAX_MARKS = 16
"""Marks in a row that count, such as accents; further ones are left out."""
MAX_CACHED_CHARACTERS = 1 << 14
MAX_CACHED_SEARCHES = 1 << 15

# U+FDFA is eighteen letters, and the units of measurement in one square are up to six.
_LIGATURE = re.compile("[\ufdfa\ufdfb\u3300-\u33ff]")
# Marks are neither letters nor digits for `re`, which has no class of their own.
_MARKS_OR_SYMBOLS = re.compile(rf"[^\w\s]{{{MAX_MARKS + 1},}}")

WordIndex: TypeAlias = Mapping[str, tuple[str, ...]]
"""The match forms of blocked words by their first two characters."""


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


def _contains(index: WordIndex, form: str) -> bool:
    starts = index.keys() & {*form, *map(add, form, form[1:])}
    return any(_search(word)(form) for start in starts for word in index[start])


@lru_cache(MAX_CACHED_SEARCHES)
def _search(word: str) -> Callable[[str], object]:
    """The search for a word in time proportional to the text: `re` looks at each of its characters once (KMP).

    For 200 words of one letter with a few others within, in 2,000 of that letter, `in` takes 5 ms and this 0.8.
    """
    return re.compile(re.escape(word)).search


@lru_cache(256)
def _index(words: frozenset[str]) -> WordIndex:
    index: dict[str, tuple[str, ...]] = {}
    for word in _match_forms(words):
        index[word[:2]] = (*index.get(word[:2], ()), word)
    return index


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
