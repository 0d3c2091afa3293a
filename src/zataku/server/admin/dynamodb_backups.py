"""Backup storage of a store on DynamoDB: the service stores one backup of each table under the same name."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

from zataku.clock import Clock
from zataku.errors import Conflict
from zataku.server.admin.messages import BackupView
from zataku.table import Progress, Store, StoreUrl

if TYPE_CHECKING:
    from zataku.table.dynamodb.backups import Backup


class DynamoDBBackups:
    """Creates and lists backups. What takes hours, or belongs to AWS, is refused with the command that does it."""

    suffix = ""
    has_files = False
    max_upload_bytes = 0

    def __init__(self, store: Store, clock: Clock, url: StoreUrl) -> None:
        self._store = store
        self._clock = clock
        self._url = url

    async def prepare(self) -> None:
        """Refuse a service that has no backups."""
        if "backups" not in self._store.backend.capabilities:
            raise Conflict(
                f"{self._url} has no backups. Copy it with `zataku store export FOLDER` instead.",
                code="lacks_capability",
            )

    async def views(self) -> list[BackupView]:
        """All sets of backups. A set is ready when it has every table."""
        if "backups" not in self._store.backend.capabilities:
            return []
        # Imported here: botocore is an optional dependency.
        from zataku.table.dynamodb.backups import Backups
        from zataku.table.dynamodb.client import Client

        schemas = [self._store.schema(table) for table in self._store.tables]
        client = Client(self._url.endpoint, self._url.region)
        try:
            backups = await Backups(client, self._clock).list_backups(schemas)
        finally:
            await client.close()
        sets: dict[str, list[Backup]] = {}
        for backup in backups:
            sets.setdefault(backup.name, []).append(backup)
        return [_view(name, parts, {schema.name for schema in schemas}) for name, parts in sets.items()]

    async def create(self, name: str, progress: Progress) -> None:
        """Create a backup of each table."""
        await self._store.backup(name, progress)

    async def find(self, name: str) -> Path:
        """Refused: there is no file."""
        raise Conflict(
            f"DynamoDB stores {name} itself. To get the items as files: `zataku store export FOLDER "
            f"--store {self._url}`.",
            code="no_file",
        )

    async def upload(
        self,
        name: str,
        content: AsyncIterator[bytes],  # noqa: ARG002 - a refused upload is not read
        length: int | None,  # noqa: ARG002
    ) -> None:
        """Refused: DynamoDB accepts no files."""
        raise Conflict(
            f"DynamoDB accepts no files such as {name}. Stop the server and import the items with `zataku store "
            f"import FOLDER --store {self._url}`.",
            code="no_file",
        )

    async def check_restorable(self, name: str) -> None:
        """Refused: every table is deleted and created again, which may take hours."""
        raise Conflict(
            "On DynamoDB every table is deleted and created from its backup, which may take hours. Stop the server "
            f"and use `zataku store restore {name} --store {self._url}`.",
            code="use_the_command_line",
        )

    async def restore(self, name: str, progress: Progress) -> None:  # noqa: ARG002 - always refused
        """Refused, as `check_restorable` is."""
        await self.check_restorable(name)

    async def delete(self, name: str) -> None:
        """Refused: it may be the only copy."""
        raise Conflict(
            f"DynamoDB stores {name}. Delete it in the AWS console, or with `aws dynamodb delete-backup`.",
            code="use_the_command_line",
        )

    async def verify(self) -> None:
        """Nothing to check: DynamoDB verifies its own backups."""


def _view(name: str, parts: "list[Backup]", tables: set[str]) -> BackupView:
    missing = sorted(tables - {part.table for part in parts if part.status == "AVAILABLE"})
    return BackupView(
        name=name,
        state="damaged" if missing else "ready",
        bytes=sum(part.bytes for part in parts),
        at=round(min(part.at for part in parts) * 1000),
        problem=f"It has no backup of {', '.join(missing)}." if missing else None,
    )
