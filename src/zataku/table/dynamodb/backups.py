"""Backups that the service keeps, and going back to them."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

from msgspec import Struct

from zataku.clock import Clock
from zataku.table.backend.errors import BadInput, LacksCapability, SchemaRefused, StoreUnreachable, TableError
from zataku.table.backend.port import Progress
from zataku.table.backend.table_schema import TableSchema
from zataku.table.dynamodb.client import Answer, Client
from zataku.table.dynamodb.tables.management import Tables

_NAME = re.compile(r"[a-zA-Z0-9_.-]{3,255}")
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 10.0
_BACKUP_SECONDS = 3600.0
# A large table with many indexes takes hours to be restored.
_TABLE_SECONDS = 24 * 3600.0
_REFUSALS = {
    "PointInTimeRecoveryUnavailableException": "It keeps no history. Declare the table with `recovery=True`.",
    "InvalidRestoreTimeException": "The moment lies outside the history that is kept. Choose a later one.",
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
    """Takes backups of tables under one name, and replaces the tables by them."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        self._clock = clock

    async def take(self, tables: Sequence[TableSchema], name: str, progress: Progress | None = None) -> None:
        """Make a backup of that name of every table, each of one moment; the tables go on working."""
        if _NAME.fullmatch(name) is None:
            raise BadInput(
                f"{name!r} cannot be the name of a backup. Take 3 to 255 letters, digits, dots, dashes or underscores."
            )
        # One name is one set: a second one would leave open which of the two is meant.
        if any(backup.name == name for backup in await self.list_backups(tables)):
            raise BadInput(f"There is a backup {name} already. Choose another name.")
        made: list[str] = []
        try:
            for table in tables:
                answer = await self._call("CreateBackup", TableName=table.name, BackupName=name)
                made.append(answer["BackupDetails"]["BackupArn"])
            for done, arn in enumerate(made):
                _tell(progress, done, len(tables))
                await self._available(arn)
        except TableError:
            await self._discard(made)
            raise
        _tell(progress, len(tables), len(tables))

    async def _available(self, arn: str) -> None:
        async for _ in _Patience(self._clock, _BACKUP_SECONDS):
            answer = await self._client.call("DescribeBackup", BackupArn=arn)
            status = answer["BackupDescription"]["BackupDetails"]["BackupStatus"]
            if status == "AVAILABLE":
                return
            if status == "DELETED":
                raise TableError("The backup was deleted while it was being made. Take it again.", backup=arn)
        raise StoreUnreachable(f"The backup was not ready within {_BACKUP_SECONDS:g} seconds. Take it again.")

    async def _discard(self, arns: Sequence[str]) -> None:
        """Half a set is no backup."""
        for arn in arns:
            try:
                await self._client.call("DeleteBackup", BackupArn=arn)
            except TableError:
                # The name stays taken; the error that led here says more.
                continue

    async def list_backups(self, tables: Sequence[TableSchema]) -> list[Backup]:
        """All backups of the tables, the oldest first."""
        found: list[Backup] = []
        for table in tables:
            start: dict[str, Any] = {}
            while True:
                answer = await self._client.call("ListBackups", TableName=table.name, **start)
                summaries = cast("list[dict[str, Any]]", answer["BackupSummaries"])
                found += [_backup(summary) for summary in summaries if summary["TableName"] == table.name]
                if not answer.get("LastEvaluatedBackupArn"):
                    break
                start = {"ExclusiveStartBackupArn": answer["LastEvaluatedBackupArn"]}
        return sorted(found, key=lambda backup: (backup.at, backup.table))

    async def restore(self, tables: Sequence[TableSchema], name: str, progress: Progress | None = None) -> None:
        """Replace every table by its backup of that name.

        Nothing is touched unless each table has one. The service can only restore into a new table, so each table is
        deleted first; when something fails after that, the backups are still there and restoring again goes on.
        """
        chosen = {backup.table: backup for backup in await self.list_backups(tables) if backup.name == name}
        lacking = [it.name for it in tables if it.name not in chosen or chosen[it.name].status != "AVAILABLE"]
        if lacking or not tables:
            raise BadInput(f"There is no backup {name} of {', '.join(lacking)}. Choose one that holds every table.")
        for done, table in enumerate(tables):
            _tell(progress, done, len(tables))
            await self._replace(table, chosen[table.name])
        _tell(progress, len(tables), len(tables))

    async def _replace(self, table: TableSchema, backup: Backup) -> None:
        tags = await self._drop(table.name)
        try:
            await self._call("RestoreTableFromBackup", TargetTableName=table.name, BackupArn=backup.arn)
            await self._active(table.name)
            await self._furnish(table, tags)
        except TableError as problem:
            raise TableError(
                f"{table.name} was deleted and is not wholly restored: {problem.message} The backup {backup.name} is "
                "still there. Restore again.",
                table=table.name,
            ) from problem

    async def _drop(self, name: str) -> list[dict[str, str]]:
        """Delete a table, if it is there; gives its tags, which no backup holds."""
        described = await self._described(name)
        if described is None:
            return []
        described = await self._active(name)
        tags = await self._tags(described["TableArn"])
        if described.get("DeletionProtectionEnabled"):
            await self._client.call("UpdateTable", TableName=name, DeletionProtectionEnabled=False)
            await self._active(name)
        await self._client.call("DeleteTable", TableName=name)
        async for _ in _Patience(self._clock, _TABLE_SECONDS):
            if await self._described(name) is None:
                return tags
        raise StoreUnreachable(f"{name} was not deleted within {_TABLE_SECONDS:g} seconds. Restore again.")

    async def _furnish(self, table: TableSchema, tags: list[dict[str, str]]) -> None:
        """Put back what a restored table lacks: stream, time to live, history, protection and tags."""
        settings = Tables(self._client, self._clock)
        try:
            await settings.fit([table])
        finally:
            await settings.close()
        if tags:
            described = await self._active(table.name)
            await self._client.call("TagResource", ResourceArn=described["TableArn"], Tags=tags)

    async def _tags(self, arn: str) -> list[dict[str, str]]:
        try:
            answer = await self._client.call("ListTagsOfResource", ResourceArn=arn)
        except LacksCapability:
            return []
        # Tags of AWS's own can only be set by AWS.
        return [tag for tag in answer.get("Tags", []) if not tag["Key"].startswith("aws:")]

    async def point_in_time(self, table: TableSchema, at: float | None, target: str) -> None:
        """Make a table of another name that holds what the table held at a moment, the latest possible one for None.

        It is for looking things up: it has no stream, time to live or protection.
        """
        if _NAME.fullmatch(target) is None or target == table.name:
            raise BadInput(f"{target!r} cannot be the name of the new table. Take one that no table has.")
        moment: dict[str, object] = {"UseLatestRestorableTime": True}
        if at is not None:
            moment = {"RestoreDateTime": datetime.fromtimestamp(at, UTC)}
        await self._call("RestoreTableToPointInTime", SourceTableName=table.name, TargetTableName=target, **moment)
        await self._active(target)

    async def _call(self, operation: str, **parameters: Any) -> Answer:
        try:
            return await self._client.call(operation, **parameters)
        except TableError as problem:
            advice = _REFUSALS.get(str(problem.details.get("code")))
            if advice is None:
                raise
            raise BadInput(f"{operation} was refused: {advice}") from problem

    async def _described(self, name: str) -> dict[str, Any] | None:
        try:
            answer = await self._client.call("DescribeTable", TableName=name)
        except SchemaRefused:
            return None
        return answer["Table"]

    async def _active(self, name: str) -> dict[str, Any]:
        async for _ in _Patience(self._clock, _TABLE_SECONDS):
            described = await self._described(name)
            if described is not None and described["TableStatus"] == "ACTIVE":
                return described
        raise StoreUnreachable(f"{name} was not ready within {_TABLE_SECONDS:g} seconds. Look at it in the console.")


class _Patience:
    """Tries with growing pauses, for so many seconds at most."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._until = clock.now() + seconds
        self._pause = 0.0

    def __aiter__(self) -> "_Patience":
        return self

    async def __anext__(self) -> None:
        if self._pause:
            if self._clock.now() >= self._until:
                raise StopAsyncIteration
            await self._clock.sleep(self._pause)
        self._pause = min(self._pause * 2, _LONGEST_PAUSE) or _FIRST_PAUSE


def _backup(summary: dict[str, Any]) -> Backup:
    return Backup(
        summary["BackupName"],
        summary["TableName"],
        summary["BackupCreationDateTime"].timestamp(),
        summary["BackupStatus"],
        int(summary.get("BackupSizeBytes", 0)),
        summary["BackupArn"],
    )


def _tell(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)
