"""Names that people give themselves: which are allowed, and which count as the same.

Letters, digits and marks of any script, and between them single spaces, hyphens, low lines, full stops and middle dots.
What cannot be seen, or makes its neighbours look different, is refused. Names that differ only in case, width or way of
typing are one. Letters of different scripts that look alike are different letters, such as the Latin a and U+0430 of
Cyrillic: a name alone does not prove who somebody is.
"""

import unicodedata

from zataku.text import BLANKS, VARIATIONS, fold

# Two names that differ only in these look alike.
_UNSEEN = BLANKS | VARIATIONS
_BETWEEN = " -_.・"
_MARKS_IN_A_ROW = 2
_LONGEST_FOLDED = 60

NOBODY = "-"
"""Stands where a name would stand of which there is none: names begin with a letter or digit."""


def sought(text: str) -> str:
    """What somebody typed as the name under which it is claimed, and `NOBODY` for what can be no name at all."""
    wanted = fold(text)
    # Half a surrogate pair is not printable, and cannot be sent to a store.
    return wanted if 1 <= len(wanted) <= _LONGEST_FOLDED and wanted.isprintable() else NOBODY


def check_name(name: str) -> None:
    """Refuse a name that others could not read or tell apart, with a ValueError that says why."""
    if name != unicodedata.normalize("NFKC", name):
        raise ValueError("A name is written in plain characters (Unicode's NFKC). Normalise it first.")
    marks = 0
    for at, letter in enumerate(name):
        kind = unicodedata.category(letter)
        marks = marks + 1 if kind[0] == "M" else 0
        if letter in _BETWEEN:
            _check_between(name, at)
        elif letter in _UNSEEN or (kind[0] not in "LM" and kind != "Nd"):
            raise ValueError(f"A name has letters and digits; U+{ord(letter):04X} is neither.")
        elif marks > _MARKS_IN_A_ROW or (marks and at == 0):
            raise ValueError("A mark belongs to a letter, and a letter has at most two.")


def _check_between(name: str, at: int) -> None:
    if at in (0, len(name) - 1):
        raise ValueError("A name begins and ends with a letter or digit.")
    if name[at - 1] in _BETWEEN or unicodedata.category(name[at + 1])[0] == "M":
        raise ValueError("Only one space, hyphen, low line or dot stands between letters.")
