"""Making the service's tables fit the design, and waiting until they do."""

import asyncio
from collections.abc import Sequence

from zataku.clock import Clock
from zataku.table.backend.errors import (
    BadInput,
    LacksCapability,
    SchemaRefused,
    StoreUnreachable,
    TableError,
    Throttled,
)
from zataku.table.backend.schema_diff import check_table, check_table_change
from zataku.table.backend.table_schema import TableSchema
from zataku.table.dynamodb.client import Client
from zataku.table.dynamodb.tables.description import Stored, description, look
from zataku.table.dynamodb.tables.description import stored as stored_table
from zataku.table.dynamodb.tables.differences import Difference, creation, differences

_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 5.0
# How long start() waits for a table, and how long indexes are followed in the background.
_READY_SECONDS = 600.0
_FILLING_SECONDS = 24 * 3600.0


class Tables:
    """The tables of a store in the service.

    Changes of indexes go one at a time there and may take hours, so start() begins with the first and leaves the rest
    to a task in the background. With `manage` off nothing is touched: whatever differs is refused.
    """

    def __init__(self, client: Client, clock: Clock, *, manage: bool = True) -> None:
        self._client = client
        self._clock = clock
        self._manage = manage
        self._following: dict[str, asyncio.Task[None]] = {}
        # What is not as the design says although it was asked for, by the table's name.
        self.problems: dict[str, list[str]] = {}

    async def fit(self, tables: Sequence[TableSchema]) -> None:
        """Create or change the tables. All refusals come before the first change."""
        if len({table.name for table in tables}) < len(tables):
            raise SchemaRefused("Two tables have the same name. Rename one.")
        for table in tables:
            check_table(table)
        found = await asyncio.gather(*(look(self._client, table.name) for table in tables))
        if not self._manage:
            self.problems |= _tolerated(tables, found)
            return
        for table, stored in zip(tables, found, strict=True):
            if stored is not None:
                check_table_change(stored.schema, table)
        await asyncio.gather(*map(self._fit_one, tables, found))

    async def _fit_one(self, table: TableSchema, stored: Stored | None) -> None:
        fitting = _Fitting(self._client, self._clock, table)
        if stored is None:
            await fitting.create()
        done = await fitting.go_on(stored, _READY_SECONDS, patient=False)
        self.problems[table.name] = fitting.lacking
        if done:
            return
        earlier = self._following.pop(table.name, None)
        if earlier is not None:
            earlier.cancel()
        self._following[table.name] = asyncio.create_task(self._follow(fitting))

    async def _follow(self, fitting: "_Fitting") -> None:
        name = fitting.table.name
        try:
            await fitting.go_on(None, _FILLING_SECONDS, patient=True)
        except TableError as problem:
            self.problems[name].append(problem.message)

    async def settled(self) -> None:
        """Wait until nothing goes on in the background any more."""
        await asyncio.gather(*self._following.values())

    async def close(self) -> None:
        """Let go of what goes on in the background; the next start takes it up again."""
        following = list(self._following.values())
        self._following.clear()
        for task in following:
            task.cancel()
        await asyncio.gather(*following, return_exceptions=True)


class _Fitting:
    """One table on its way to its design."""

    def __init__(self, client: Client, clock: Clock, table: TableSchema) -> None:
        self.table = table
        self._client = client
        self._clock = clock
        # What was asked for and accepted: some implementations take a setting and never show it.
        self._asked: list[Difference] = []
        self._refused: list[Difference] = []
        # A table that was made here has no setting yet but those it was made with.
        self._fresh = False
        # What the service would not do, where the store works without it.
        self.lacking: list[str] = []

    async def create(self) -> None:
        """Make the table; another process that was quicker has made it too."""
        try:
            await self._client.call("CreateTable", **creation(self.table))
            self._fresh = True
        except SchemaRefused as problem:
            if problem.details.get("code") != "ResourceInUseException":
                raise

    async def go_on(self, stored: Stored | None, seconds: float, *, patient: bool) -> bool:
        """Take away one difference after the other; False when the rest must wait for an index.

        A patient call waits for the indexes instead.
        """
        deadline = self._clock.now() + seconds
        pause = _FIRST_PAUSE
        problem: TableError | None = None
        while True:
            try:
                stored = stored or await self._look()
            except (Throttled, StoreUnreachable) as passing:
                problem = passing
            if stored is not None and stored.status not in ("CREATING", "UPDATING", "DELETING"):
                left, ready = self._left(stored)
                if not left or not (ready or patient):
                    return not left
                if ready:
                    problem = await self._ask(ready[0])
                    if problem is None:
                        stored, pause = stored if self._fresh else None, _FIRST_PAUSE
                        continue
            if self._clock.now() > deadline:
                raise problem or StoreUnreachable(
                    f"{self.table.name} was not ready within {seconds:g} seconds. Start again later."
                )
            stored = None
            await self._clock.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _look(self) -> Stored | None:
        if not self._fresh:
            return await look(self._client, self.table.name)
        told = await description(self._client, self.table.name)
        return None if told is None else stored_table(told, None, False)

    def _left(self, stored: Stored) -> tuple[list[Difference], list[Difference]]:
        """What still differs, and which of it can be asked for now."""
        found = differences(stored, self.table)
        waiting = [each for each in found if each.online and stored.busy]
        ready = [each for each in found if each not in waiting and each not in self._asked]
        if self._fresh:
            ready = [each for each in ready if each.operation != "UpdateTable"]
        return waiting + ready, ready

    async def _ask(self, difference: Difference) -> TableError | None:
        """Ask for one change; the problem when it may be asked for again."""
        try:
            await self._client.call(difference.operation, **difference.parameters)
        except (Throttled, StoreUnreachable) as problem:
            return problem
        except LacksCapability:
            if difference.operation != "UpdateContinuousBackups":
                raise
            # Nothing to recover with: `facts` says so.
        except (SchemaRefused, BadInput) as problem:
            if problem.details.get("code") == "ResourceInUseException":
                # Another process is changing the table.
                return problem
            if difference.online and difference not in self._refused:
                # Perhaps another process has made or dropped the index this moment: look once more.
                self._refused.append(difference)
                return problem
            if not difference.required:
                self.lacking.append(f"{difference.says} {problem.message}")
            elif difference.operation == "UpdateTimeToLive":
                raise SchemaRefused(
                    f"{difference.says} The service changes it once an hour at most: {problem.message} "
                    "Start again in an hour.",
                    table=self.table.name,
                ) from problem
            else:
                raise
        self._asked.append(difference)
        return None


def _tolerated(tables: Sequence[TableSchema], found: Sequence[Stored | None]) -> dict[str, list[str]]:
    """Nothing may be changed here, so all must be as the design says; what a store works without is only told."""
    said: list[str] = []
    tolerated: dict[str, list[str]] = {}
    for table, stored in zip(tables, found, strict=True):
        if stored is None:
            said.append(f"{table.name} is missing.")
            continue
        try:
            check_table_change(stored.schema, table)
        except SchemaRefused as problem:
            said.append(problem.message)
        differing = differences(stored, table)
        said += [difference.says for difference in differing if difference.required]
        tolerated[table.name] = [difference.says for difference in differing if not difference.required]
    if said:
        raise SchemaRefused(
            f"The tables are not as the design says, and this store may not change them. {' '.join(said)} "
            "Deploy the design's template, or open the store with manage=True.",
            differences=said,
        )
    return tolerated
