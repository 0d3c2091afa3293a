"""Names that nobody may take, in the spellings in which they would still pass for the server or a host."""

import pytest

from zataku.errors import InvalidRequest
from zataku.platform.names import normalize_name
from zataku.reserved_names import is_reserved, look_alike_form, passes_for


@pytest.mark.parametrize(
    "name",
    [
        "admin", "Admin", "ＡＤＭＩＮ", "ad min", "a.d.m.i.n", "adm1n", "аdmin", "ádmin", "ad\u200bmin", "ʜᴏꜱᴛ",
        "H0ST", "Hоst", "moderator", "rnoderator", "Zataku", "System", "5ystem", "ホスト", "ﾎｽﾄ", "ホス卜", "管理者",
        "운영자", "호 스 트", "시스템", "root", "Ꮋost", "🅷🅾🆂🆃", "主", "[주]",
    ],
)  # fmt: skip
def test_a_reserved_name_is_recognised_in_every_spelling(name: str) -> None:
    assert is_reserved(name)


@pytest.mark.parametrize(
    "name", ["Admin1", "admin 2", "The host", "Room host", "Live-Host 3", "호스트님", "ホストさん", "公式 운영진"]
)
def test_a_reserved_name_with_a_number_or_a_title_is_reserved(name: str) -> None:
    assert is_reserved(name)


@pytest.mark.parametrize(
    "name",
    ["みどり", "hana", "Adminton", "Hosta", "하늘", "systema", "ねこ🐈", "🐈", "0", "Ghost", "主税", "room 2", "지원"],
)
def test_other_names_are_free(name: str) -> None:
    assert not is_reserved(name)


@pytest.mark.parametrize(
    ("one", "other"), [("みどり", "みとり"), ("はな", "ばな"), ("하늘", "하날"), ("🐈", "🐕"), ("さくら1", "さくら2")]
)
def test_names_that_a_reader_tells_apart_have_different_forms(one: str, other: str) -> None:
    assert look_alike_form(one) != look_alike_form(other)


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
    ],
)  # fmt: skip
def test_a_name_with_titles_passes_for_the_name_without(name: str, other: str) -> None:
    assert passes_for(name, ["Grace", other])


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Adam", "Ada"),
        ("Ada Lovelace", "Ada"),
        ("Ada 2", "Ada"),
        ("みどりこ", "みどり"),
        ("서연주", "서연"),
        ("Ada", "¨"),
    ],
)
def test_a_longer_name_is_another_one(name: str, other: str) -> None:
    assert not passes_for(name, ["Grace", other])


def test_the_compared_form_of_a_name_is_bounded() -> None:
    # Thirty characters that are eighteen letters each.
    assert len(look_alike_form("\ufdfa" * 30)) <= 120
