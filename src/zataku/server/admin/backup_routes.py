"""Routes of backups: take, download, bring, restore and delete."""

from typing import Any

from litestar import Request, delete, get, post
from litestar.params import JSONBody
from litestar.response import File

from zataku.errors import InvalidRequest
from zataku.server.admin.dependencies import Admin, TheDesk, note
from zataku.server.admin.messages import BackupBegun, Backups, BackupView, Confirmed
from zataku.server.admin.parameters import NewBackup, OneBackup
from zataku.server.http.authentication import NO_TIMEOUT


@get("/backups", summary="All backups")
async def list_backups(admin: Admin, desk: TheDesk) -> Backups:  # noqa: ARG001 - asking for the admin is the guard
    """Backups with their sizes and states, the one under way with its progress, and the last restore."""
    return await desk.copies.listed()


@post("/backups", status_code=202, summary="Take a backup")
async def take_backup(admin: Admin, desk: TheDesk) -> BackupBegun:
    """Start a backup while everything goes on. The list shows how far it is."""
    name = await desk.copies.begin()
    note(admin, "take_backup", backup=name)
    return BackupBegun(name=name)


@post("/backups/upload", request_max_body_size=None, opt=NO_TIMEOUT, summary="Bring a backup")
async def bring_backup(
    request: Request[Any, Any, Any], admin: Admin, desk: TheDesk, named: NewBackup = None
) -> BackupView:
    """Send a file as the body, as it is. It is kept when it is whole, and a backup."""
    # A parameter without a default would be missed before anybody asks who is calling.
    if named is None:
        raise InvalidRequest("Say what the backup is to be called, as name.")
    brought = await desk.copies.bring(named, request.stream(), _length(request))
    note(admin, "bring_backup", backup=named, bytes=brought.bytes)
    return brought


@get("/backups/{name:str}/file", summary="Download a backup")
async def download_backup(admin: Admin, desk: TheDesk, name: OneBackup) -> File:
    """The file of a backup."""
    path = await desk.copies.file(name)
    note(admin, "download_backup", backup=name)
    return File(
        path,
        filename=name,
        media_type="application/vnd.sqlite3",
        content_disposition_type="attachment",
        headers={"Cache-Control": "no-store"},
    )


@post("/backups/{name:str}/restore", status_code=202, summary="Restore a backup")
async def restore_backup(admin: Admin, desk: TheDesk, name: OneBackup, data: JSONBody[Confirmed]) -> BackupBegun:
    """Replace everything by a backup, after one of now was taken under the name that is answered."""
    if data.confirm != name:
        raise InvalidRequest(
            "The name that was typed is not that of the backup. Nothing was changed.", code="not_confirmed"
        )
    saved_as = await desk.copies.restore(name)
    note(admin, "restore_backup", backup=name, saved_as=saved_as)
    return BackupBegun(name=saved_as)


@delete("/backups/{name:str}", summary="Delete a backup")
async def delete_backup(admin: Admin, desk: TheDesk, name: OneBackup) -> None:
    """Take a backup away for good."""
    await desk.copies.delete(name)
    note(admin, "delete_backup", backup=name)


def _length(request: Request[Any, Any, Any]) -> int | None:
    told = request.headers.get("content-length", "")
    return int(told) if told.isdecimal() else None


HANDLERS = (list_backups, take_backup, bring_backup, download_backup, restore_backup, delete_backup)
