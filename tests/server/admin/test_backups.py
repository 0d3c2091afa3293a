"""Backups created, uploaded, downloaded, restored and deleted while the server runs."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.platform.items import HANA, nth_account_id, stored_user
from tests.server.admin.conftest import UPLOAD_LIMIT, AdminApp, admin_app_on
from tests.support.manual_clock import ManualClock
from zataku.errors import Unavailable
from zataku.platform.design import account
from zataku.table import TableError
from zataku.table.embedded.file.connection import connect

INVALID_NAMES = (
    "..%2Fsecret.db",
    "%2e%2e%2fsecret.db",
    "..%5Csecret.db",
    ".db",
    ".hidden.db",
    "a%00.db",
    "a b.db",
    "あ.db",
    "a.db%0A",
)


async def create_backup(admin_app: AdminApp) -> str:
    """Create a backup, wait until it is ready, and return its name."""
    response = await admin_app.http.post("/api/admin/backups")
    assert response.status_code == 202
    await admin_app.backups.wait_until_idle()
    return response.json()["name"]


async def backups_by_name(admin_app: AdminApp) -> dict[str, dict[str, Any]]:
    return {backup["name"]: backup for backup in (await admin_app.get("backups"))["backups"]}


async def upload(admin_app: AdminApp, name: str, content: bytes) -> Any:
    return await admin_app.http.post(f"/api/admin/backups/upload?name={name}", content=content)


def other_files(admin_app: AdminApp) -> set[str]:
    """The names of files in the folder that are not backups."""
    folder = admin_app.folder / "backups"
    return {path.name for path in folder.iterdir() if not path.name.endswith(".db") or path.name.startswith(".")}


async def test_a_backup_is_created_while_the_server_runs(admin_app: AdminApp) -> None:
    assert (await admin_app.get("backups"))["backups"] == []
    await stored_user(admin_app.store)
    first, second = await create_backup(admin_app), await create_backup(admin_app)
    assert first != second
    listing = await admin_app.get("backups")
    assert (listing["files"], listing["mostUploadBytes"], listing["restoring"]) == (True, UPLOAD_LIMIT, None)
    assert {backup["state"] for backup in listing["backups"]} == {"ready"}
    assert {backup["name"] for backup in listing["backups"]} == {first, second}
    path = admin_app.folder / "backups" / first
    assert listing["backups"][0]["bytes"] == path.stat().st_size > 10_000
    assert path.parent.stat().st_mode & 0o077 == 0
    assert await admin_app.store.get(account(HANA.account_id)) == HANA


async def test_a_backup_in_progress_shows_its_progress_and_its_failure(
    admin_app: AdminApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    released, started = asyncio.Event(), asyncio.Event()

    async def fail_when_released(destination: str, progress: Any) -> None:
        progress(3, 10)
        started.set()
        await released.wait()
        raise TableError("The disk is full. Free some space.")

    monkeypatch.setattr(admin_app.store, "backup", fail_when_released)
    name = (await admin_app.http.post("/api/admin/backups")).json()["name"]
    await started.wait()
    unfinished = (await backups_by_name(admin_app))[name]
    assert (unfinished["state"], unfinished["done"], unfinished["total"]) == ("making", 3, 10)
    assert await admin_app.refusal("POST", "backups") == (409, "busy")
    released.set()
    await admin_app.backups.wait_until_idle()
    failed = (await backups_by_name(admin_app))[name]
    assert (failed["state"], failed["problem"]) == ("failed", "The disk is full. Free some space.")
    assert (await admin_app.http.delete(f"/api/admin/backups/{name}")).status_code == 204
    assert await backups_by_name(admin_app) == {}


async def test_an_unexpected_failure_is_reported_without_its_details(
    admin_app: AdminApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = await create_backup(admin_app)

    async def broken(source: str, progress: Any) -> None:
        raise OSError("/secret/path is read-only")

    monkeypatch.setattr(admin_app.store, "restore", broken)
    await admin_app.http.post(f"/api/admin/backups/{name}/restore", json={"confirm": name})
    await admin_app.backups.wait_until_idle()
    restoring = (await admin_app.get("backups"))["restoring"]
    assert (restoring["state"], restoring["problem"]) == ("failed", "It failed. The server's log says why.")
    monkeypatch.undo()
    assert await create_backup(admin_app)


async def test_incomplete_uploads_of_a_killed_server_are_removed(admin_app: AdminApp) -> None:
    folder = admin_app.folder / "backups"
    folder.mkdir()
    (folder / ".large.db.0a1b2c.part").write_bytes(b"half")
    await create_backup(admin_app)
    assert other_files(admin_app) == set()


async def test_of_concurrent_requests_only_one_starts_a_backup(
    admin_app: AdminApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup, answered = admin_app.store.backup, asyncio.Event()

    async def backup_after_answers(*args: Any, **options: Any) -> None:
        await answered.wait()
        await backup(*args, **options)

    monkeypatch.setattr(admin_app.store, "backup", backup_after_answers)
    responses = await asyncio.gather(*(admin_app.http.post("/api/admin/backups") for _ in range(5)))
    answered.set()
    await admin_app.backups.wait_until_idle()
    assert sorted(response.status_code for response in responses) == [202, 409, 409, 409, 409]
    assert len(await backups_by_name(admin_app)) == 1


async def test_a_backup_is_downloaded_and_uploaded(admin_app: AdminApp) -> None:
    await stored_user(admin_app.store)
    name = await create_backup(admin_app)
    response = await admin_app.http.get(f"/api/admin/backups/{name}/file")
    content = (admin_app.folder / "backups" / name).read_bytes()
    assert response.content == content
    assert response.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert response.headers["cache-control"] == "no-store"
    uploaded = await upload(admin_app, "uploaded.db", content)
    assert uploaded.status_code == 201
    assert (uploaded.json()["name"], uploaded.json()["state"]) == ("uploaded.db", "ready")
    assert (admin_app.folder / "backups" / "uploaded.db").read_bytes() == content
    assert other_files(admin_app) == set()


async def test_a_restore_backs_up_the_current_state_first(admin_app: AdminApp) -> None:
    await stored_user(admin_app.store)
    name = await create_backup(admin_app)
    later = replace(HANA, account_id=nth_account_id(77), name="あとから")
    await stored_user(admin_app.store, later)
    response = await admin_app.http.post(f"/api/admin/backups/{name}/restore", json={"confirm": name})
    assert response.status_code == 202
    await admin_app.backups.wait_until_idle()
    restoring = (await admin_app.get("backups"))["restoring"]
    assert (restoring["name"], restoring["state"], restoring["problem"]) == (name, "done", None)
    assert admin_app.restored == 1
    assert await admin_app.store.get(account(HANA.account_id)) == HANA
    assert await admin_app.store.get(account(later.account_id)) is None
    saved_as = response.json()["name"]
    assert restoring["savedAs"] == saved_as
    await admin_app.http.post(f"/api/admin/backups/{saved_as}/restore", json={"confirm": saved_as})
    await admin_app.backups.wait_until_idle()
    assert await admin_app.store.get(account(later.account_id)) == later
    assert {backup["state"] for backup in (await backups_by_name(admin_app)).values()} == {"ready"}


async def test_a_damaged_backup_is_not_restored(admin_app: AdminApp) -> None:
    await stored_user(admin_app.store)
    name = await create_backup(admin_app)
    path = admin_app.folder / "backups" / name
    path.write_bytes(path.read_bytes().replace(b"ACCOUNT#", b"ACCOUNt#"))
    assert (await backups_by_name(admin_app))[name]["state"] == "unchecked"
    await admin_app.backups.wait_until_idle()
    backup = (await backups_by_name(admin_app))[name]
    assert (backup["state"], backup["problem"]) == ("damaged", "The file is damaged. Use another one.")
    response = await admin_app.http.post(f"/api/admin/backups/{name}/restore", json={"confirm": name})
    assert response.status_code == 202
    await admin_app.backups.wait_until_idle()
    restoring = (await admin_app.get("backups"))["restoring"]
    assert restoring["state"] == "failed"
    assert "damaged" in restoring["problem"]
    assert admin_app.restored == 0
    assert await admin_app.store.get(account(HANA.account_id)) == HANA
    assert (await upload(admin_app, "again.db", path.read_bytes())).json()["error"]["code"] == "not_a_backup"
    assert other_files(admin_app) == set()


async def test_what_a_restore_could_not_finish_is_shown(admin_app: AdminApp) -> None:
    name = await create_backup(admin_app)
    admin_app.restore_problem = Unavailable("Write the time yourself.")
    await admin_app.http.post(f"/api/admin/backups/{name}/restore", json={"confirm": name})
    await admin_app.backups.wait_until_idle()
    restoring = (await admin_app.get("backups"))["restoring"]
    assert (restoring["state"], restoring["problem"]) == ("done", "Write the time yourself.")


async def test_a_folder_that_is_in_the_way_of_a_restore_is_named(admin_app: AdminApp) -> None:
    await stored_user(admin_app.store)
    name = await create_backup(admin_app)
    (mark,) = admin_app.folder.rglob("*.mark")
    kept = mark.with_suffix(".before-restore")
    kept.mkdir()
    await admin_app.http.post(f"/api/admin/backups/{name}/restore", json={"confirm": name})
    await admin_app.backups.wait_until_idle()
    restoring = (await admin_app.get("backups"))["restoring"]
    assert restoring["state"] == "failed"
    assert restoring["problem"] == f"{kept}: Is a directory. Check what is there, and the space on its disk."
    assert await admin_app.store.get(account(HANA.account_id)) == HANA


async def test_a_restore_fails_when_the_current_state_cannot_be_backed_up(
    admin_app: AdminApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = await create_backup(admin_app)
    await stored_user(admin_app.store)

    async def full(destination: str, progress: Any) -> None:
        raise TableError("There is no room.")

    monkeypatch.setattr(admin_app.store, "backup", full)
    await admin_app.http.post(f"/api/admin/backups/{name}/restore", json={"confirm": name})
    await admin_app.backups.wait_until_idle()
    assert (await admin_app.get("backups"))["restoring"]["state"] == "failed"
    assert await admin_app.store.get(account(HANA.account_id)) == HANA


async def test_a_restore_needs_the_name_as_confirmation(admin_app: AdminApp) -> None:
    name = await create_backup(admin_app)
    path = f"backups/{name}/restore"
    assert await admin_app.refusal("POST", path, json={"confirm": "yes"}) == (400, "not_confirmed")
    for wrong in ({}, {"confirm": 1}, {"confirm": name, "really": True}, []):
        assert (await admin_app.refusal("POST", path, json=wrong))[0] == 400
    absent = {"confirm": "other.db"}
    assert await admin_app.refusal("POST", "backups/other.db/restore", json=absent) == (404, "not_found")
    assert admin_app.restored == 0


async def test_a_deleted_backup_is_not_found(admin_app: AdminApp) -> None:
    name = await create_backup(admin_app)
    assert (await admin_app.http.delete(f"/api/admin/backups/{name}")).status_code == 204
    assert await backups_by_name(admin_app) == {}
    assert await admin_app.refusal("DELETE", f"backups/{name}") == (404, "not_found")
    assert await admin_app.refusal("GET", f"backups/{name}/file") == (404, "not_found")


async def test_a_name_cannot_escape_the_backup_folder(admin_app: AdminApp, tmp_path: Path) -> None:
    await create_backup(admin_app)
    secret = tmp_path / "secret.db"
    secret.write_text("mine")
    (admin_app.folder / "backups" / "link.db").symlink_to(secret)
    for name in INVALID_NAMES:
        for method, rest in (("GET", "/file"), ("DELETE", "")):
            status, _ = await admin_app.refusal(method, f"backups/{name}{rest}")
            assert status in (400, 404, 405), (name, method)
        assert (await admin_app.refusal("POST", f"backups/upload?name={name}", content=b"x"))[0] == 400, name
    for name in ("zataku.txt", "zataku", "x" * 101 + ".db"):
        assert (await admin_app.refusal("GET", f"backups/{name}/file"))[0] == 400
        assert (await admin_app.refusal("POST", f"backups/upload?name={name}", content=b"x"))[0] == 400
    assert await admin_app.refusal("GET", "backups/link.db/file") == (404, "not_found")
    assert await admin_app.refusal("DELETE", "backups/link.db") == (404, "not_found")
    assert "link.db" not in await backups_by_name(admin_app)
    assert secret.read_text() == "mine"


async def test_a_file_that_is_not_a_backup_is_rejected(admin_app: AdminApp) -> None:
    content = (admin_app.folder / "backups" / await create_backup(admin_app)).read_bytes()
    for wrong in (b"", b"hello", b"SQLite format 3\0" + b"\0" * 5000, os.urandom(50_000), content[:20_000]):
        response = await upload(admin_app, "wrong.db", wrong)
        assert (response.status_code, response.json()["error"]["code"]) == (400, "not_a_backup")
        assert str(admin_app.folder) not in response.text
    assert await admin_app.refusal("POST", "backups/upload", content=content) == (400, "invalid")
    assert len(await backups_by_name(admin_app)) == 1
    assert other_files(admin_app) == set()


async def test_a_file_in_the_place_of_the_folder_is_named(admin_app: AdminApp) -> None:
    folder = admin_app.folder / "backups"
    folder.write_text("not a folder")
    response = await admin_app.http.post("/api/admin/backups")
    assert (response.status_code, response.json()["error"]["code"]) == (503, "unavailable")
    assert response.json()["error"]["message"].startswith(f"Backups cannot be kept in {folder}: ")
    assert (await admin_app.get("backups"))["backups"] == []


async def test_an_upload_with_a_trigger_is_rejected_with_a_sentence(admin_app: AdminApp, tmp_path: Path) -> None:
    file = tmp_path / "armed.db"
    file.write_bytes((admin_app.folder / "backups" / await create_backup(admin_app)).read_bytes())
    connection = connect(file, writable=True)
    connection.execute("CREATE TRIGGER armed AFTER INSERT ON items_1 BEGIN DELETE FROM items_1; END")
    connection.close()
    response = await upload(admin_app, "armed.db", file.read_bytes())
    assert (response.status_code, response.json()["error"]["code"]) == (400, "not_a_backup")
    assert response.json()["error"]["message"].startswith("The file has the trigger 'armed', which is not of a store.")
    assert other_files(admin_app) == set()
    # One that was copied into the folder is listed as damaged, and not restored.
    file.rename(admin_app.folder / "backups" / "armed.db")
    await backups_by_name(admin_app)
    await admin_app.backups.wait_until_idle()
    assert (await backups_by_name(admin_app))["armed.db"]["state"] == "damaged"


async def test_an_upload_cannot_take_the_name_of_another_backup(admin_app: AdminApp) -> None:
    name = await create_backup(admin_app)
    content = (admin_app.folder / "backups" / name).read_bytes()
    responses = await asyncio.gather(*(upload(admin_app, "same.db", content) for _ in range(3)))
    assert sorted(response.status_code for response in responses) == [201, 409, 409]
    assert (await upload(admin_app, name, content)).json()["error"]["code"] == "name_taken"
    assert other_files(admin_app) == set()


async def test_an_upload_beyond_the_limit_is_rejected(admin_app: AdminApp) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(UPLOAD_LIMIT // 100_000 + 1):
            yield b"x" * 100_000

    path = "backups/upload?name=large.db"
    assert await admin_app.refusal("POST", path, content=endless()) == (413, "too_large")
    assert await admin_app.refusal("POST", path, content=b"x" * (UPLOAD_LIMIT + 1)) == (413, "too_large")
    assert other_files(admin_app) == set()


async def test_backups_of_dynamodb_have_no_files(clock: ManualClock, tmp_path: Path) -> None:
    async with admin_app_on("ministack", clock, tmp_path) as admin_app:
        name = await create_backup(admin_app)
        listing = await admin_app.get("backups")
        assert listing["files"] is False
        assert [(backup["name"], backup["state"]) for backup in listing["backups"]] == [(name, "ready")]
        response = await admin_app.http.post(f"/api/admin/backups/{name}/restore", json={"confirm": name})
        assert response.status_code == 409
        assert f"zataku store restore {name} --store dynamodb+http://" in response.json()["error"]["message"]
        assert await admin_app.refusal("GET", f"backups/{name}/file") == (409, "no_file")
        assert await admin_app.refusal("POST", "backups/upload?name=a.db", content=b"x") == (409, "no_file")
        assert await admin_app.refusal("DELETE", f"backups/{name}") == (409, "use_the_command_line")


async def test_a_service_without_backups_is_a_conflict(clock: ManualClock, tmp_path: Path) -> None:
    async with admin_app_on("dynoxide", clock, tmp_path) as admin_app:
        assert (await admin_app.get("backups"))["backups"] == []
        assert await admin_app.refusal("POST", "backups") == (409, "lacks_capability")
