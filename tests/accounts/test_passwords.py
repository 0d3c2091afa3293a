"""Passwords: which are accepted, how they are hashed, and what an attempt reveals."""

import asyncio
import os
import sys
import threading
from importlib.resources import files
from typing import Any

import pytest
from argon2 import PasswordHasher
from argon2.profiles import RFC_9106_LOW_MEMORY

from tests.accounts.account_services import OTHER_PASSWORD, PASSWORD, AccountHarness, fast_hasher
from zataku.accounts.passwords import (
    DEFAULT_HASHER,
    MIN_PASSWORD_LENGTH,
    Passwords,
    check_password,
    common_passwords,
)
from zataku.accounts.secrets import Secret
from zataku.errors import InvalidRequest, Unavailable
from zataku.text import fold


async def test_only_the_right_password_matches_a_hash(passwords: Passwords) -> None:
    hashed = await passwords.hash(PASSWORD)
    assert hashed.startswith("$argon2id$v=19$")
    assert PASSWORD.reveal() not in hashed
    assert await passwords.matches(hashed, PASSWORD)
    assert not await passwords.matches(hashed, OTHER_PASSWORD)


async def test_each_hash_of_a_password_has_its_own_salt(passwords: Passwords) -> None:
    assert await passwords.hash(PASSWORD) != await passwords.hash(PASSWORD)


async def test_unicode_forms_of_a_password_are_equal(passwords: Passwords) -> None:
    hashed = await passwords.hash(Secret("ｐａｓｓｗｏｒｄが"))
    assert await passwords.matches(hashed, Secret("passwordか\u3099"))


class CountingHasher(PasswordHasher):
    """A hasher that records the hashes it verifies."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=64, parallelism=1)
        self.verified: list[str] = []

    def verify(self, hash: Any, password: Any) -> Any:  # noqa: A002 - as its parent names it
        self.verified.append(str(hash))
        return super().verify(hash, password)


async def test_an_unknown_name_costs_as_much_work_as_a_known_one() -> None:
    hasher = CountingHasher()
    passwords = Passwords(hasher)
    try:
        hashed = await passwords.hash(PASSWORD)
        assert not await passwords.matches(hashed, OTHER_PASSWORD)
        assert not await passwords.matches(None, OTHER_PASSWORD)
    finally:
        passwords.close()
    known, placeholder = hasher.verified
    assert known.rpartition("$")[0].split("$")[:4] == placeholder.split("$")[:4]


async def test_a_password_with_a_lone_surrogate_is_wrong(passwords: Passwords) -> None:
    hashed = await passwords.hash(PASSWORD)
    assert not await passwords.matches(hashed, Secret("correct \ud800"))


async def test_no_password_matches_a_malformed_hash(passwords: Passwords) -> None:
    assert not await passwords.matches("$argon2id$broken", PASSWORD)


async def test_a_hash_with_earlier_parameters_is_outdated(passwords: Passwords) -> None:
    assert not passwords.is_outdated(await passwords.hash(PASSWORD))
    assert passwords.is_outdated(fast_hasher(passes=2).hash("correct horse"))


def test_the_default_parameters_are_those_of_rfc_9106() -> None:
    assert (DEFAULT_HASHER.type, DEFAULT_HASHER.time_cost, DEFAULT_HASHER.memory_cost, DEFAULT_HASHER.parallelism) == (
        RFC_9106_LOW_MEMORY.type,
        3,
        65536,
        4,
    )


class BlockedHasher(PasswordHasher):
    """A hasher that waits until the test releases it."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=64, parallelism=1)
        self.released = threading.Event()

    def hash(self, *arguments: Any, **options: Any) -> str:
        self.released.wait(5)
        return super().hash(*arguments, **options)


async def test_passwords_are_hashed_with_the_lowest_priority() -> None:
    priorities: list[int] = []

    class ObservedHasher(PasswordHasher):
        def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
            priorities.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
            return fast_hasher().hash(password, salt=salt)

    passwords = Passwords(ObservedHasher())
    before = os.getpriority(os.PRIO_PROCESS, 0)
    await passwords.hash(PASSWORD)
    passwords.close()
    # Only Linux has priorities of threads.
    assert priorities == [19 if sys.platform == "linux" else before]
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


async def test_a_full_queue_refuses_further_passwords() -> None:
    hasher = BlockedHasher()
    passwords = Passwords(hasher, threads=1, max_queued=2)
    try:
        waiting = [asyncio.create_task(passwords.hash(PASSWORD)) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(Unavailable) as error:
            await passwords.hash(PASSWORD)
        assert error.value.code == "busy"
        hasher.released.set()
        assert len(set(await asyncio.gather(*waiting))) == 3
        assert await passwords.hash(PASSWORD)
    finally:
        hasher.released.set()
        passwords.close()


@pytest.mark.parametrize("text", ["", "short", "1234567", "x" * 201, "\ufdfa" * 12])
def test_a_new_password_has_8_to_200_characters_after_normalization(text: str) -> None:
    with pytest.raises(InvalidRequest) as error:
        check_password(Secret(text), "Hana")
    assert error.value.code == "bad_password"


@pytest.mark.parametrize("text", ["1357 642", "xy" * 100, "비밀번호는여덟자"])
def test_passwords_at_the_limits_are_accepted(text: str) -> None:
    check_password(Secret(text), "Hana")


@pytest.mark.parametrize("text", ["otto_the_owl", "OTTO_the_owl", "ｏtto_the_owl"])
def test_the_account_name_is_refused_as_password(text: str) -> None:
    with pytest.raises(InvalidRequest):
        check_password(Secret(text), "otto_the_owl")


COMMON = [
    "password",
    "12345678",
    "PASSWORD1",
    "ｐassword",
    "iloveyou",
    "qwertyuiop",
    "P@ssw0rd",
    "1q2w3e4r",
    "admin123",
    " password ",
    "00000000",
    "あああああああああ",
    "          ",
]
OF_NAMES = ["Hanako2026", "hanako!!", "123hanako", "ＨＡＮＡＫＯ99", "zataku2026", "Zataku!!", "12zataku34"]


@pytest.mark.parametrize("text", [*COMMON, *OF_NAMES])
def test_a_password_that_is_tried_first_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match="too easy to guess") as refused:
        check_password(Secret(text), "Hanako")
    assert refused.value.code == "common_password"


@pytest.mark.parametrize(
    "text", ["hanako and otto", "zatakutable", "12345678 seats", "20260221!!", "座卓のそばの猫たち"]
)
def test_a_password_is_not_refused_for_what_it_contains(text: str) -> None:
    check_password(Secret(text), "Hanako")
    check_password(Secret(text), None)
    check_password(Secret(text), "007")


def test_the_list_of_common_passwords_has_only_what_could_be_chosen_and_states_its_source() -> None:
    text = files("zataku.accounts").joinpath("common_passwords.txt").read_text(encoding="utf-8")
    assert "Source: SecLists" in text
    assert "MIT License" in text
    assert len(common_passwords()) > 300
    assert all(len(each) >= MIN_PASSWORD_LENGTH and each == fold(each) for each in common_passwords())


async def test_nobody_can_choose_a_common_password(harness: AccountHarness) -> None:
    for attempt in (
        harness.accounts.sign_up(harness.guest(), "Hanako", Secret("hanako2026"), ""),
        harness.accounts.sign_up(harness.guest(), "Hanako", Secret("password1"), ""),
    ):
        with pytest.raises(InvalidRequest, match="too easy"):
            await attempt
    assert await harness.accounts.find("Hanako") is None
    user, token = await harness.user("Hanako")
    person = await harness.identity_of(token)
    with pytest.raises(InvalidRequest, match="too easy"):
        await harness.accounts.change_password(person, PASSWORD, Secret("zataku123"), "")
    with pytest.raises(InvalidRequest, match="too easy"):
        await harness.accounts.reset_password(user, Secret("iloveyou"))


def test_a_printed_secret_is_hidden() -> None:
    secret = Secret("correct horse")
    assert "horse" not in f"{secret} {secret!r} {[secret]} {secret:}"
