"""The form that names share which can be taken for each other.

Accounts may have names that look alike (see `platform.names`); this form is for names that must not be imitated. It is
coarser than any reader: letters of different scripts that are drawn alike are the same, and so are 0 and o, or I, l
and 1, and letters with and without marks of other scripts.
"""

import re
import unicodedata
from functools import cache
from importlib.resources import files

from zataku.text import BLANKS, VARIATIONS, fold, is_visible

_DRAWN_ALIKE = str.maketrans(
    # Cyrillic, Greek, Coptic, Armenian, Cherokee, Latin small capitals, digits and signs, as folding leaves them.
    "авекмнорстухіјѕһԁԛԝӏ" + "αβεζηικμνορτυχω" + "ⲁⲃⲉⲍ" + "օսհ" + "ᎪᏴᏟᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᏒᏚᎢᏙᎳᎩᏃ"
    + "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢɑɡı" + "01i|35@$〇○"
    # Kanji and hiragana that are drawn like katakana.
    + "口力工二卜八夕一へり",
    "abekmhopctyxljshdqwl" + "abezhlkmvoptyxw" + "abez" + "ouh" + "abcdeghljklmprstvwyz"
    + "abcdefghljklmnoprstuvwyzagl" + "olllesasoo"
    + "ロカエニトハターヘリ",
)  # fmt: skip
# Letters of emoji, in black circles and squares. An i is as above.
_EMOJI = {first + at: ord("abcdefghljklmnopqrstuvwxyz"[at]) for first in (0x1F150, 0x1F170) for at in range(26)}
_LOOK_ALIKES = _DRAWN_ALIKE | _EMOJI
# Drawn as letters in squares by systems that have no flag for them. Beside a name they are its flag.
_REGIONAL_INDICATORS = {0x1F1E6 + at: letter for at, letter in enumerate(_EMOJI.values()) if at < 26}
# Folding makes these a letter of the name, or a space and a mark without a letter; the last would lose its likeness to
# the seal of a host.
_SIGNS = str.maketrans({"™": " ", "℠": " ", "゛": "\u3099", "゜": "\u309a", "㊟": "主"})
_KANA_MARKS = "\u3099\u309a"
_KANA = ("HIRAGANA", "KATAKANA")
_LATIN_EXTENSIONS = (*range(0x180, 0x2B0), *range(0x1D00, 0x1E00), *range(0x2C60, 0x2C80), *range(0xA720, 0xA800))
_LATIN_WITH_MARK = re.compile(r"LATIN (?:CAPITAL|SMALL) LETTER (?:DOTLESS )?([A-Z])(?: WITH (?!SMALL).+)?")
"""The Unicode name of a letter with a stroke, hook or tail, which belongs to its shape and does not decompose."""
_PAIRS = (("rn", "m"), ("vv", "w"))
_OPTIONAL_MARKS = range(10, 37)
"""The combining classes of the vowel points of Hebrew, Arabic and Syriac, which most writers leave out."""
_MAX_COMPARED = 120
"""Characters of a folded name that are compared: a name of thirty may fold to hundreds, and is checked on the loop."""


def look_alike_forms(name: str) -> tuple[str, ...]:
    """The forms of the readings of a name. Names can be taken for each other when one of these is the same."""
    return tuple(map(form_of, readings(name)))


def readings(name: str) -> tuple[str, str]:
    """A name folded, and folded after its letters were replaced by the Latin ones that they are drawn like.

    The second tells capitals from small letters, of which N is drawn like a capital nu and v like a small one. The
    first finds a name in other capitals.
    """
    decomposed = _without_foreign_marks(unicodedata.normalize("NFD", name).translate(_SIGNS))
    return _fold(decomposed), _fold(decomposed.translate(_confusables()))


def form_of(reading: str) -> str:
    """The letters and digits of a reading, or of a part of it, as they are drawn.

    Where there are none, such as in an emoji, the visible characters.
    """
    drawn = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", reading).translate(_LOOK_ALIKES))
    form = "".join(filter(is_letter, drawn))
    for pair, letter in _PAIRS:
        form = form.replace(pair, letter)
    return form or "".join(filter(is_visible, drawn)).translate(_REGIONAL_INDICATORS)


def is_letter(character: str) -> bool:
    """True for letters, digits and their marks."""
    return unicodedata.category(character)[0] in "LNM" and character not in BLANKS and character not in VARIATIONS


def _fold(text: str) -> str:
    # Folding makes marks, too: an accent by itself becomes a space and a mark.
    folded = unicodedata.normalize("NFD", fold(text)[:_MAX_COMPARED])
    return unicodedata.normalize("NFKC", _without_foreign_marks(folded))


def _without_foreign_marks(decomposed: str) -> str:
    kept: list[str] = []
    letter = ""
    for character in decomposed:
        if unicodedata.category(character)[0] != "M":
            letter = character
        elif not _belongs_to(character, letter):
            continue
        kept.append(character)
    return "".join(kept)


def _belongs_to(mark: str, letter: str) -> bool:
    """True for a mark of the letter's own script, such as a vowel of Thai. Any other may be all but invisible."""
    if unicodedata.category(mark) == "Me" or unicodedata.combining(mark) in _OPTIONAL_MARKS:
        return False
    script = _script_of(letter)
    return script in _KANA if mark in _KANA_MARKS else script != "" and script == _script_of(mark)


def _script_of(character: str) -> str:
    return unicodedata.name(character, "").partition(" ")[0] if character else ""


@cache
def _confusables() -> dict[int, int]:
    """The Latin letters and digits that other characters are drawn like. The file states its source.

    Its list has few of the letters that Latin alphabets add to the usual ones.
    """
    lines = files("zataku.reserved_names").joinpath("confusables.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split(" ") for line in lines if line and not line.startswith("#"))
    listed = {ord(character): ord(letter) for letter, characters in pairs for character in characters}
    named = ((code, _LATIN_WITH_MARK.fullmatch(unicodedata.name(chr(code), ""))) for code in _LATIN_EXTENSIONS)
    return {code: ord(found[1].lower()) for code, found in named if found} | listed
