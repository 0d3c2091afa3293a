"""Names that nobody may take, in the spellings in which they would still pass for the server or a host."""

import pytest

from zataku.errors import InvalidRequest
from zataku.platform.names import normalize_name
from zataku.reserved_names import has_title, is_reserved, passes_for
from zataku.reserved_names.look_alikes import look_alike_forms


@pytest.mark.parametrize(
    "name",
    [
        "admin", "Admin", "ＡＤＭＩＮ", "ad min", "a.d.m.i.n", "adm1n", "аdmin", "ádmin", "ad\u200bmin", "ʜᴏꜱᴛ",
        "H0ST", "Hоst", "moderator", "rnoderator", "Zataku", "System", "5ystem", "ホスト", "ﾎｽﾄ", "ホス卜", "管理者",
        "운영자", "호 스 트", "시스템", "root", "Ꮋost", "🅷🅾🆂🆃", "主", "[주]",
        "Ho\u05b0st", "H\u20ddost", "Admin\u1dc4", "主\u20e3", "주\u20de", "H০st", "ꓧost", "Admins",
        "익명 7", "名無しさん", "ほすと", "방장", "진행", "㊟", "🇭🇴🇸🇹", "ɦosƫ",
    ],
)  # fmt: skip
def test_a_reserved_name_is_recognised_in_every_spelling(name: str) -> None:
    assert is_reserved(name)


@pytest.mark.parametrize(
    "name",
    [
        "Admin1",
        "admin 2",
        "The host",
        "Room host",
        "Live-Host 3",
        "호스트님",
        "ホストさん",
        "公式 운영진",
        "Co-host",
        "As host",
    ],
)
def test_a_reserved_name_with_a_number_or_a_title_is_reserved(name: str) -> None:
    assert is_reserved(name)


@pytest.mark.parametrize(
    "name",
    [
        "Bob (Host)", "Bob Host", "Your host Bob", "Bob_Admin", "bob.admin", "H0st Bob", "Host 2, Bob", "Bob ★Host★",
        "ボブ（ホスト）", "管理者 ボブ", "호스트 철수", "Bob (Speaker)", "[Mod] Bob", "Bob (Co-host)", "철수 (강사)",
        "主 Bob", "[主] Bob", "Bob（主）", "[주] 철수",
    ],
)  # fmt: skip
def test_a_title_or_the_seal_beside_any_name_is_found(name: str) -> None:
    assert has_title(name)


@pytest.mark.parametrize(
    "name",
    [
        "Bob (PhD)", "Bob Staff", "Mod Squad", "Root Beer", "Zataku fan", "주 영희", "영희 주", "㈜다날",
        "(주)다날 철수", "亭主 太郎", "猫の主", "김진행", "()", "[]",
    ],
)  # fmt: skip
def test_a_word_that_only_sounds_like_a_title_is_none(name: str) -> None:
    assert not has_title(name)
    assert not is_reserved(name)


@pytest.mark.parametrize(
    "name",
    [
        "みどり",
        "hana",
        "Adminton",
        "Hosta",
        "하늘",
        "systema",
        "ねこ🐈",
        "🐈",
        "0",
        "Ghost",
        "主税",
        "room 2",
        "지원",
        "🇯🇵",
        "MC",
        "As",
        "Dr",
    ],
)
def test_other_names_are_free(name: str) -> None:
    assert not is_reserved(name)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("みどり", "みとり"),
        ("はな", "ばな"),
        ("하늘", "하날"),
        ("🐈", "🐕"),
        ("さくら1", "さくら2"),
        ("กิน", "กัน"),
        ("राम", "रमा"),
        ("ハハ", "パパ"),
    ],
)
def test_names_that_a_reader_tells_apart_have_different_forms(one: str, other: str) -> None:
    assert not set(look_alike_forms(one)) & set(look_alike_forms(other))


@pytest.mark.parametrize("typed", ["admin", " ADMIN ", "ホスト", "관리자"])
def test_no_account_gets_a_reserved_name(typed: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        normalize_name(typed)
    assert refused.value.code == "name_reserved"


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Ada", "ada"), ("Ada Host", "Ada"), ("[主] Ada (Host)", "Ada"), ("the real Ada", "Ada"),
        ("みどりさん", "みどり"), ("司会みどり", "みどり"), ("민수님", "민수"),
        ("[주] 민수", "민수"), ("주 영", "주영"), ("🍵", "🍵"), ("¨", "´"),
        ("Ada Lovelace as host", "Ada Lovelace"), ("Dr. Ada", "Ada"), ("Ada@host", "Ada"), ("Ada™", "Ada"),
        ("みどり(本人)", "みどり"), ("本物のみどり", "みどり"), ("민수 본인", "민수"),
        ("Ada (Host) 2", "Ada"), ("Host Ada2", "Ada"), ("Ada 2, host", "Ada"), ("司会のみどり", "みどり"),
        ("민수(진행)", "민수"), ("MC Ada", "Ada"), ("Ada ㊟", "Ada"), ("🇦🇩🇦", "Ada"), ("Ada 🇫🇷", "Ada"),
    ],
)  # fmt: skip
def test_a_name_with_titles_passes_for_the_name_without(name: str, other: str) -> None:
    assert passes_for(name, ["Grace", other])


@pytest.mark.parametrize(
    "mark",
    list(
        "\u05b0\u05c4\u064b\u0483\u1ab0\u1dc4\u20d0\u20d8\ufe20\u302a\u3099\u0e4d\u0345\u0951\u135f\u0f35\U00016fe4\u0488\u20dd\u20de\u20e3"
    ),
)
def test_a_mark_of_another_script_does_not_make_another_name(mark: str) -> None:
    assert passes_for(f"Ada{mark}", ["Ada"])
    assert passes_for(f"A{mark}da", ["Ada"])
    assert passes_for(f"主{mark} Ada", ["Ada"])


@pytest.mark.parametrize(
    "name",
    ["ꓮda Vinci", "Ⲁda Vinci", "ᗅda Vinci", "Ad⍺ Vinci", "Ada ∨inci", "Αda Vinci", "Ada Vιnci", "Adа Vinci",
     "Ada Viηci", "Ada Vinçi", "Ađa Vinci", "Ⱥᶑⱥ Vinci", "Ada Ʋinci", "Ada Viȵci"],
)  # fmt: skip
def test_a_name_in_letters_that_are_drawn_alike_passes_for_the_other(name: str) -> None:
    assert passes_for(name, ["Ada Vinci"])


def test_a_greek_name_in_other_capitals_passes_for_itself() -> None:
    assert passes_for("νίνα", ["Νίνα"])


def test_a_kana_with_a_sound_mark_of_its_own_passes_for_the_composed_one() -> None:
    assert passes_for("みと゛り", ["みどり"])


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Adam", "Ada"),
        ("Tomas", "Tom"),
        ("Nicole", "Ni"),
        ("Drew", "Ew"),
        ("Ada Lovelace", "Ada"),
        ("Ada 2", "Ada"),
        ("2 Adas", "Ada"),
        ("Dr. Ada 2", "Ada"),
        ("12", "3"),
        ("McDonald", "Donald"),
        ("のみどり", "みどり"),
        ("みどりこ", "みどり"),
        ("서연주", "서연"),
        ("Ada", "¨"),
    ],
)
def test_a_longer_name_is_another_one(name: str, other: str) -> None:
    assert not passes_for(name, ["Grace", other])


def test_the_compared_form_of_a_name_is_bounded() -> None:
    # Thirty characters that are eighteen letters each.
    assert max(map(len, look_alike_forms("\ufdfa" * 30))) <= 120
