"""What people can see of a text, and which texts are the same to them. Names, comments and reasons are held to it."""

import unicodedata

JOINERS = frozenset("\u200c\u200d")
"""Emoji and Persian are joined by these; every other format character hides text or turns its direction."""

BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters, marks and symbols by their category that are drawn as nothing: fillers, the blank Braille pattern."""

VARIATIONS = frozenset(
    chr(code) for codes in (range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0)) for code in codes
)
"""Marks that choose between two shapes of the character before them."""

_UNFIT = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_UNSEEN = frozenset({"Mn", "Me"})


def is_disallowed(character: str) -> bool:
    """True for what no line of text needs: controls, line breaks, marks that hide or turn around, half characters.

    Characters that this Python does not know yet are fit: another one may have stored them.
    """
    return unicodedata.category(character) in _UNFIT and character not in JOINERS


def is_visible(character: str) -> bool:
    """True when the character shows something by itself."""
    if character in BLANKS or character in VARIATIONS:
        return False
    kind = unicodedata.category(character)
    # What is unassigned here may be a letter to a later Python.
    return kind == "Cn" or (kind[0] not in "ZC" and kind not in _UNSEEN)


def is_blank(text: str) -> bool:
    """True for a text of which nothing can be seen."""
    return not any(map(is_visible, text))


def fold(text: str) -> str:
    """The text without differences of case, width and way of typing (NFKC casefold); folding it again changes nothing.

    It may be longer: ß is ss, and U+FDFA becomes eighteen characters.
    """
    once = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold())
    return unicodedata.normalize("NFKC", once.casefold())
