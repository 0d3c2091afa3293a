"""Creating and changing the service's tables to match the design."""

import asyncio
from collections.abc import Sequence

import structlog

from zataku.clock import Clock
from zataku.table.backend.errors import (
    BadInput,
    LacksCapability,
    SchemaRefused,
    StoreUnreachable,
    TableError,
    Throttled,
)
from zataku.table.backend.schema_diff import PlannedChange, check_table, check_table_change
from zataku.table.backend.table_schema import TableSchema
from zataku.table.dynamodb.client import Client
from zataku.table.dynamodb.tables.description import (
    TableDescription,
    describe_settings,
    describe_table,
    parse_description,
)
from zataku.table.dynamodb.tables.differences import Difference, creation_parameters, differences

_MIN_PAUSE_SECONDS = 0.02
_MAX_PAUSE_SECONDS = 5.0
# How long start() waits for a table, and how long index changes continue in the background.
_READY_SECONDS = 600.0
_BACKFILL_SECONDS = 24 * 3600.0

log = structlog.stdlib.get_logger()


class Tables:
    """The tables of a store in the service.

    The service changes indexes one at a time, which may take hours, so start() begins with the first and leaves the
    rest to a background task. With `manage` off nothing is changed: differences are refused. Only with `removals` is
    anything deleted that is stored; otherwise a difference that asks for it is refused, or reported where the store
    works all the same.
    """

    def __init__(
        self,
        client: Client,
        clock: Clock,
        *,
        manage: bool = True,
        removals: bool = False,
        apply_command: str = "zataku store apply",
    ) -> None:
        self._client = client
        self._clock = clock
        self._manage = manage
        self._removals = removals
        self._apply_command = apply_command
        self._background: dict[str, asyncio.Task[None]] = {}
        # Differences that remain, by table name.
        self.problems: dict[str, list[str]] = {}

    async def apply(self, tables: Sequence[TableSchema]) -> None:
        """Create or change the tables. Every refusal comes before the first change."""
        if len({table.name for table in tables}) < len(tables):
            raise SchemaRefused("Two tables have the same name. Rename one.")
        for table in tables:
            check_table(table)
        descriptions = await asyncio.gather(*(describe_settings(self._client, table.name) for table in tables))
        if not self._manage:
            self.problems |= _check_unmanaged(tables, descriptions, self._apply_command)
            return
        for table, stored in zip(tables, descriptions, strict=True):
            if stored is not None:
                check_table_change(stored.schema, table)
        if not self._removals:
            _refuse_removals(tables, descriptions, self._apply_command)
        await asyncio.gather(*map(self._apply_one, tables, descriptions))

    async def plan(self, tables: Sequence[TableSchema]) -> list[PlannedChange]:
        """The changes that `apply` would make with `removals`, without making them."""
        for table in tables:
            check_table(table)
        descriptions = await asyncio.gather(*(describe_settings(self._client, table.name) for table in tables))
        changes: list[PlannedChange] = []
        for table, stored in zip(tables, descriptions, strict=True):
            if stored is None:
                changes.append(PlannedChange(table.name, f"{table.name} is missing.", "create the table"))
                continue
            check_table_change(stored.schema, table)
            changes += [
                PlannedChange(table.name, part.message, part.action, removes=part.removes, required=part.required)
                for part in differences(stored, table)
            ]
        return changes

    async def _apply_one(self, table: TableSchema, stored: TableDescription | None) -> None:
        change = _TableChange(self._client, self._clock, table, removals=self._removals)
        if stored is None:
            await change.create()
        is_done = await change.run(stored, _READY_SECONDS, wait_for_indexes=False)
        self.problems[table.name] = [*change.refused_settings, *change.left]
        for difference in change.left:
            log.warning("table_differs", table=table.name, difference=difference, command=self._apply_command)
        if is_done:
            return
        earlier = self._background.pop(table.name, None)
        if earlier is not None:
            earlier.cancel()
        self._background[table.name] = asyncio.create_task(self._continue(change))

    async def _continue(self, change: "_TableChange") -> None:
        name = change.table.name
        try:
            await change.run(None, _BACKFILL_SECONDS, wait_for_indexes=True)
        except TableError as problem:
            self.problems[name].append(problem.message)

    async def wait_until_complete(self) -> None:
        """Wait until the background changes are complete."""
        await asyncio.gather(*self._background.values())

    async def close(self) -> None:
        """Stop the background changes; the next start continues them."""
        tasks = list(self._background.values())
        self._background.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _TableChange:
    """Changes of one table towards its design."""

    def __init__(self, client: Client, clock: Clock, table: TableSchema, *, removals: bool) -> None:
        self.table = table
        self._removals = removals
        self._client = client
        self._clock = clock
        # Accepted changes: some implementations accept a setting and never show it.
        self._accepted: list[Difference] = []
        self._refused: list[Difference] = []
        # A table that was created here has only the settings of its creation.
        self._is_new = False
        self._is_empty: bool | None = None
        # Optional settings that the service refused, and differences that only a removal would settle.
        self.refused_settings: list[str] = []
        self.left: list[str] = []

    async def create(self) -> None:
        """Create the table, unless another process has just done so."""
        try:
            await self._client.call("CreateTable", **creation_parameters(self.table))
            self._is_new = True
        except SchemaRefused as problem:
            if problem.details.get("code") != "ResourceInUseException":
                raise

    async def run(self, stored: TableDescription | None, seconds: float, *, wait_for_indexes: bool) -> bool:
        """Remove one difference after the other; False when the rest has to wait for an index.

        With `wait_for_indexes` it waits instead.
        """
        deadline = self._clock.now() + seconds
        pause = _MIN_PAUSE_SECONDS
        problem: TableError | None = None
        while True:
            try:
                stored = stored or await self._describe()
            except (Throttled, StoreUnreachable) as passing:
                problem = passing
            if stored is not None and stored.status not in ("CREATING", "UPDATING", "DELETING"):
                remaining, ready = await self._remaining(stored)
                if not remaining or not (ready or wait_for_indexes):
                    return not remaining
                if ready:
                    problem = await self._request(ready[0])
                    if problem is None:
                        stored, pause = stored if self._is_new else None, _MIN_PAUSE_SECONDS
                        continue
            if self._clock.now() > deadline:
                raise problem or StoreUnreachable(
                    f"{self.table.name} was not ready within {seconds:g} seconds. Start again later."
                )
            stored = None
            await self._clock.sleep(pause)
            pause = min(2 * pause, _MAX_PAUSE_SECONDS)

    async def _describe(self) -> TableDescription | None:
        if not self._is_new:
            return await describe_settings(self._client, self.table.name)
        response = await describe_table(self._client, self.table.name)
        return None if response is None else parse_description(response, None, False)

    async def _remaining(self, stored: TableDescription) -> tuple[list[Difference], list[Difference]]:
        """The remaining differences that may be removed, and those that can be removed now."""
        found = differences(stored, self.table)
        changes = [change for change in found if await self._is_permitted(change)]
        self.left = [change.message for change in found if change not in changes]
        waiting = [change for change in changes if change.is_index_change and stored.is_changing_index]
        ready = [change for change in changes if change not in waiting and change not in self._accepted]
        if self._is_new:
            ready = [change for change in ready if change.operation != "UpdateTable"]
        return waiting + ready, ready

    async def _is_permitted(self, change: Difference) -> bool:
        if not change.removes or self._removals or self._is_new:
            return True
        if change.operation != "UpdateTimeToLive":
            return False
        # In an empty table nothing can expire; it may be one whose creation was interrupted.
        if self._is_empty is None:
            response = await self._client.call("Scan", TableName=self.table.name, Limit=1, ConsistentRead=True)
            self._is_empty = not response.get("Items")
        return self._is_empty

    async def _request(self, difference: Difference) -> TableError | None:
        """Request one change; returns the error when it may be requested again."""
        try:
            await self._client.call(difference.operation, **difference.parameters)
        except (Throttled, StoreUnreachable) as problem:
            return problem
        except LacksCapability:
            if difference.operation != "UpdateContinuousBackups":
                raise
            # The service has no recovery, which `facts` reports.
        except (SchemaRefused, BadInput) as problem:
            if problem.details.get("code") == "ResourceInUseException":
                # Another process is changing the table.
                return problem
            if difference.is_index_change and difference not in self._refused:
                # Another process may just have created or deleted the index: describe the table once more.
                self._refused.append(difference)
                return problem
            if difference.operation == "UpdateTimeToLive":
                raise SchemaRefused(
                    f"{difference.message} The service changes it once an hour at most: {problem.message} "
                    "Start again in an hour.",
                    table=self.table.name,
                ) from problem
            if difference.required:
                raise
            self.refused_settings.append(f"{difference.message} {problem.message}")
        self._accepted.append(difference)
        return None


def _refuse_removals(
    tables: Sequence[TableSchema], descriptions: Sequence[TableDescription | None], apply_command: str
) -> None:
    """Refuse differences without which the store cannot work, and that only a removal settles."""
    refused = [
        difference.message
        for table, stored in zip(tables, descriptions, strict=True)
        if stored is not None
        for difference in differences(stored, table)
        if difference.removes and difference.required
    ]
    if refused:
        raise SchemaRefused(
            f"{' '.join(refused)} Opening a store deletes nothing. `{apply_command}` shows what it would change, asks, "
            "and changes it.",
            differences=refused,
        )


def _check_unmanaged(
    tables: Sequence[TableSchema], descriptions: Sequence[TableDescription | None], apply_command: str
) -> dict[str, list[str]]:
    """Refuse tables that differ from the design; returns the differences that the store works without."""
    required: list[str] = []
    optional: dict[str, list[str]] = {}
    for table, stored in zip(tables, descriptions, strict=True):
        if stored is None:
            required.append(f"{table.name} is missing.")
            continue
        try:
            check_table_change(stored.schema, table)
        except SchemaRefused as problem:
            required.append(problem.message)
        differing = differences(stored, table)
        required += [difference.message for difference in differing if difference.required]
        optional[table.name] = [difference.message for difference in differing if not difference.required]
    if required:
        required += [message for messages in optional.values() for message in messages]
        raise SchemaRefused(
            f"The tables differ from the design, and this store may not change them. {' '.join(required)} "
            f"Deploy the design's template, or run `{apply_command}`, which shows what it would change, asks, and "
            "changes it.",
            differences=required,
        )
    return optional
