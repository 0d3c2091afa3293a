"""Names that nobody may take, since they would pass for the server or its hosts, and the form that look-alikes share.

Accounts may have names that look alike (see `platform.names`); this form is for names that must not be imitated. It is
coarser than any reader: letters of different scripts that are drawn alike are the same, and so are 0 and o, or I, l
and 1.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from zataku.text import BLANKS, VARIATIONS, fold, is_visible

_LATIN_MARKS = re.compile("[\u0300-\u036f]")
_DRAWN_ALIKE = str.maketrans(
    # Cyrillic, Greek, Armenian, Cherokee, Latin small capitals, digits and signs, as folding leaves them.
    "авекмнорстухіјѕһԁԛԝӏ" + "αβεζηικμνορτυχω" + "օսհ" + "ᎪᏴᏟᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᏒᏚᎢᏙᎳᎩᏃ"
    + "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢɑɡı" + "01i|35@$〇○"
    # Kanji and hiragana that are drawn like katakana.
    + "口力工二卜八夕一へり",
    "abekmhopctyxljshdqwl" + "abezhlkmvoptyxw" + "ouh" + "abcdeghljklmprstvwyz"
    + "abcdefghljklmnoprstuvwyzagl" + "olllesasoo"
    + "ロカエニトハターヘリ",
)  # fmt: skip
# Letters of emoji, in black circles and squares. An i is as above.
_EMOJI = {first + at: ord("abcdefghljklmnopqrstuvwxyz"[at]) for first in (0x1F150, 0x1F170) for at in range(26)}
_LOOK_ALIKES = _DRAWN_ALIKE | _EMOJI
_PAIRS = (("rn", "m"), ("vv", "w"))
_MAX_COMPARED = 120
"""Characters of a folded name that are compared: a name of thirty may fold to hundreds, and is checked on the loop."""


def look_alike_form(name: str) -> str:
    """The form that a name shares with all names that can be taken for it: its letters and digits, as they are drawn.

    A name without letters, such as an emoji, is compared by its visible characters.
    """
    return _form_of(_folded(name))


def _folded(name: str) -> str:
    return fold(name)[:_MAX_COMPARED]


def _form_of(folded: str) -> str:
    decomposed = unicodedata.normalize("NFD", folded)
    drawn = unicodedata.normalize("NFKC", _LATIN_MARKS.sub("", decomposed).translate(_LOOK_ALIKES))
    form = "".join(filter(_is_letter, drawn))
    for pair, letter in _PAIRS:
        form = form.replace(pair, letter)
    return form or "".join(filter(is_visible, drawn))


def _is_letter(character: str) -> bool:
    return unicodedata.category(character)[0] in "LNM" and character not in BLANKS and character not in VARIATIONS


def _forms(*names: str) -> frozenset[str]:
    return frozenset(map(look_alike_form, names))


RESERVED_NAMES = _forms(
    "admin", "administrator", "host", "mod", "moderator", "official", "operator", "organiser", "organizer", "owner",
    "presenter", "root", "server", "speaker", "staff", "support", "system", "zataku",
    # The first is the seal of a host on the pages; the Korean one is a syllable of many names, see below.
    "主", "管理者", "管理人", "アドミン", "ホスト", "司会", "司会者", "主催", "主催者", "モデレーター", "モデレータ",
    "運営", "運営者", "公式", "スタッフ", "サーバー", "サーバ", "サポート", "システム", "発表者", "登壇者", "講師",
    "座卓", "ざたく", "ザタク",
    "관리자", "운영", "운영자", "운영진", "어드민", "호스트", "진행자", "사회자", "주최자", "발표자", "연사", "강사",
    "모더레이터", "공식", "스태프", "스탭", "서버", "시스템", "자타쿠",
)  # fmt: skip
"""The names that are reserved, as `look_alike_form` writes them."""

# What is added to a name without making it another person's.
_ADDITIONS = _forms(
    "the", "your", "our", "real", "room", "live", "team",
    "さん", "さま", "様", "殿", "氏", "君", "くん", "ちゃん", "先生", "님", "씨", "선생님",
)  # fmt: skip
_SEAL = re.compile(r"(?<![^\W_])[主주](?![^\W_])")
_NUMBER_AT_AN_END = re.compile(r"^[\W_\d]+|[\W_\d]+$")


def _any_of(forms: frozenset[str]) -> str:
    return "|".join(sorted(map(re.escape, forms), key=len, reverse=True))


_ROLE = re.compile(
    f"(?:{_any_of(_ADDITIONS)})*(?:{_any_of(RESERVED_NAMES)})(?:{_any_of(RESERVED_NAMES | _ADDITIONS)})*"
)
_TITLES = re.compile(f"(?:{_any_of(RESERVED_NAMES | _ADDITIONS)})*")


def is_reserved(name: str) -> bool:
    """True for a name that would pass for the server, its operators or the host of a room, in every spelling.

    So would "The host", "Admin 2" or "호스트님".
    """
    folded = _folded(name)
    text, seals = _SEAL.subn(" ", folded)
    if seals and not any(map(_is_letter, text)):
        return True
    form = _form_of(_NUMBER_AT_AN_END.sub("", text))
    return _ROLE.fullmatch(form) is not None or _form_of(folded) in RESERVED_NAMES


def passes_for(name: str, others: Iterable[str]) -> bool:
    """True when a name looks like one of the others, alone or with titles, such as "Ada (Host)" for "Ada"."""
    folded = _folded(name)
    text, seals = _SEAL.subn(" ", folded)
    # The syllable may belong to the other name, too.
    forms = [_form_of(folded), _form_of(text)] if seals else [_form_of(folded)]
    return any(_is_titled(form, _known_form(other)) for other in others for form in forms)


_known_form = lru_cache(4096)(look_alike_form)


def _is_titled(form: str, other: str) -> bool:
    if not other:
        return not form
    before, found, after = form.partition(other)
    return bool(found) and _TITLES.fullmatch(before) is not None and _TITLES.fullmatch(after) is not None
