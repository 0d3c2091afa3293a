"""The control file and the session cutoff in the data folder."""

import asyncio
import os
from pathlib import Path

import httpx
import pytest

from tests.server.conftest import PASSWORD, PUBLIC, MakeClient, sign_up
from zataku.accounts.administration import CONTROL_FILE
from zataku.accounts.secrets import Secret
from zataku.errors import InvalidRequest, Unavailable
from zataku.server.app import Application
from zataku.server.process.data_folder import (
    SESSION_CUTOFF_FILE,
    read_session_cutoff,
    remove_control_file,
    write_control_file,
    write_session_cutoff,
)

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


GARBAGE = [b"", b"yesterday", b"\xff\xfe\x00", b"-1", b"1e3", b"9" * 40]


@pytest.mark.parametrize("content", GARBAGE)
async def test_a_session_cutoff_that_is_no_time_is_named_with_what_to_do(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / SESSION_CUTOFF_FILE
    file.write_bytes(content)
    with pytest.raises(InvalidRequest, match=f"{file} does not hold a time.*date") as refused:
        read_session_cutoff(tmp_path)
    assert refused.value.code == "bad_setting"


async def test_a_session_cutoff_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / SESSION_CUTOFF_FILE)
    with pytest.raises(InvalidRequest, match="does not hold a time"):
        read_session_cutoff(tmp_path)


async def test_a_session_cutoff_without_an_end_is_not_read_as_a_whole(tmp_path: Path) -> None:
    with (tmp_path / SESSION_CUTOFF_FILE).open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InvalidRequest, match="does not hold a time"):
        read_session_cutoff(tmp_path)


async def test_a_session_cutoff_that_is_a_link_to_nothing_is_named(tmp_path: Path) -> None:
    file = tmp_path / SESSION_CUTOFF_FILE
    file.symlink_to(tmp_path / "gone")
    with pytest.raises(OSError, match="gone|sessions-from") as refused:
        read_session_cutoff(tmp_path)
    assert refused.value.filename == str(file)


async def test_the_session_cutoff_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert read_session_cutoff(tmp_path) == 0
    write_session_cutoff(tmp_path, 1_771_669_800_000)
    assert read_session_cutoff(tmp_path) == 1_771_669_800_000
    assert [file.name for file in tmp_path.iterdir()] == [SESSION_CUTOFF_FILE]


async def test_a_session_cutoff_that_cannot_be_written_is_reported_with_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / SESSION_CUTOFF_FILE
    file.mkdir()
    with pytest.raises(Unavailable, match=f"{file} could not be written .Is a directory.*date"):
        write_session_cutoff(tmp_path, 1)


async def test_a_folder_in_the_place_of_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / CONTROL_FILE).mkdir()
    with pytest.raises(OSError, match=CONTROL_FILE) as refused:
        write_control_file(tmp_path, "http://127.0.0.1:8000", Secret("t"))
    assert refused.value.filename == str(tmp_path / CONTROL_FILE)
    assert [file.name for file in tmp_path.iterdir()] == [CONTROL_FILE]
    remove_control_file(tmp_path, Secret("t"))


@pytest.mark.parametrize("content", GARBAGE)
async def test_a_control_file_that_is_garbage_does_not_disturb_the_end_of_a_server(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / CONTROL_FILE).write_bytes(content)
    remove_control_file(tmp_path, Secret("t"))
    assert (tmp_path / CONTROL_FILE).read_bytes() == content
