"""Routes of backups: create, download, upload, restore and delete."""

from typing import Any

from litestar import Request, delete, get, post
from litestar.params import JSONBody
from litestar.response import File

from zataku.errors import InvalidRequest
from zataku.server.admin.dependencies import Admin, BackupName, NewBackupName, Services, audit
from zataku.server.admin.messages import Backups, BackupStarted, BackupView, RestoreConfirmation
from zataku.server.http.request_timeout import NO_TIMEOUT


@get("/backups", summary="All backups")
async def list_backups(admin: Admin, services: Services) -> Backups:  # noqa: ARG001 - taking the admin is the access check
    """Backups with their sizes and states, the one in progress, and the last restore."""
    return await services.backups.list()


@post("/backups", status_code=202, summary="Make a backup")
async def create_backup(admin: Admin, services: Services) -> BackupStarted:
    """Start a backup while the server runs. The list shows its progress."""
    name = await services.backups.start_backup()
    audit(admin, "create_backup", backup=name)
    return BackupStarted(name=name)


@post("/backups/upload", request_max_body_size=None, opt=NO_TIMEOUT, summary="Upload a backup")
async def upload_backup(
    request: Request[Any, Any, Any], admin: Admin, services: Services, name: NewBackupName = None
) -> BackupView:
    """Upload a file as the raw body. It is stored when it is a complete backup."""
    # A parameter without a default would be validated before the admin check.
    if name is None:
        raise InvalidRequest("Give the name of the backup as the parameter name.")
    uploaded = await services.backups.upload(name, request.stream(), _content_length(request))
    audit(admin, "upload_backup", backup=name, bytes=uploaded.bytes)
    return uploaded


@get("/backups/{name:str}/file", summary="Download a backup")
async def download_backup(admin: Admin, services: Services, name: BackupName) -> File:
    """The file of a backup."""
    path = await services.backups.file(name)
    audit(admin, "download_backup", backup=name)
    return File(
        path,
        filename=name,
        media_type="application/vnd.sqlite3",
        content_disposition_type="attachment",
        headers={"Cache-Control": "no-store"},
    )


@post("/backups/{name:str}/restore", status_code=202, summary="Restore a backup")
async def restore_backup(
    admin: Admin, services: Services, name: BackupName, data: JSONBody[RestoreConfirmation]
) -> BackupStarted:
    """Replace everything by a backup, after a backup of the current state, whose name is returned."""
    if data.confirm != name:
        raise InvalidRequest("The typed name is not the name of the backup. Nothing was changed.", code="not_confirmed")
    saved_as = await services.backups.start_restore(name)
    audit(admin, "restore_backup", backup=name, saved_as=saved_as)
    return BackupStarted(name=saved_as)


@delete("/backups/{name:str}", summary="Delete a backup")
async def delete_backup(admin: Admin, services: Services, name: BackupName) -> None:
    """Delete a backup for good."""
    await services.backups.delete(name)
    audit(admin, "delete_backup", backup=name)


def _content_length(request: Request[Any, Any, Any]) -> int | None:
    length = request.headers.get("content-length", "")
    return int(length) if length.isdecimal() else None


HANDLERS = (list_backups, create_backup, upload_backup, download_backup, restore_backup, delete_backup)
