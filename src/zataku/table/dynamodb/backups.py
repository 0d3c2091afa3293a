"""Backups made by the service, and restores from them."""

import re
from collections.abc import Sequence
from typing import Any, cast

from msgspec import Struct

from zataku.clock import Clock
from zataku.table.backend.errors import BadInput, LacksCapability, StoreUnreachable, TableError
from zataku.table.backend.port import Progress
from zataku.table.backend.table_schema import TableSchema
from zataku.table.dynamodb.client import Client, Response
from zataku.table.dynamodb.tables.description import describe_table
from zataku.table.dynamodb.tables.management import Tables

_NAME = re.compile(r"[a-zA-Z0-9_.-]{3,255}")
_MIN_PAUSE_SECONDS = 0.5
_MAX_PAUSE_SECONDS = 10.0
_BACKUP_SECONDS = 3600.0
# Restoring a large table with many indexes takes hours.
_TABLE_SECONDS = 24 * 3600.0
_ADVICE = {
    "TableAlreadyExistsException": "A table of that name exists. Choose another name.",
    "ContinuousBackupsUnavailableException": "The table is too new for a backup. Try again in a minute.",
}


class Backup(Struct, frozen=True):
    """A backup of one table."""

    name: str
    table: str
    at: float
    status: str
    bytes: int
    arn: str


class Backups:
    """Makes backups of tables under one name, and replaces the tables by them."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        self._clock = clock

    async def create(self, tables: Sequence[TableSchema], name: str, progress: Progress | None = None) -> None:
        """Make a backup of that name of every table while the tables are in use."""
        if _NAME.fullmatch(name) is None:
            raise BadInput(
                f"{name!r} cannot be the name of a backup. Take 3 to 255 letters, digits, dots, dashes or underscores."
            )
        # A name identifies one set of backups: with a second one it would be ambiguous.
        if any(backup.name == name for backup in await self.list_backups(tables)):
            raise BadInput(f"There is a backup {name} already. Choose another name.")
        arns: list[str] = []
        try:
            for table in tables:
                response = await self._call("CreateBackup", TableName=table.name, BackupName=name)
                arns.append(response["BackupDetails"]["BackupArn"])
            for done, arn in enumerate(arns):
                _report(progress, done, len(tables))
                await self._wait_for_backup(arn)
        except TableError:
            await self._discard(arns)
            raise
        _report(progress, len(tables), len(tables))

    async def _wait_for_backup(self, arn: str) -> None:
        async for _ in _Polling(self._clock, _BACKUP_SECONDS):
            response = await self._client.call("DescribeBackup", BackupArn=arn)
            status = response["BackupDescription"]["BackupDetails"]["BackupStatus"]
            if status == "AVAILABLE":
                return
            if status == "DELETED":
                raise TableError("The backup was deleted while it was being made. Take it again.", backup=arn)
        raise StoreUnreachable(f"The backup was not ready within {_BACKUP_SECONDS:g} seconds. Take it again.")

    async def _discard(self, arns: Sequence[str]) -> None:
        """Delete the backups of an incomplete set."""
        for arn in arns:
            try:
                await self._client.call("DeleteBackup", BackupArn=arn)
            except TableError:
                # The name stays in use; the error that led here is the one to report.
                continue

    async def list_backups(self, tables: Sequence[TableSchema]) -> list[Backup]:
        """All backups of the tables, oldest first."""
        backups: list[Backup] = []
        for table in tables:
            start: dict[str, Any] = {}
            while True:
                response = await self._client.call("ListBackups", TableName=table.name, **start)
                summaries = cast("list[dict[str, Any]]", response["BackupSummaries"])
                backups += [_backup(summary) for summary in summaries if summary["TableName"] == table.name]
                if not response.get("LastEvaluatedBackupArn"):
                    break
                start = {"ExclusiveStartBackupArn": response["LastEvaluatedBackupArn"]}
        return sorted(backups, key=lambda backup: (backup.at, backup.table))

    async def restore(self, tables: Sequence[TableSchema], name: str, progress: Progress | None = None) -> None:
        """Replace every table by its backup of that name.

        Nothing is changed unless every table has one. The service can only restore into a new table, so each table is
        deleted first; when something fails after that, the backups still exist and the restore can be repeated.
        """
        chosen = {backup.table: backup for backup in await self.list_backups(tables) if backup.name == name}
        available = {backup.table for backup in chosen.values() if backup.status == "AVAILABLE"}
        missing = [table.name for table in tables if table.name not in available]
        if missing or not tables:
            raise BadInput(f"There is no backup {name} of {', '.join(missing)}. Choose one that holds every table.")
        for done, table in enumerate(tables):
            _report(progress, done, len(tables))
            await self._replace(table, chosen[table.name])
        _report(progress, len(tables), len(tables))

    async def _replace(self, table: TableSchema, backup: Backup) -> None:
        tags = await self._drop(table.name)
        try:
            await self._call("RestoreTableFromBackup", TargetTableName=table.name, BackupArn=backup.arn)
            await self._wait_until_active(table.name)
            await self._apply_settings(table, tags)
        except TableError as problem:
            raise TableError(
                f"{table.name} was deleted and is not completely restored: {problem.message} The backup {backup.name} "
                "still exists. Restore again.",
                table=table.name,
            ) from problem

    async def _drop(self, name: str) -> list[dict[str, str]]:
        """Delete a table if it exists; returns its tags, which no backup holds."""
        if await describe_table(self._client, name) is None:
            return []
        described = await self._wait_until_active(name)
        tags = await self._tags(described["TableArn"])
        if described.get("DeletionProtectionEnabled"):
            await self._client.call("UpdateTable", TableName=name, DeletionProtectionEnabled=False)
            await self._wait_until_active(name)
        await self._client.call("DeleteTable", TableName=name)
        async for _ in _Polling(self._clock, _TABLE_SECONDS):
            if await describe_table(self._client, name) is None:
                return tags
        raise StoreUnreachable(f"{name} was not deleted within {_TABLE_SECONDS:g} seconds. Restore again.")

    async def _apply_settings(self, table: TableSchema, tags: list[dict[str, str]]) -> None:
        """Set what a restored table lacks: stream, time to live, recovery, protection and tags."""
        # The operator has confirmed that everything is replaced; an older backup may have other indexes.
        settings = Tables(self._client, self._clock, removals=True)
        try:
            await settings.apply([table])
        finally:
            await settings.close()
        if tags:
            described = await self._wait_until_active(table.name)
            await self._client.call("TagResource", ResourceArn=described["TableArn"], Tags=tags)

    async def _tags(self, arn: str) -> list[dict[str, str]]:
        try:
            response = await self._client.call("ListTagsOfResource", ResourceArn=arn)
        except LacksCapability:
            return []
        # Only AWS can set its own tags.
        return [tag for tag in response.get("Tags", []) if not tag["Key"].startswith("aws:")]

    async def _call(self, operation: str, **parameters: Any) -> Response:
        try:
            return await self._client.call(operation, **parameters)
        except TableError as problem:
            advice = _ADVICE.get(str(problem.details.get("code")))
            if advice is None:
                raise
            raise BadInput(f"{operation} was refused: {advice}") from problem

    async def _wait_until_active(self, name: str) -> dict[str, Any]:
        async for _ in _Polling(self._clock, _TABLE_SECONDS):
            described = await describe_table(self._client, name)
            if described is not None and described["TableStatus"] == "ACTIVE":
                return described
        raise StoreUnreachable(f"{name} was not ready within {_TABLE_SECONDS:g} seconds. Look at it in the console.")


class _Polling:
    """Iterates with growing pauses, for a maximum number of seconds."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._deadline = clock.now() + seconds
        self._pause = 0.0

    def __aiter__(self) -> "_Polling":
        return self

    async def __anext__(self) -> None:
        if self._pause:
            if self._clock.now() >= self._deadline:
                raise StopAsyncIteration
            await self._clock.sleep(self._pause)
        self._pause = min(self._pause * 2, _MAX_PAUSE_SECONDS) or _MIN_PAUSE_SECONDS


def _backup(summary: dict[str, Any]) -> Backup:
    return Backup(
        summary["BackupName"],
        summary["TableName"],
        summary["BackupCreationDateTime"].timestamp(),
        summary["BackupStatus"],
        int(summary.get("BackupSizeBytes", 0)),
        summary["BackupArn"],
    )


def _report(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)
