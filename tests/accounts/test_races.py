"""Concurrent calls, on stores that throttle, delay and lose replies."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from tests.accounts.account_services import OTHER_PASSWORD, PASSWORD, AccountHarness
from zataku.accounts.secrets import Secret
from zataku.accounts.sessions import MAX_SESSIONS
from zataku.errors import RequestError
from zataku.platform.design import account, job, owner_of_name

MANY = 8
T = TypeVar("T")


async def settle(*attempts: Awaitable[T]) -> tuple[list[T], list[str]]:
    """The results of the calls that succeeded, and the error codes of the refused ones. Other errors are raised."""
    results: list[T] = []
    codes: list[str] = []
    for outcome in await asyncio.gather(*attempts, return_exceptions=True):
        if isinstance(outcome, RequestError):
            codes.append(outcome.code)
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            results.append(outcome)
    return results, codes


async def test_concurrent_sign_ups_for_one_name_have_one_winner(racing: AccountHarness) -> None:
    results, codes = await settle(*(racing.user(name) for name in ["Hana", "hana", "ＨＡＮＡ", "HANA"] * 2))
    ((user, token),) = results
    assert codes == ["name_taken"] * (MANY - 1)
    claim = await racing.store.get(owner_of_name("hana"))
    assert claim is not None
    assert claim.account_id == user.account_id
    assert await racing.authenticate_session(token) is not None


async def test_concurrent_sign_ups_of_one_guest_have_one_winner(racing: AccountHarness) -> None:
    guest = await racing.authenticator.ensure_account(racing.guest())
    results, codes = await settle(*(racing.user(f"Hana {number}", guest) for number in range(MANY)))
    assert len(results) == 1
    assert set(codes) == {"not_this_guest"}
    claims = await racing.store.get_many([owner_of_name(f"Hana {number}") for number in range(MANY)])
    assert len([claim for claim in claims if claim]) == 1


async def test_a_guest_can_sign_up_while_their_account_is_created(racing: AccountHarness) -> None:
    guest = racing.guest()
    stored, signed_up = await asyncio.gather(
        settle(*(racing.authenticator.ensure_account(guest) for _ in range(MANY))),
        settle(racing.user(guest=guest)),
    )
    assert set(stored[1]) <= {"not_this_guest"}
    assert signed_up[1] == []
    stored_account = await racing.store.get(account(guest.account_id))
    assert stored_account is not None
    assert stored_account.role == "user"


async def test_concurrent_calls_create_one_guest_account(racing: AccountHarness) -> None:
    guest = racing.guest()
    results, codes = await settle(*(racing.authenticator.ensure_account(guest) for _ in range(MANY)))
    assert codes == []
    assert len(set(results)) == 1


async def test_concurrent_sign_ins_leave_20_sessions(racing: AccountHarness) -> None:
    user, _ = await racing.user()
    await asyncio.gather(*(racing.accounts.sign_in("Hana", PASSWORD, "") for _ in range(MAX_SESSIONS + 5)))
    assert len(await racing.accounts.sessions.of(user)) == MAX_SESSIONS


async def test_concurrent_password_changes_leave_one_valid_password(racing: AccountHarness) -> None:
    _, token = await racing.user()
    identity = await racing.identity_of(token)
    passwords = [Secret(f"password {number}") for number in range(MANY)]
    results, codes = await settle(*(racing.accounts.change_password(identity, PASSWORD, new, "") for new in passwords))
    assert len(results) == 1
    assert set(codes) <= {"wrong_password", "account_gone"}
    signed_in, _ = await settle(*(racing.accounts.sign_in("Hana", password, "") for password in [PASSWORD, *passwords]))
    assert len(signed_in) == 1
    assert await racing.authenticate_session(results[0]) is not None


async def test_a_concurrent_visit_does_not_stop_a_rename(racing: AccountHarness) -> None:
    _, token = await racing.user()
    await racing.clock.advance(2 * 86_400)
    identity = await racing.identity_of(token)
    renamed = await racing.accounts.rename(identity, "Nana")
    assert renamed.name == "Nana"
    await racing.authenticator.drain()


async def test_a_sign_in_that_races_a_deletion_leaves_no_valid_session(racing: AccountHarness) -> None:
    user, token = await racing.user()
    identity = await racing.identity_of(token)
    signing_in = (racing.accounts.sign_in("Hana", PASSWORD, "") for _ in range(MANY))
    (results, codes), _ = await asyncio.gather(settle(*signing_in), racing.accounts.delete_account(identity, PASSWORD))
    assert set(codes) <= {"wrong_credentials"}
    for _, new_token in results:
        assert await racing.authenticate_session(new_token) is None
    assert await racing.store.get(job("platform", "remove_account", user.account_id)) is not None


async def test_an_account_deleted_during_a_password_change_stays_deleted(racing: AccountHarness) -> None:
    user, token = await racing.user()
    identity = await racing.identity_of(token)
    await asyncio.gather(
        settle(racing.accounts.change_password(identity, PASSWORD, OTHER_PASSWORD, "")),
        settle(racing.accounts.delete_account(identity, PASSWORD)),
    )
    stored = await racing.store.get(account(user.account_id))
    assert stored is not None
    assert stored.deleted_at is not None
    assert await racing.authenticate_session(token) is None
