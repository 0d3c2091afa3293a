"""Passwords: which are taken, how they are kept, and what can be learnt from trying."""

import asyncio
import threading
from typing import Any

import pytest
from argon2 import PasswordHasher
from argon2.profiles import RFC_9106_LOW_MEMORY

from tests.accounts.account_services import OTHER, PASSWORD, quick
from zataku.accounts.passwords import DEFAULT_HASHER, Passwords, check_password
from zataku.accounts.secrets import Secret
from zataku.errors import InvalidRequest, Unavailable


async def test_a_password_matches_what_was_kept_of_it_and_nothing_else(passwords: Passwords) -> None:
    kept = await passwords.hash(PASSWORD)
    assert kept.startswith("$argon2id$v=19$")
    assert PASSWORD.reveal() not in kept
    assert await passwords.matches(kept, PASSWORD)
    assert not await passwords.matches(kept, OTHER)


async def test_one_password_is_kept_differently_each_time(passwords: Passwords) -> None:
    assert await passwords.hash(PASSWORD) != await passwords.hash(PASSWORD)


async def test_a_password_is_the_same_however_it_is_typed(passwords: Passwords) -> None:
    kept = await passwords.hash(Secret("ｐａｓｓｗｏｒｄが"))
    assert await passwords.matches(kept, Secret("passwordか\u3099"))


class Counting(PasswordHasher):
    """Counts how often something is really held against a hash."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=64, parallelism=1)
        self.held: list[str] = []

    def verify(self, hash: Any, password: Any) -> Any:  # noqa: A002 - as its parent names it
        self.held.append(str(hash))
        return super().verify(hash, password)


async def test_a_name_that_nobody_has_costs_the_same_work() -> None:
    hasher = Counting()
    passwords = Passwords(hasher)
    try:
        kept = await passwords.hash(PASSWORD)
        assert not await passwords.matches(kept, OTHER)
        assert not await passwords.matches(None, OTHER)
    finally:
        passwords.close()
    known, nobodys = hasher.held
    assert known.rpartition("$")[0].split("$")[:4] == nobodys.split("$")[:4]


async def test_half_a_character_can_be_typed_and_is_only_wrong(passwords: Passwords) -> None:
    kept = await passwords.hash(PASSWORD)
    assert not await passwords.matches(kept, Secret("correct \ud800"))


async def test_what_is_no_hash_at_all_lets_nobody_in(passwords: Passwords) -> None:
    assert not await passwords.matches("$argon2id$broken", PASSWORD)


async def test_what_was_kept_with_earlier_parameters_is_outdated(passwords: Passwords) -> None:
    assert not passwords.is_outdated(await passwords.hash(PASSWORD))
    assert passwords.is_outdated(quick(passes=2).hash("correct horse"))


def test_a_server_uses_what_rfc_9106_recommends() -> None:
    assert (DEFAULT_HASHER.type, DEFAULT_HASHER.time_cost, DEFAULT_HASHER.memory_cost, DEFAULT_HASHER.parallelism) == (
        RFC_9106_LOW_MEMORY.type,
        3,
        65536,
        4,
    )


class Stuck(PasswordHasher):
    """Takes until the test says so."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=64, parallelism=1)
        self.go_on = threading.Event()

    def hash(self, *words: Any, **named: Any) -> str:
        self.go_on.wait(5)
        return super().hash(*words, **named)


async def test_more_than_fit_into_the_queue_are_told_to_come_back() -> None:
    hasher = Stuck()
    passwords = Passwords(hasher, threads=1, max_queued=2)
    try:
        waiting = [asyncio.create_task(passwords.hash(PASSWORD)) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(Unavailable) as refused:
            await passwords.hash(PASSWORD)
        assert refused.value.code == "busy"
        hasher.go_on.set()
        assert len(set(await asyncio.gather(*waiting))) == 3
        assert await passwords.hash(PASSWORD)
    finally:
        hasher.go_on.set()
        passwords.close()


@pytest.mark.parametrize("text", ["", "short", "1234567", "x" * 201, "\ufdfa" * 12])
def test_a_new_password_has_8_to_200_characters_as_they_are_kept(text: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        check_password(Secret(text), "Hana")
    assert refused.value.code == "bad_password"


@pytest.mark.parametrize("text", ["12345678", "x" * 200, "비밀번호는여덟자"])
def test_a_password_at_the_limits_is_taken(text: str) -> None:
    check_password(Secret(text), "Hana")


@pytest.mark.parametrize("text", ["otto_the_owl", "OTTO_the_owl", "ｏtto_the_owl"])
def test_the_own_name_is_no_password(text: str) -> None:
    with pytest.raises(InvalidRequest):
        check_password(Secret(text), "otto_the_owl")


def test_a_secret_is_not_shown_where_it_is_printed() -> None:
    secret = Secret("correct horse")
    assert "horse" not in f"{secret} {secret!r} {[secret]} {secret:}"
