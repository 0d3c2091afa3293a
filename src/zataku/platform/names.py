"""Account names: which characters are allowed, and which spellings are the same name.

Letters, digits and marks of any script, and between them single spaces, hyphens, low lines, full stops and middle dots.
Characters that are invisible, or change how their neighbours look, are refused. Names that differ only in case, width
or way of typing are the same. Letters of different scripts that look alike are different letters, such as the Latin a
and U+0430 of Cyrillic: a name alone does not prove who its owner is.
"""

import unicodedata

from zataku.errors import InvalidRequest
from zataku.reserved_names import is_reserved
from zataku.text import BLANKS, VARIATIONS, fold

# Two names that differ only in these look alike.
_INVISIBLE = BLANKS | VARIATIONS
_SEPARATORS = " -_.・"
_MAX_MARKS = 2
_MAX_FOLDED_LENGTH = 60

MIN_NAME_LENGTH, MAX_NAME_LENGTH = 2, 20

NO_NAME = "-"
"""A key under which no name is claimed: names begin with a letter or digit."""


def claim_form(typed: str) -> str:
    """The form under which a typed name is claimed; `NO_NAME` for what cannot be a name."""
    folded = fold(typed)
    # Half a surrogate pair is not printable, and cannot be sent to a store.
    return folded if 1 <= len(folded) <= _MAX_FOLDED_LENGTH and folded.isprintable() else NO_NAME


def normalize_name(typed: str) -> str:
    """The name in NFKC without spaces at its ends; InvalidRequest when it is not allowed, or reserved."""
    name = unicodedata.normalize("NFKC", typed).strip()
    if not MIN_NAME_LENGTH <= len(name) <= MAX_NAME_LENGTH:
        raise InvalidRequest(
            f"A name has {MIN_NAME_LENGTH} to {MAX_NAME_LENGTH} characters. Choose another one.", code="bad_name"
        )
    try:
        check_name(name)
    except ValueError as problem:
        raise InvalidRequest(f"{problem} Choose another name.", code="bad_name") from None
    if is_reserved(name):
        raise InvalidRequest("This name is reserved. Choose another one.", code="name_reserved")
    return name


def check_name(name: str) -> None:
    """Raise a ValueError with the reason when the name is unreadable or looks like another one."""
    if name != unicodedata.normalize("NFKC", name):
        raise ValueError("A name is in plain characters (Unicode's NFKC form). Normalise it first.")
    marks = 0
    for position, letter in enumerate(name):
        category = unicodedata.category(letter)
        marks = marks + 1 if category[0] == "M" else 0
        if letter in _SEPARATORS:
            _check_separator(name, position)
        elif letter in _INVISIBLE or (category[0] not in "LM" and category != "Nd"):
            raise ValueError(f"A name consists of letters and digits; U+{ord(letter):04X} is neither.")
        elif marks > _MAX_MARKS or (marks and position == 0):
            raise ValueError("A mark belongs to a letter, and a letter has at most two.")


def _check_separator(name: str, position: int) -> None:
    if position in (0, len(name) - 1):
        raise ValueError("A name begins and ends with a letter or digit.")
    if name[position - 1] in _SEPARATORS or unicodedata.category(name[position + 1])[0] == "M":
        raise ValueError("Only one space, hyphen, low line or dot is allowed between two letters.")
