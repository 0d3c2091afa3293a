"""Names that nobody may take, since they would pass for the server or its hosts, and the form that look-alikes share.

Accounts may have names that look alike (see `platform.names`); this form is for names that must not be imitated. It is
coarser than any reader: letters of different scripts that are drawn alike are the same, and so are 0 and o, or I, l
and 1.
"""

import re
import unicodedata

from zataku.text import BLANKS, VARIATIONS, fold, is_visible

_LATIN_MARKS = re.compile("[\u0300-\u036f]")
_LOOK_ALIKES = str.maketrans(
    # Cyrillic, Greek, Armenian, Latin small capitals, digits and signs; in lower case, as folding leaves them.
    "авекмнорстухіјѕһԁԛԝӏ" + "αβεζηικμνορτυχω" + "օսհ" + "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢɑɡı" + "01i|35@$〇○"
    # Kanji and hiragana that are drawn like katakana.
    + "口力工二卜八夕一へり",
    "abekmhopctyxljshdqwl" + "abezhlkmvoptyxw" + "ouh" + "abcdefghljklmnoprstuvwyzagl" + "olllesasoo"
    + "ロカエニトハターヘリ",
)  # fmt: skip
_PAIRS = (("rn", "m"), ("vv", "w"))


def look_alike_form(name: str) -> str:
    """The form that a name shares with all names that can be taken for it: its letters and digits, as they are drawn.

    A name without letters, such as an emoji, is compared by its visible characters.
    """
    folded = unicodedata.normalize("NFD", fold(name))
    drawn = unicodedata.normalize("NFKC", _LATIN_MARKS.sub("", folded).translate(_LOOK_ALIKES))
    form = "".join(filter(_is_letter, drawn))
    for pair, letter in _PAIRS:
        form = form.replace(pair, letter)
    return form or "".join(filter(is_visible, drawn))


def _is_letter(character: str) -> bool:
    return unicodedata.category(character)[0] in "LNM" and character not in BLANKS and character not in VARIATIONS


RESERVED_NAMES = frozenset(
    map(
        look_alike_form,
        (
            "admin", "administrator", "host", "mod", "moderator", "official", "staff", "system", "zataku",
            "管理者", "管理人", "アドミン", "ホスト", "司会", "司会者", "主催", "主催者", "モデレーター", "モデレータ",
            "運営", "運営者", "公式", "スタッフ", "システム", "座卓", "ざたく", "ザタク",
            "관리자", "운영자", "운영진", "어드민", "호스트", "진행자", "사회자", "주최자", "모더레이터", "공식",
            "스태프", "스탭", "시스템", "자타쿠",
        ),
    )
)  # fmt: skip
"""The names that are reserved, as `look_alike_form` writes them."""


def is_reserved(name: str) -> bool:
    """True for a name that would pass for the server, its operators or the host of a room, in every spelling."""
    return look_alike_form(name) in RESERVED_NAMES
