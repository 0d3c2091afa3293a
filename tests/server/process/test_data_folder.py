"""The control file and the session cutoff in the data folder."""

import asyncio
from pathlib import Path

import httpx
import pytest

from tests.server.conftest import PASSWORD, PUBLIC, MakeClient, sign_up
from zataku.accounts.administration import CONTROL_FILE
from zataku.server.app import Application
from zataku.server.process.data_folder import read_session_cutoff

pytestmark = pytest.mark.asyncio(loop_scope="module")

DEADLINE = 10.0


async def test_the_command_line_needs_the_token_and_this_machine(
    browser: httpx.AsyncClient, make_client: MakeClient, application: Application
) -> None:
    await sign_up(browser, "Boss")
    file = Path(application.services.settings.data) / CONTROL_FILE
    assert file.stat().st_mode & 0o777 == 0o600
    token = application.services.control_token.reveal()
    assert token in file.read_text()
    request = {"name": "Boss"}
    for stranger in (
        make_client("127.0.0.1", base="http://127.0.0.1:8000", authorization="Control guessed"),
        make_client(authorization=f"Control {token}"),
    ):
        assert (await stranger.post("/control/accounts/grant-admin", json=request)).status_code == 403
    local = make_client("127.0.0.1", base="http://127.0.0.1:8000", authorization=f"Control {token}")
    assert (await local.post("/control/accounts/grant-admin", json=request)).status_code == 200
    assert (await browser.get("/api/me")).json()["role"] == "admin"
    assert (await browser.get("/metrics")).status_code == 200
    assert (await browser.get("/api/admin/overview")).status_code == 200


async def test_a_restored_backup_does_not_bring_sessions_back(
    browser: httpx.AsyncClient, make_client: MakeClient, application: Application
) -> None:
    accounts, folder = application.services.accounts.accounts, application.services.settings.folder
    await sign_up(browser, "Keeper")
    keeper = await accounts.find("Keeper")
    assert keeper is not None
    await accounts.grant_admin(keeper, admin=True)
    stolen = make_client(cookie=f"zataku_session={browser.cookies['zataku_session']}", origin=PUBLIC)
    name = (await browser.post("/api/admin/backups")).json()["name"]
    await wait_for_backups(browser, ["ready"])
    await browser.delete("/api/sessions")
    assert (await stolen.get("/api/me")).json()["role"] == "guest"
    await browser.post("/api/sessions", json={"name": "Keeper", "password": PASSWORD})
    started = await browser.post(f"/api/admin/backups/{name}/restore", json={"confirm": name})
    assert started.status_code == 202, started.text
    async with asyncio.timeout(DEADLINE):
        while not read_session_cutoff(folder):
            await asyncio.sleep(0.02)
    assert (await stolen.get("/api/me")).json()["role"] == "guest"
    assert (await browser.post("/api/sessions", json={"name": "Keeper", "password": PASSWORD})).status_code == 201
    assert (await browser.get("/api/me")).json()["role"] == "admin"


async def wait_for_backups(browser: httpx.AsyncClient, states: list[str]) -> None:
    """Wait until the backups have the given states."""
    async with asyncio.timeout(DEADLINE):
        while [backup["state"] for backup in (await browser.get("/api/admin/backups")).json()["backups"]] != states:
            await asyncio.sleep(0.02)
