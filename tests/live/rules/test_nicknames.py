"""Nicknames that a room refuses to everybody but its host, and the numbers of senders without one."""

import pytest

from zataku.errors import RequestError
from zataku.live.limits import ANONYMOUS, MAX_HOST_NAMES, SenderId
from zataku.live.rules.nicknames import AnonymousSenders, add_host_names, check_nickname

HOST_NAMES = ("Midori", "田中 一郎", "🍵")


def code_of(nickname: str) -> str | None:
    """The code of the error for a nickname in a room of this host."""
    try:
        check_nickname(nickname, HOST_NAMES)
    except RequestError as refused:
        return refused.code
    return None


@pytest.mark.parametrize(
    "nickname",
    [
        "Midori", "midori", "ＭＩＤＯＲＩ", "Mi dori", "M-i-d-o-r-i", "Mid\u200bori", "Мidоri", "Mıdori", "Midórí",
        "M1d0r1", "Midori\u3164", "Midori.", "田中一郎", "田中　一郎", "🍵", "🍵\ufe0f",
        # As the pages write the host's name, with the seal and the word beside it.
        "Midori Host", "Midori 主", "[主] Midori (Host)", "田中一郎（司会）", "Midori 주",
    ],
)  # fmt: skip
def test_nobody_takes_the_name_of_the_host_or_one_that_looks_like_it(nickname: str) -> None:
    assert code_of(nickname) == "name_of_host"


@pytest.mark.parametrize(
    "nickname",
    [
        "host",
        "Ｈｏｓｔ",
        "Moderator",
        "司会",
        "호스트",
        "anonymous",
        "Anonymous 12",
        "名無しさん3",
        "익명 #7",
        "Аnonymous 4",
        "Host 1",
        "The host",
        "主",
        "호스트님",
        # Nobody knows how the host of a talk is called.
        "Bob (Host)",
        "[主] Bob",
        "主 Bob",
        "ボブ（ホスト）",
        "호스트 철수",
    ],
)
def test_nobody_takes_a_name_of_the_pages(nickname: str) -> None:
    assert code_of(nickname) == "name_reserved"


@pytest.mark.parametrize("nickname", [ANONYMOUS, "Midoriko", "みどり", "田中二郎", "12", "匿名希望", "☕"])
def test_all_other_nicknames_are_free(nickname: str) -> None:
    assert code_of(nickname) is None


def test_the_latest_names_of_the_host_are_known_once_each() -> None:
    assert add_host_names((), ("Midori", None, ANONYMOUS, "みどり", "Midori")) == ("Midori", "みどり")
    many = add_host_names(("first",), map(str, range(MAX_HOST_NAMES)))
    assert (len(many), many[-1]) == (MAX_HOST_NAMES, str(MAX_HOST_NAMES - 1))
    assert "first" not in many


def test_the_number_of_a_removed_account_is_not_given_again() -> None:
    sora, yuna = SenderId("guest:sora"), SenderId("guest:yuna")
    senders = AnonymousSenders().with_numbers({sora: 1, yuna: 2}).without(yuna)
    assert (senders.numbers, senders.last) == ({sora: 1}, 2)
