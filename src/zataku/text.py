"""Encoding and visible characters of a text, and case folding. Names, comments and reasons are checked with it."""

import unicodedata

JOINERS = frozenset("\u200c\u200d")
"""Format characters that emoji and Persian need; every other one hides text or reverses its direction."""

BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters that are letters, marks or symbols by category but are drawn blank: fillers, the blank Braille pattern."""

VARIATIONS = frozenset(
    chr(code) for codes in (range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0)) for code in codes
)
"""Variation selectors: marks that select the shape of the preceding character."""

_DISALLOWED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_INVISIBLE_CATEGORIES = frozenset({"Mn", "Me"})


def is_utf8(content: bytes) -> bool:
    """True for bytes that are text in UTF-8."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def is_disallowed(character: str) -> bool:
    """True for controls, line breaks, surrogates, and format characters that hide text or reverse its direction.

    Unassigned characters are allowed: a newer Python may have stored them.
    """
    return unicodedata.category(character) in _DISALLOWED_CATEGORIES and character not in JOINERS


def is_visible(character: str) -> bool:
    """True when the character is visible by itself."""
    if character in BLANKS or character in VARIATIONS:
        return False
    category = unicodedata.category(character)
    # A character that is unassigned here may be a letter in a newer Python.
    return category == "Cn" or (category[0] not in "ZC" and category not in _INVISIBLE_CATEGORIES)


def is_blank(text: str) -> bool:
    """True for a text without a visible character."""
    return not any(map(is_visible, text))


def fold(text: str) -> str:
    """The NFKC casefold of a text, which removes differences of case, width and composition. Folding is idempotent.

    The result may be longer: ß becomes ss, and U+FDFA becomes eighteen characters.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold())
    return unicodedata.normalize("NFKC", folded.casefold())
