"""Random shard trees and readers: every change is read, in the order of its item."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.dynamodb_servers import shared_server
from tests.support.manual_clock import ManualClock
from tests.support.plain_client import PlainClient
from tests.table.dynamodb.streams.scripted_service import TABLE, StreamService, served
from tests.table.dynamodb.streams.stream_tables import unique_name
from zataku.table.backend.errors import LeaseLost
from zataku.table.backend.table_schema import KeyAttribute, TableSchema
from zataku.table.dynamodb.client import Client
from zataku.table.dynamodb.metadata_table import MetadataTable
from zataku.table.dynamodb.streams import ConsumerRegistry
from zataku.table.dynamodb.streams.records import parse_position

SCHEMA = TableSchema(TABLE, KeyAttribute("pk"), stream="NEW_IMAGE")
KEYS = [f"k{at}" for at in range(6)]
_MAX_READS = 300

numbers = st.integers(0, 5)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(1, 12), numbers),
        st.tuples(st.just("split"), numbers, st.integers(1, 2)),
        st.tuples(st.just("switch"), st.integers(1, 3), numbers),
        st.tuples(st.just("expire"), numbers, numbers),
        st.tuples(st.just("trim"), numbers, numbers),
        st.tuples(st.just("read"), st.integers(0, 1), st.integers(1, 7)),
        st.tuples(st.just("acknowledge"), st.integers(0, 1), st.integers(0, 7)),
        st.tuples(st.just("die"), st.integers(0, 1), numbers),
        st.tuples(st.just("pause"), st.integers(0, 1), numbers),
    ),
    max_size=40,
)


class Scenario:
    """A growing stream and two readers that read, acknowledge, pause and die."""

    def __init__(self, service: StreamService, client: Client, metadata: MetadataTable) -> None:
        self.service = service
        self.client = client
        self.metadata = metadata
        self.consumer = unique_name("consumer")
        self.readers = [self.new_reader(), self.new_reader()]
        self.batches: list[list] = [[], []]
        self.seen: defaultdict[str, list[int]] = defaultdict(list)
        # Positions that each running reader has acknowledged and must not read again.
        self.acknowledged_positions: list[set[str]] = [set(), set()]
        self.acknowledged_records: set[tuple[str, str]] = set()

    def new_reader(self) -> tuple[ConsumerRegistry, ManualClock]:
        """The registry and the clock of a new process."""
        clock = ManualClock()
        return ConsumerRegistry(self.client, self.metadata, clock, Random(7)), clock

    async def step(self, action: str, first: int, second: int) -> None:
        """Run one step of the script."""
        match action:
            case "write":
                for at in range(first):
                    self.service.write(KEYS[(at + second) % len(KEYS)])
            case "split":
                shards = self.service.open_shards
                self.service.split(shards[first % len(shards)], second)
            case "switch":
                self.service.disable()
                self.service.enable(first)
            case "expire":
                self.service.expire_iterators()
            case "trim":
                self.trim()
            case "read":
                await self.read(first, second)
            case "acknowledge":
                await self.acknowledge(first, second)
            case "die":
                # A dead reader releases no lease: its leases have to lapse.
                self._stop_heartbeat(first)
                self.readers[first] = self.new_reader()
                self.batches[first], self.acknowledged_positions[first] = [], set()
            case _:
                await self.pass_time(1 - first)

    def trim(self) -> None:
        """Trim closed shards whose records are all acknowledged; no reader could prevent the loss of others."""
        shards = {shard.name: shard for stream in self.service.streams for shard in stream.shards.values()}
        for shard in [shard for shard in shards.values() if shard.closed]:
            if shard.parent in {name for stream in self.service.streams for name in stream.shards}:
                # Shards are trimmed by age, a parent before its children.
                continue
            records = {(shard.name, record["dynamodb"]["SequenceNumber"]) for record in shard.records}
            if records <= self.acknowledged_records:
                self.service.trim(shard, len(records))

    def _stop_heartbeat(self, reader: int) -> None:
        heartbeat = self.readers[reader][0]._heartbeat
        if heartbeat is not None:
            heartbeat.cancel()

    async def read(self, reader: int, limit: int) -> int:
        """Read some changes; those read for the first time are in the order of their item."""
        changes = await self.readers[reader][0].changes(SCHEMA, self.consumer, limit)
        assert len(changes) <= limit
        for change in changes:
            assert change.position not in self.acknowledged_positions[reader]
            assert isinstance(change.new, dict)
            key, number = change.new["pk"], change.new["n"]
            if number not in self.seen[key]:
                assert number == len(self.seen[key]) + 1
                self.seen[key].append(number)
        self.batches[reader] = changes
        return len(changes)

    async def acknowledge(self, reader: int, upto: int) -> None:
        """Acknowledge part of the last batch."""
        batch = self.batches[reader][:upto]
        if batch:
            try:
                await self.readers[reader][0].acknowledge(SCHEMA, self.consumer, batch[-1].position)
            except LeaseLost:
                # The other reader has taken over while this one was paused.
                return
            self.acknowledged_positions[reader] |= {change.position for change in batch}
            positions = map(parse_position, self.acknowledged_positions[reader])
            self.acknowledged_records |= {(position.shard, position.sequence) for position in positions}

    async def pass_time(self, reader: int, seconds: float = 21) -> None:
        """Advance the clock of one reader only."""
        await self.readers[reader][1].advance(seconds)

    async def finish(self) -> None:
        """Read to the end with one reader while the other is dead."""
        self._stop_heartbeat(1)
        for _ in range(_MAX_READS):
            if await self.read(0, 50):
                await self.acknowledge(0, 50)
            elif self.seen == self.service.written:
                return
            else:
                await self.pass_time(0)
        assert self.seen == self.service.written

    async def close(self) -> None:
        """Close both registries."""
        for registry, _ in self.readers:
            await registry.close()


class ScenarioRunner:
    """A service, a metadata table and an event loop for all scenarios: connecting takes longer than a scenario."""

    def __init__(self) -> None:
        self.metadata_endpoint = shared_server("dynoxide").endpoint
        self.loop = asyncio.Runner()
        self.service = StreamService()
        self.loop.run(self._open())

    async def _open(self) -> None:
        self.serving = served(self)
        self.client = PlainClient(await self.serving.__aenter__())
        self.metadata_client = PlainClient(self.metadata_endpoint)
        self.metadata = MetadataTable(self.metadata_client, unique_name("ZatakuStore"), ManualClock())
        await self.metadata.start()

    def respond(self, operation: str, parameters: dict) -> dict:
        """Answer one call with the service of the current scenario."""
        return self.service.respond(operation, parameters)

    async def run(self, service: StreamService, script: list[tuple[str, int, int]]) -> None:
        """Run one scenario to its end."""
        self.service = service
        scenario = Scenario(service, self.client, self.metadata)
        try:
            # A consumer starts with the stream that is the latest when it first reads.
            await scenario.read(0, 1)
            for step in script:
                await scenario.step(*step)
            await scenario.finish()
        finally:
            await scenario.close()

    async def _close(self) -> None:
        await self.client.close()
        await self.metadata_client.close()
        await self.serving.__aexit__(None, None, None)

    def close(self) -> None:
        """Close the clients, the service and the event loop."""
        self.loop.run(self._close())
        self.loop.close()


@pytest.fixture(scope="module")
def runner() -> Iterator[ScenarioRunner]:
    runner = ScenarioRunner()
    yield runner
    runner.close()


@settings(max_examples=max(20, settings.default.max_examples // 4))
@given(script=steps, page=st.integers(1, 4), gaps=st.integers(0, 2))
def test_every_change_is_read_in_the_order_of_its_item(
    runner: ScenarioRunner, script: list[tuple[str, int, int]], page: int, gaps: int
):
    runner.loop.run(runner.run(StreamService(page, gaps), script))
