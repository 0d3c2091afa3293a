"""The routes by which the command line administers accounts of a running server."""

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.accounts.account_services import OTHER_PASSWORD, PASSWORD, AccountHarness
from tests.accounts.browsers import application, browser, from_loopback
from zataku.accounts.administration import ControlFile
from zataku.accounts.control_routes import control_routes
from zataku.accounts.secrets import Secret
from zataku.errors import Unauthorized
from zataku.platform.design import job

TOKEN = Secret("t" * 43)
CONTROL_HEADERS = {"Authorization": f"Control {TOKEN.reveal()}"}


@pytest.fixture
async def command_line(harness: AccountHarness) -> AsyncIterator[httpx.AsyncClient]:
    """The command line, on the server's own machine."""
    app = application(harness, None, *control_routes(harness.accounts, TOKEN, from_loopback))
    async with browser(app, "127.0.0.1") as client:
        yield client


async def perform(client: httpx.AsyncClient, action: str, **body: str) -> httpx.Response:
    return await client.post(f"/control/accounts/{action}", json={"name": "hana", **body}, headers=CONTROL_HEADERS)


async def test_admin_rights_are_granted_and_revoked(harness: AccountHarness, command_line: httpx.AsyncClient) -> None:
    _, token = await harness.user()
    response = await perform(command_line, "grant-admin")
    assert (response.status_code, response.json()) == (200, {"name": "Hana"})
    assert (await harness.identity_of(token)).is_admin
    await perform(command_line, "revoke-admin")
    assert not (await harness.identity_of(token)).is_admin


async def test_a_password_is_reset(harness: AccountHarness, command_line: httpx.AsyncClient) -> None:
    _, token = await harness.user()
    assert (await perform(command_line, "reset-password", password=OTHER_PASSWORD.reveal())).status_code == 200
    assert await harness.authenticate_session(token) is None
    await harness.accounts.sign_in("Hana", OTHER_PASSWORD, "")
    assert (await perform(command_line, "reset-password")).status_code == 400
    assert (await perform(command_line, "sign-out", password=OTHER_PASSWORD.reveal())).status_code == 400


async def test_an_account_is_signed_out_and_deleted(harness: AccountHarness, command_line: httpx.AsyncClient) -> None:
    user, token = await harness.user()
    await perform(command_line, "sign-out")
    assert await harness.authenticate_session(token) is None
    assert harness.ended_credentials[1:] == [(user.account_id, None)]
    await perform(command_line, "delete")
    assert await harness.store.get(job("platform", "remove_account", user.account_id)) is not None
    with pytest.raises(Unauthorized):
        await harness.accounts.sign_in("Hana", PASSWORD, "")
    repeated = await perform(command_line, "delete")
    assert (repeated.status_code, repeated.json()["error"]["code"]) == (404, "no_such_account")


@pytest.mark.parametrize(
    "authorization", ["", "Control ", "Control x", f"Bearer {TOKEN.reveal()}", f"Control {'é' * 43}"]
)
async def test_a_request_without_the_token_is_refused_before_its_body_is_read(
    harness: AccountHarness, command_line: httpx.AsyncClient, authorization: str
) -> None:
    _, token = await harness.user()
    for body in ({"name": "Hana"}, {"nonsense": True}):
        headers = {"Authorization": authorization.encode().decode("latin-1").encode("latin-1")} if authorization else {}
        response = await command_line.post("/control/accounts/grant-admin", json=body, headers=headers)
        assert response.status_code == 403
    assert not (await harness.identity_of(token)).is_admin


@pytest.mark.parametrize("address", ["192.0.2.1", "::2", "testclient"])
async def test_a_request_from_another_machine_is_refused(harness: AccountHarness, address: str) -> None:
    app = application(harness, None, *control_routes(harness.accounts, TOKEN, from_loopback))
    async with browser(app, address) as remote:
        assert (await perform(remote, "grant-admin")).status_code == 403


async def test_an_unknown_action_is_refused(command_line: httpx.AsyncClient) -> None:
    assert (await perform(command_line, "promote")).status_code == 400


def test_the_repr_of_the_control_file_hides_its_token() -> None:
    assert TOKEN.reveal() not in repr(ControlFile("http://127.0.0.1:8000", TOKEN.reveal()))
