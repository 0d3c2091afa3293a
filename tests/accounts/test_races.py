"""What must hold when people do things at once, on stores that refuse, delay and lose replies."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from tests.accounts.account_services import OTHER, PASSWORD, AccountHarness
from zataku.accounts.secrets import Secret
from zataku.accounts.sessions import MAX_SESSIONS
from zataku.errors import RequestError
from zataku.platform.design import account, job, owner_of_name

MANY = 8
T = TypeVar("T")


async def ended(*attempts: Awaitable[T]) -> tuple[list[T], list[str]]:
    """What the winners got, and with which codes the others were refused. Anything else is raised."""
    won: list[T] = []
    codes: list[str] = []
    for one in await asyncio.gather(*attempts, return_exceptions=True):
        if isinstance(one, RequestError):
            codes.append(one.code)
        elif isinstance(one, BaseException):
            raise one
        else:
            won.append(one)
    return won, codes


async def test_of_many_who_want_one_name_one_gets_it(rough: AccountHarness) -> None:
    won, codes = await ended(*(rough.user(name) for name in ["Hana", "hana", "ＨＡＮＡ", "HANA"] * 2))
    ((user, token),) = won
    assert codes == ["name_taken"] * (MANY - 1)
    claim = await rough.store.get(owner_of_name("hana"))
    assert claim is not None
    assert claim.account_id == user.account_id
    assert await rough.with_session(token) is not None


async def test_one_guest_in_many_tabs_becomes_one_user(rough: AccountHarness) -> None:
    guest = await rough.authenticator.ensure_account(rough.guest())
    won, codes = await ended(*(rough.user(f"Hana {number}", guest) for number in range(MANY)))
    assert len(won) == 1
    assert set(codes) == {"not_this_guest"}
    claims = await rough.store.get_many([owner_of_name(f"Hana {number}") for number in range(MANY)])
    assert len([claim for claim in claims if claim]) == 1


async def test_a_guest_who_signs_up_while_something_is_kept_loses_nothing(rough: AccountHarness) -> None:
    guest = rough.guest()
    kept, signed_up = await asyncio.gather(
        ended(*(rough.authenticator.ensure_account(guest) for _ in range(MANY))), ended(rough.user(guest=guest))
    )
    assert set(kept[1]) <= {"not_this_guest"}
    assert signed_up[1] == []
    found = await rough.store.get(account(guest.account_id))
    assert found is not None
    assert found.role == "user"


async def test_a_guest_is_kept_once_however_many_ask(rough: AccountHarness) -> None:
    guest = rough.guest()
    won, codes = await ended(*(rough.authenticator.ensure_account(guest) for _ in range(MANY)))
    assert codes == []
    assert len(set(won)) == 1


async def test_however_many_sign_in_at_once_20_sessions_are_left(rough: AccountHarness) -> None:
    user, _ = await rough.user()
    await asyncio.gather(*(rough.accounts.sign_in("Hana", PASSWORD, "") for _ in range(MAX_SESSIONS + 5)))
    assert len(await rough.accounts.sessions.of(user)) == MAX_SESSIONS


async def test_two_new_passwords_in_one_moment_leave_one_that_opens(rough: AccountHarness) -> None:
    _, token = await rough.user()
    identity = await rough.known(token)
    passwords = [Secret(f"password {number}") for number in range(MANY)]
    won, codes = await ended(*(rough.accounts.change_password(identity, PASSWORD, new, "") for new in passwords))
    assert len(won) == 1
    assert set(codes) <= {"wrong_password", "account_gone"}
    opened, _ = await ended(*(rough.accounts.sign_in("Hana", each, "") for each in [PASSWORD, *passwords]))
    assert len(opened) == 1
    assert await rough.with_session(won[0]) is not None


async def test_a_visit_in_the_same_moment_does_not_stop_a_new_name(rough: AccountHarness) -> None:
    _, token = await rough.user()
    await rough.clock.advance(2 * 86_400)
    identity = await rough.known(token)
    renamed = await rough.accounts.rename(identity, "Nana")
    assert renamed.name == "Nana"
    await rough.authenticator.drain()


async def test_who_leaves_while_signing_in_is_out(rough: AccountHarness) -> None:
    user, token = await rough.user()
    identity = await rough.known(token)
    signing_in = (rough.accounts.sign_in("Hana", PASSWORD, "") for _ in range(MANY))
    (won, codes), _ = await asyncio.gather(ended(*signing_in), rough.accounts.delete_account(identity, PASSWORD))
    assert set(codes) <= {"wrong_credentials"}
    for _, made in won:
        assert await rough.with_session(made) is None
    assert await rough.store.get(job("platform", "remove_account", user.account_id)) is not None


async def test_leaving_and_a_new_password_in_one_moment_end_in_leaving(rough: AccountHarness) -> None:
    user, token = await rough.user()
    identity = await rough.known(token)
    await asyncio.gather(
        ended(rough.accounts.change_password(identity, PASSWORD, OTHER, "")),
        ended(rough.accounts.delete_account(identity, PASSWORD)),
    )
    found = await rough.store.get(account(user.account_id))
    assert found is not None
    assert found.deleted_at is not None
    assert await rough.with_session(token) is None
