"""Backups taken, brought, downloaded, restored and deleted while the server runs."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.platform.items import HANA, numbered, stored_user
from tests.server.admin.conftest import UPLOAD_LIMIT, AdminApp, admin_app_on
from zataku.clock import ManualClock
from zataku.platform.design import account
from zataku.table import TableError

OUT = (
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


async def taken(admin_app: AdminApp) -> str:
    """The name of a backup that was just made."""
    answer = await admin_app.http.post("/api/admin/backups")
    assert answer.status_code == 202
    await admin_app.backups.wait_until_idle()
    return answer.json()["name"]


async def named(admin_app: AdminApp) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in (await admin_app.get("backups"))["backups"]}


async def bring(admin_app: AdminApp, name: str, content: bytes) -> Any:
    return await admin_app.http.post(f"/api/admin/backups/upload?name={name}", content=content)


def left_behind(admin_app: AdminApp) -> set[str]:
    """What lies in the folder that is no backup."""
    folder = admin_app.folder / "backups"
    return {path.name for path in folder.iterdir() if not path.name.endswith(".db") or path.name.startswith(".")}


async def test_a_backup_is_taken_while_everything_goes_on(admin_app: AdminApp) -> None:
    assert (await admin_app.get("backups"))["backups"] == []
    await stored_user(admin_app.store)
    first, second = await taken(admin_app), await taken(admin_app)
    assert first != second
    told = await admin_app.get("backups")
    assert (told["files"], told["mostUploadBytes"], told["restoring"]) == (True, UPLOAD_LIMIT, None)
    assert {each["state"] for each in told["backups"]} == {"ready"}
    assert {each["name"] for each in told["backups"]} == {first, second}
    path = admin_app.folder / "backups" / first
    assert told["backups"][0]["bytes"] == path.stat().st_size > 10_000
    assert path.parent.stat().st_mode & 0o077 == 0
    assert await admin_app.store.get(account(HANA.account_id)) == HANA


async def test_a_backup_under_way_shows_how_far_it_is(admin_app: AdminApp, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, begun = asyncio.Event(), asyncio.Event()

    async def slow(destination: str, progress: Any) -> None:
        progress(3, 10)
        begun.set()
        await go_on.wait()
        raise TableError("The disk is full. Free some space.")

    monkeypatch.setattr(admin_app.store, "backup", slow)
    name = (await admin_app.http.post("/api/admin/backups")).json()["name"]
    await begun.wait()
    making = (await named(admin_app))[name]
    assert (making["state"], making["done"], making["total"]) == ("making", 3, 10)
    assert await admin_app.refusal("POST", "backups") == (409, "busy")
    go_on.set()
    await admin_app.backups.wait_until_idle()
    failed = (await named(admin_app))[name]
    assert (failed["state"], failed["problem"]) == ("failed", "The disk is full. Free some space.")
    assert (await admin_app.http.delete(f"/api/admin/backups/{name}")).status_code == 204
    assert await named(admin_app) == {}


async def test_a_failure_that_nobody_foresaw_is_told_and_not_repeated(
    admin_app: AdminApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = await taken(admin_app)

    async def broken(source: str, progress: Any) -> None:
        raise OSError("/secret/path is read-only")

    monkeypatch.setattr(admin_app.store, "restore", broken)
    await admin_app.http.post(f"/api/admin/backups/{name}/restore", json={"confirm": name})
    await admin_app.backups.wait_until_idle()
    restoring = (await admin_app.get("backups"))["restoring"]
    assert (restoring["state"], restoring["problem"]) == ("failed", "It failed. The server's log says why.")
    monkeypatch.undo()
    assert await taken(admin_app)


async def test_what_a_killed_server_left_half_brought_is_removed(admin_app: AdminApp) -> None:
    folder = admin_app.folder / "backups"
    folder.mkdir()
    (folder / ".large.db.0a1b2c.part").write_bytes(b"half")
    await taken(admin_app)
    assert left_behind(admin_app) == set()


async def test_two_who_begin_at_once_make_one_backup(admin_app: AdminApp, monkeypatch: pytest.MonkeyPatch) -> None:
    backup, answered = admin_app.store.backup, asyncio.Event()

    async def backup_after_answers(*args: Any, **options: Any) -> None:
        await answered.wait()
        await backup(*args, **options)

    monkeypatch.setattr(admin_app.store, "backup", backup_after_answers)
    answers = await asyncio.gather(*(admin_app.http.post("/api/admin/backups") for _ in range(5)))
    answered.set()
    await admin_app.backups.wait_until_idle()
    assert sorted(answer.status_code for answer in answers) == [202, 409, 409, 409, 409]
    assert len(await named(admin_app)) == 1


async def test_a_backup_travels_to_another_machine_and_back(admin_app: AdminApp) -> None:
    await stored_user(admin_app.store)
    name = await taken(admin_app)
    answer = await admin_app.http.get(f"/api/admin/backups/{name}/file")
    content = (admin_app.folder / "backups" / name).read_bytes()
    assert answer.content == content
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert answer.headers["cache-control"] == "no-store"
    brought = await bring(admin_app, "brought.db", content)
    assert brought.status_code == 201
    assert (brought.json()["name"], brought.json()["state"]) == ("brought.db", "ready")
    assert (admin_app.folder / "backups" / "brought.db").read_bytes() == content
    assert left_behind(admin_app) == set()


async def test_everything_goes_back_to_a_backup_and_now_is_kept(admin_app: AdminApp) -> None:
    await stored_user(admin_app.store)
    name = await taken(admin_app)
    later = replace(HANA, account_id=numbered(77), name="あとから")
    await stored_user(admin_app.store, later)
    answer = await admin_app.http.post(f"/api/admin/backups/{name}/restore", json={"confirm": name})
    assert answer.status_code == 202
    await admin_app.backups.wait_until_idle()
    restoring = (await admin_app.get("backups"))["restoring"]
    assert (restoring["name"], restoring["state"], restoring["problem"]) == (name, "done", None)
    assert admin_app.restored == 1
    assert await admin_app.store.get(account(HANA.account_id)) == HANA
    assert await admin_app.store.get(account(later.account_id)) is None
    saved_as = answer.json()["name"]
    assert restoring["savedAs"] == saved_as
    await admin_app.http.post(f"/api/admin/backups/{saved_as}/restore", json={"confirm": saved_as})
    await admin_app.backups.wait_until_idle()
    assert await admin_app.store.get(account(later.account_id)) == later
    assert {each["state"] for each in (await named(admin_app)).values()} == {"ready"}


async def test_a_damaged_backup_replaces_nothing(admin_app: AdminApp) -> None:
    await stored_user(admin_app.store)
    name = await taken(admin_app)
    path = admin_app.folder / "backups" / name
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"ACCOUNT#", b"ACCOUNt#"))
    assert (await named(admin_app))[name]["state"] == "unchecked"
    await admin_app.backups.wait_until_idle()
    told = (await named(admin_app))[name]
    assert (told["state"], told["problem"]) == ("damaged", "The file is damaged. Use another one.")
    answer = await admin_app.http.post(f"/api/admin/backups/{name}/restore", json={"confirm": name})
    assert answer.status_code == 202
    await admin_app.backups.wait_until_idle()
    restoring = (await admin_app.get("backups"))["restoring"]
    assert restoring["state"] == "failed"
    assert "damaged" in restoring["problem"]
    assert admin_app.restored == 0
    assert await admin_app.store.get(account(HANA.account_id)) == HANA
    assert (await bring(admin_app, "again.db", path.read_bytes())).json()["error"]["code"] == "not_a_backup"
    assert left_behind(admin_app) == set()


async def test_nothing_is_replaced_without_a_backup_of_now(
    admin_app: AdminApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = await taken(admin_app)
    await stored_user(admin_app.store)

    async def full(destination: str, progress: Any) -> None:
        raise TableError("There is no room.")

    monkeypatch.setattr(admin_app.store, "backup", full)
    await admin_app.http.post(f"/api/admin/backups/{name}/restore", json={"confirm": name})
    await admin_app.backups.wait_until_idle()
    assert (await admin_app.get("backups"))["restoring"]["state"] == "failed"
    assert await admin_app.store.get(account(HANA.account_id)) == HANA


async def test_a_restore_must_be_meant(admin_app: AdminApp) -> None:
    name = await taken(admin_app)
    path = f"backups/{name}/restore"
    assert await admin_app.refusal("POST", path, json={"confirm": "yes"}) == (400, "not_confirmed")
    for wrong in ({}, {"confirm": 1}, {"confirm": name, "really": True}, []):
        assert (await admin_app.refusal("POST", path, json=wrong))[0] == 400
    absent = {"confirm": "other.db"}
    assert await admin_app.refusal("POST", "backups/other.db/restore", json=absent) == (404, "not_found")
    assert admin_app.restored == 0


async def test_a_backup_is_deleted_for_good(admin_app: AdminApp) -> None:
    name = await taken(admin_app)
    assert (await admin_app.http.delete(f"/api/admin/backups/{name}")).status_code == 204
    assert await named(admin_app) == {}
    assert await admin_app.refusal("DELETE", f"backups/{name}") == (404, "not_found")
    assert await admin_app.refusal("GET", f"backups/{name}/file") == (404, "not_found")


async def test_no_name_leads_out_of_the_folder(admin_app: AdminApp, tmp_path: Path) -> None:
    await taken(admin_app)
    secret = tmp_path / "secret.db"
    secret.write_text("mine")
    (admin_app.folder / "backups" / "link.db").symlink_to(secret)
    out = [
        "..%2Fsecret.db",
        "%2e%2e%2fsecret.db",
        "..%5Csecret.db",
        ".db",
        ".hidden.db",
        "a%00.db",
        "a b.db",
        "あ.db",
        "a.db%0A",
    ]
    for name in out:
        for method, rest in (("GET", "/file"), ("DELETE", "")):
            status, _ = await admin_app.refusal(method, f"backups/{name}{rest}")
            assert status in (400, 404, 405), (name, method)
        assert (await admin_app.refusal("POST", f"backups/upload?name={name}", content=b"x"))[0] == 400, name
    for name in ("zataku.txt", "zataku", "x" * 101 + ".db"):
        assert (await admin_app.refusal("GET", f"backups/{name}/file"))[0] == 400
        assert (await admin_app.refusal("POST", f"backups/upload?name={name}", content=b"x"))[0] == 400
    assert await admin_app.refusal("GET", "backups/link.db/file") == (404, "not_found")
    assert await admin_app.refusal("DELETE", "backups/link.db") == (404, "not_found")
    assert "link.db" not in await named(admin_app)
    assert secret.read_text() == "mine"


async def test_what_is_no_backup_is_not_kept(admin_app: AdminApp) -> None:
    content = (admin_app.folder / "backups" / await taken(admin_app)).read_bytes()
    for wrong in (b"", b"hello", b"SQLite format 3\0" + b"\0" * 5000, os.urandom(50_000), content[:20_000]):
        answer = await bring(admin_app, "wrong.db", wrong)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "not_a_backup")
        assert str(admin_app.folder) not in answer.text
    assert await admin_app.refusal("POST", "backups/upload", content=content) == (400, "invalid")
    assert len(await named(admin_app)) == 1
    assert left_behind(admin_app) == set()


async def test_a_name_is_given_once(admin_app: AdminApp) -> None:
    name = await taken(admin_app)
    content = (admin_app.folder / "backups" / name).read_bytes()
    answers = await asyncio.gather(*(bring(admin_app, "same.db", content) for _ in range(3)))
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409]
    assert (await bring(admin_app, name, content)).json()["error"]["code"] == "name_taken"
    assert left_behind(admin_app) == set()


async def test_more_than_the_limit_is_not_taken(admin_app: AdminApp) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(UPLOAD_LIMIT // 100_000 + 1):
            yield b"x" * 100_000

    path = "backups/upload?name=large.db"
    assert await admin_app.refusal("POST", path, content=endless()) == (413, "too_large")
    assert await admin_app.refusal("POST", path, content=b"x" * (UPLOAD_LIMIT + 1)) == (413, "too_large")
    assert left_behind(admin_app) == set()


async def test_dynamodb_keeps_its_backups_itself(clock: ManualClock, tmp_path: Path) -> None:
    async with admin_app_on("ministack", clock, tmp_path) as admin_app:
        name = await taken(admin_app)
        told = await admin_app.get("backups")
        assert told["files"] is False
        assert [(each["name"], each["state"]) for each in told["backups"]] == [(name, "ready")]
        answer = await admin_app.http.post(f"/api/admin/backups/{name}/restore", json={"confirm": name})
        assert answer.status_code == 409
        assert f"zataku store restore {name} --store dynamodb+http://" in answer.json()["error"]["message"]
        assert await admin_app.refusal("GET", f"backups/{name}/file") == (409, "no_file")
        assert await admin_app.refusal("POST", "backups/upload?name=a.db", content=b"x") == (409, "no_file")
        assert await admin_app.refusal("DELETE", f"backups/{name}") == (409, "use_the_command_line")


async def test_a_service_without_backups_says_what_to_do_instead(clock: ManualClock, tmp_path: Path) -> None:
    async with admin_app_on("dynoxide", clock, tmp_path) as admin_app:
        assert (await admin_app.get("backups"))["backups"] == []
        assert await admin_app.refusal("POST", "backups") == (409, "lacks_capability")
