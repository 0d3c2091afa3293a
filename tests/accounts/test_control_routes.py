"""Orders that the command line gives to a running server."""

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.accounts.account_services import OTHER, PASSWORD, AccountHarness
from tests.accounts.browsers import application, browser
from zataku.accounts.administration import ControlFile
from zataku.accounts.control_routes import control_routes
from zataku.accounts.secrets import Secret
from zataku.errors import Unauthorized
from zataku.platform.design import job

TOKEN = Secret("t" * 43)
SHOWN = {"Authorization": f"Control {TOKEN.reveal()}"}


@pytest.fixture
async def line(harness: AccountHarness) -> AsyncIterator[httpx.AsyncClient]:
    """The command line, on the server's own machine."""
    app = application(harness, None, *control_routes(harness.accounts, TOKEN))
    async with browser(app, "127.0.0.1") as made:
        yield made


async def ordered(line: httpx.AsyncClient, verb: str, **body: str) -> httpx.Response:
    return await line.post(f"/control/accounts/{verb}", json={"name": "hana", **body}, headers=SHOWN)


async def test_an_admin_is_made_and_unmade(harness: AccountHarness, line: httpx.AsyncClient) -> None:
    _, token = await harness.user()
    answer = await ordered(line, "grant-admin")
    assert (answer.status_code, answer.json()) == (200, {"name": "Hana"})
    assert (await harness.known(token)).is_admin
    await ordered(line, "revoke-admin")
    assert not (await harness.known(token)).is_admin


async def test_a_lost_password_is_replaced(harness: AccountHarness, line: httpx.AsyncClient) -> None:
    _, token = await harness.user()
    assert (await ordered(line, "reset-password", password=OTHER.reveal())).status_code == 200
    assert await harness.with_session(token) is None
    await harness.accounts.sign_in("Hana", OTHER, "")
    assert (await ordered(line, "reset-password")).status_code == 400
    assert (await ordered(line, "sign-out", password=OTHER.reveal())).status_code == 400


async def test_somebody_is_signed_out_or_deleted(harness: AccountHarness, line: httpx.AsyncClient) -> None:
    user, token = await harness.user()
    await ordered(line, "sign-out")
    assert await harness.with_session(token) is None
    assert harness.ends[1:] == [(user.account_id, None)]
    await ordered(line, "delete")
    assert await harness.store.get(job("platform", "remove_account", user.account_id)) is not None
    with pytest.raises(Unauthorized):
        await harness.accounts.sign_in("Hana", PASSWORD, "")
    again = await ordered(line, "delete")
    assert (again.status_code, again.json()["error"]["code"]) == (404, "no_such_account")


@pytest.mark.parametrize("shown", ["", "Control ", "Control x", f"Bearer {TOKEN.reveal()}", f"Control {'é' * 43}"])
async def test_without_the_token_nothing_is_done_or_even_read(
    harness: AccountHarness, line: httpx.AsyncClient, shown: str
) -> None:
    _, token = await harness.user()
    for body in ({"name": "Hana"}, {"nonsense": True}):
        headers = {"Authorization": shown.encode().decode("latin-1").encode("latin-1")} if shown else {}
        answer = await line.post("/control/accounts/grant-admin", json=body, headers=headers)
        assert answer.status_code == 403
    assert not (await harness.known(token)).is_admin


@pytest.mark.parametrize("address", ["192.0.2.1", "::2", "testclient"])
async def test_nobody_gives_orders_from_another_machine(harness: AccountHarness, address: str) -> None:
    app = application(harness, None, *control_routes(harness.accounts, TOKEN))
    async with browser(app, address) as far:
        assert (await ordered(far, "grant-admin")).status_code == 403


async def test_an_order_that_there_is_not_is_refused(line: httpx.AsyncClient) -> None:
    assert (await ordered(line, "promote")).status_code == 400


def test_the_file_does_not_show_its_token_where_it_is_printed() -> None:
    assert TOKEN.reveal() not in repr(ControlFile("http://127.0.0.1:8000", TOKEN.reveal()))
