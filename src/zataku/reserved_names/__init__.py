"""Names that nobody may take, since they would pass for the server, its hosts or another name that is protected."""

import re
from collections.abc import Iterable
from functools import lru_cache

from zataku.reserved_names.look_alikes import form_of, is_letter, look_alike_forms, readings


def _forms(*names: str) -> frozenset[str]:
    return frozenset(form for name in names for form in look_alike_forms(name))


RESERVED_NAMES = _forms(
    "admin", "admins", "administrator", "host", "hosts", "mod", "mods", "moderator", "moderators", "official",
    "operator", "organiser", "organizer", "owner", "presenter", "root", "server", "speaker", "staff", "support",
    "system", "zataku",
    # The first is the seal of a host on the pages; the Korean one is a syllable of many names, see below.
    "主", "管理者", "管理人", "アドミン", "ホスト", "ほすと", "司会", "司会者", "進行", "進行役", "主催", "主催者",
    "モデレーター", "モデレータ", "運営", "運営者", "公式", "スタッフ", "サーバー", "サーバ", "サポート", "システム",
    "発表", "発表者", "登壇者", "講師", "座卓", "ざたく", "ザタク",
    "관리자", "운영", "운영자", "운영진", "어드민", "호스트", "방장", "진행", "진행자", "사회자", "주최", "주최자",
    "주최측", "발표", "발표자", "연사", "강사", "모더레이터", "공식", "스태프", "스탭", "서버", "시스템", "자타쿠",
)  # fmt: skip
"""The names that are reserved, as `form_of` writes them."""

# Those that are hardly ever a word of a name: one of them beside any name makes it pass for a host's or an operator's.
_TITLE_WORDS = _forms(
    "admin", "administrator", "host", "moderator", "organiser", "organizer", "presenter",
    "管理者", "管理人", "ホスト", "司会", "司会者", "主催", "主催者", "モデレーター", "運営", "運営者", "発表者",
    "登壇者", "관리자", "운영자", "호스트", "방장", "진행자", "사회자", "주최자", "모더레이터", "발표자",
)  # fmt: skip
# How the pages call people without a name, with a number.
_ANONYMOUS = _forms("anonymous", "匿名", "名無し", "名無しさん", "익명")
# What is added to a name without making it another person's.
_ADDITIONS = _forms(
    "the", "your", "our", "real", "room", "live", "team",
    "さん", "さま", "様", "殿", "氏", "君", "くん", "ちゃん", "先生", "本人", "ご本人", "本物", "本物の",
    "님", "씨", "선생님", "본인", "진짜",
)  # fmt: skip
# Too short to be found anywhere but between spaces and signs: Thomas is not Thom.
_SHORT_ADDITIONS = re.compile(r"(?<![^\W_])(?:as|at|co|dr|mc|mr|mrs|ms|of|prof)(?![^\W_])|@")
_SEAL = re.compile(r"(?<![^\W_])[主주](?![^\W_])")
# Beside a name the Korean seal may be the family name Ju, and in round brackets it is short for a company.
_SEAL_BESIDE_A_NAME = re.compile(r"(?<![^\W_])主(?![^\W_])|[\[【〔「『]\s*주\s*[\]】〕」』]")
_IN_BRACKETS = re.compile(r"[(\[{<【〔「『《〈]([^()\[\]{}<>]+)[)\]}>】〕」』》〉]")
_BETWEEN_WORDS = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"\d+")
_NUMBER_AT_AN_END = re.compile(r"^[\W_\d]+|[\W_\d]+$")


def _any_of(forms: frozenset[str]) -> str:
    return "|".join(sorted(map(re.escape, forms), key=len, reverse=True))


_ROLE = re.compile(
    f"(?:{_any_of(_ADDITIONS)})*(?:{_any_of(RESERVED_NAMES)})(?:{_any_of(RESERVED_NAMES | _ADDITIONS)})*"
)
# In Japanese a title before a name is followed by a particle: 司会のみどり.
_TITLES = re.compile(f"(?:(?:{_any_of(RESERVED_NAMES)})の?|{_any_of(_ADDITIONS)})*")


def is_reserved(name: str) -> bool:
    """True for a name that would pass for the server, its operators, the host of a room or somebody without a name.

    It does so in every spelling; so would "The host", "Admin 2", "Co-host" or "호스트님".
    """
    return any(map(_is_reserved, readings(name)))


def _is_reserved(reading: str) -> bool:
    text, seals = _SEAL.subn(" ", reading)
    if seals and not any(map(is_letter, text)):
        return True
    if form_of(reading) in RESERVED_NAMES:
        return True
    form = _form_without_numbers(_SHORT_ADDITIONS.sub(" ", text))
    return form in _ANONYMOUS or _ROLE.fullmatch(form) is not None


def has_title(name: str) -> bool:
    """True for any name with a title as a word or the seal of a host beside it, such as "Bob (Host)" or "主 Bob".

    It would pass for the host's where nobody knows how the host is called.
    """
    return any(map(_has_title, readings(name)))


def _has_title(reading: str) -> bool:
    """Whether a reading has the seal of a host, a title as a word, or anything reserved in brackets."""
    if _SEAL_BESIDE_A_NAME.search(reading):
        return True
    if any(_form_without_numbers(word) in _TITLE_WORDS for word in _BETWEEN_WORDS.split(reading)):
        return True
    in_brackets = (_form_without_numbers(_SEAL.sub(" ", it)) for it in _IN_BRACKETS.findall(reading))
    return any(map(_ROLE.fullmatch, in_brackets))


def _form_without_numbers(text: str) -> str:
    return form_of(_NUMBER_AT_AN_END.sub("", text))


def passes_for(name: str, others: Iterable[str]) -> bool:
    """True when a name looks like one of the others, alone or with titles, such as "Ada (Host)" for "Ada"."""
    read = readings(name)
    return any(
        _passes_for(reading, known)
        for other in others
        for reading, known in zip(read, _known_forms(other), strict=True)
    )


_known_forms = lru_cache(4096)(look_alike_forms)


def _passes_for(reading: str, known: str) -> bool:
    """Whether a reading is a known form, alone or with titles. A number makes it another's, but not with a title."""
    if any(_is_titled(form, known) for form in _forms_without_additions(reading)):
        return True
    without_numbers = _forms_without_additions(_NUMBER.sub(" ", reading))
    return any(form != known and _is_titled(form, known) for form in without_numbers)


def _forms_without_additions(reading: str) -> frozenset[str]:
    """The forms of a reading as it is, without seals, and without short titles, which may all belong to the name."""
    text = _SEAL.sub(" ", reading)
    return frozenset(map(form_of, (reading, text, _SHORT_ADDITIONS.sub(" ", text))))


def _is_titled(form: str, other: str) -> bool:
    if not other:
        return not form
    before, found, after = form.partition(other)
    return bool(found) and _TITLES.fullmatch(before) is not None and _TITLES.fullmatch(after) is not None
