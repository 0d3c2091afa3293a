"""Backups of a store on DynamoDB: the service keeps them, one of each table under the same name."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

from zataku.clock import Clock
from zataku.errors import Conflict
from zataku.server.admin.backups import Making, new_name
from zataku.server.admin.messages import Backups, BackupView
from zataku.table import Store, StoreUrl

if TYPE_CHECKING:
    from zataku.table.dynamodb.backups import Backup


class ServiceCopies:
    """Takes backups and lists them. What would hold everybody up for hours, or is AWS's own, is done elsewhere."""

    def __init__(self, store: Store, clock: Clock, place: StoreUrl) -> None:
        self._store = store
        self._clock = clock
        self._place = place
        self._making = Making(store, clock)

    async def listed(self) -> Backups:
        """All sets of backups, the newest first. A set is ready when it has every table."""
        found = {view.name: view for view in await self._kept()} | self._making.views
        newest_first = sorted(found.values(), key=lambda view: (-view.at, view.name))
        return Backups(backups=newest_first, files=False, most_upload_bytes=0, restoring=None)

    async def begin(self) -> str:
        """Start to take one of each table."""
        if "backups" not in self._store.backend.capabilities:
            raise Conflict(
                f"{self._place} keeps no backups. Copy it with `zataku store export FOLDER` instead.",
                code="lacks_capability",
            )
        self._making.refuse_when_busy()
        taken = {view.name for view in await self._kept()} | self._making.views.keys()
        self._making.refuse_when_busy()
        name = new_name(self._clock, taken.__contains__, "")
        self._making.start(f"The backup {name} is being made.", self._take(name))
        return name

    async def file(self, name: str) -> Path:
        """Refused: there is no file."""
        raise Conflict(
            f"DynamoDB keeps {name} itself. To have the items as files: `zataku store export FOLDER "
            f"--store {self._place}`.",
            code="no_file",
        )

    async def bring(
        self,
        name: str,
        content: AsyncIterator[bytes],  # noqa: ARG002 - what is refused is not read
        length: int | None,  # noqa: ARG002
    ) -> BackupView:
        """Refused: DynamoDB takes no files."""
        raise Conflict(
            f"DynamoDB takes no files such as {name}. Stop the server and bring the items in with `zataku store "
            f"import FOLDER --store {self._place}`.",
            code="no_file",
        )

    async def restore(self, name: str) -> str:
        """Refused: every table is deleted and made anew, which may take hours."""
        raise Conflict(
            "On DynamoDB every table is deleted and comes back from its backup, which may take hours. Stop the server "
            f"and use `zataku store restore {name} --store {self._place}`.",
            code="use_the_command_line",
        )

    async def delete(self, name: str) -> None:
        """Refused: they may be all that is left."""
        raise Conflict(
            f"DynamoDB keeps {name}. Delete it in the console of AWS, or with `aws dynamodb delete-backup`.",
            code="use_the_command_line",
        )

    async def settled(self) -> None:
        """Wait until nothing is under way."""
        await self._making.wait()

    async def _take(self, name: str) -> None:
        await self._making.take(name, name)

    async def _kept(self) -> list[BackupView]:
        if "backups" not in self._store.backend.capabilities:
            return []
        # botocore is loaded only by those who use it, and need not be there for others.
        from zataku.table.dynamodb.backups import Backups as KeptByService
        from zataku.table.dynamodb.client import Client

        schemas = [self._store.schema(table) for table in self._store.tables]
        client = Client(self._place.endpoint, self._place.region)
        try:
            kept = await KeptByService(client, self._clock).list_backups(schemas)
        finally:
            await client.close()
        sets: dict[str, list[Backup]] = {}
        for each in kept:
            sets.setdefault(each.name, []).append(each)
        return [_view(name, parts, {schema.name for schema in schemas}) for name, parts in sets.items()]


def _view(name: str, parts: "list[Backup]", tables: set[str]) -> BackupView:
    lacking = sorted(tables - {part.table for part in parts if part.status == "AVAILABLE"})
    return BackupView(
        name=name,
        state="damaged" if lacking else "ready",
        bytes=sum(part.bytes for part in parts),
        at=round(min(part.at for part in parts) * 1000),
        problem=f"It has no backup of {', '.join(lacking)}." if lacking else None,
    )
