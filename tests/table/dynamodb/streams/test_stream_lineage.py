"""Random shard trees, random readers: what a stream promises holds for all of them."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.dynamodb_servers import shared_server
from tests.support.plain_client import PlainClient
from tests.table.dynamodb.streams.scripted_service import TABLE, StreamService, served
from tests.table.dynamodb.streams.stream_tables import unique
from zataku.clock import ManualClock
from zataku.table.backend.errors import LeaseLost
from zataku.table.backend.table_schema import KeyAttribute, TableSchema
from zataku.table.dynamodb.client import Client
from zataku.table.dynamodb.metadata_table import MetadataTable
from zataku.table.dynamodb.streams import ConsumerRegistry
from zataku.table.dynamodb.streams.records import parse_position

SCHEMA = TableSchema(TABLE, KeyAttribute("pk"), stream="NEW_IMAGE")
KEYS = [f"k{at}" for at in range(6)]
_PATIENCE = 300

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


class Scene:
    """A stream that grows, and two readers that live, die and acknowledge."""

    def __init__(self, service: StreamService, client: Client, metadata: MetadataTable) -> None:
        self.service = service
        self.client = client
        self.metadata = metadata
        self.consumer = unique("consumer")
        self.readers = [self.reader(), self.reader()]
        self.batches: list[list] = [[], []]
        self.seen: defaultdict[str, list[int]] = defaultdict(list)
        # What each living reader has been told is acknowledged must not come to it again.
        self.done: list[set[str]] = [set(), set()]
        self.acknowledged: set[tuple[str, str]] = set()

    def reader(self) -> tuple[ConsumerRegistry, ManualClock]:
        """One more process."""
        clock = ManualClock()
        return ConsumerRegistry(self.client, self.metadata, clock, Random(7)), clock

    async def step(self, what: str, first: int, second: int) -> None:
        """Something happens."""
        match what:
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
                # Nothing is given back: its leases have to lapse.
                self._silence(first)
                self.readers[first] = self.reader()
                self.batches[first], self.done[first] = [], set()
            case _:
                await self.pass_time(1 - first)

    def trim(self) -> None:
        """Old shards are trimmed, except those with unread changes, whose loss no reader could prevent."""
        shards = {shard.name: shard for line in self.service.streams for shard in line.shards.values()}
        for shard in [shard for shard in shards.values() if shard.closed]:
            if shard.parent in {name for line in self.service.streams for name in line.shards}:
                # Shards go by age: none goes before the one that it came from.
                continue
            told = {(shard.name, record["dynamodb"]["SequenceNumber"]) for record in shard.records}
            if told <= self.acknowledged:
                self.service.trim(shard, len(told))

    def _silence(self, which: int) -> None:
        heartbeat = self.readers[which][0]._heartbeat
        if heartbeat is not None:
            heartbeat.cancel()

    async def read(self, which: int, limit: int) -> int:
        """Take some changes; the first time each comes it is in the order of its item."""
        changes = await self.readers[which][0].changes(SCHEMA, self.consumer, limit)
        assert len(changes) <= limit
        for change in changes:
            assert change.position not in self.done[which]
            assert isinstance(change.new, dict)
            key, number = change.new["pk"], change.new["n"]
            if number not in self.seen[key]:
                assert number == len(self.seen[key]) + 1
                self.seen[key].append(number)
        self.batches[which] = changes
        return len(changes)

    async def acknowledge(self, which: int, upto: int) -> None:
        """Acknowledge part of the last batch."""
        batch = self.batches[which][:upto]
        if batch:
            try:
                await self.readers[which][0].acknowledge(SCHEMA, self.consumer, batch[-1].position)
            except LeaseLost:
                # The other one has taken over while this one was away.
                return
            self.done[which] |= {change.position for change in batch}
            places = map(parse_position, self.done[which])
            self.acknowledged |= {(place.shard, place.sequence) for place in places}

    async def pass_time(self, which: int, seconds: float = 21) -> None:
        """Time passes for one reader while the other stands still."""
        await self.readers[which][1].advance(seconds)

    async def finish(self) -> None:
        """Follow to the end with one reader while the other is dead."""
        self._silence(1)
        for _ in range(_PATIENCE):
            if await self.read(0, 50):
                await self.acknowledge(0, 50)
            elif self.seen == self.service.told:
                return
            else:
                await self.pass_time(0)
        assert self.seen == self.service.told

    async def close(self) -> None:
        """Everybody leaves."""
        for streams, _ in self.readers:
            await streams.close()


class Stage:
    """A service, a metadata table and an event loop for all scenarios: connecting takes longer than a scenario."""

    def __init__(self) -> None:
        self.book_keeper = shared_server("dynoxide").endpoint
        self.runner = asyncio.Runner()
        self.service = StreamService()
        self.runner.run(self._open())

    async def _open(self) -> None:
        self.serving = served(self)
        self.client = PlainClient(await self.serving.__aenter__())
        self.keeping = PlainClient(self.book_keeper)
        self.metadata = MetadataTable(self.keeping, unique("ZatakuStore"), ManualClock())
        await self.metadata.start()

    def answer(self, operation: str, asked: dict) -> dict:
        """The answer of the service of the scene."""
        return self.service.answer(operation, asked)

    async def play(self, service: StreamService, script: list[tuple[str, int, int]]) -> None:
        """One scene."""
        self.service = service
        scene = Scene(service, self.client, self.metadata)
        try:
            # A consumer follows from the stream of the day on which it first reads.
            await scene.read(0, 1)
            for step in script:
                await scene.step(*step)
            await scene.finish()
        finally:
            await scene.close()

    async def _close(self) -> None:
        await self.client.close()
        await self.keeping.close()
        await self.serving.__aexit__(None, None, None)

    def close(self) -> None:
        """Let go of everything."""
        self.runner.run(self._close())
        self.runner.close()


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.close()


@settings(max_examples=max(20, settings.default.max_examples // 4))
@given(script=steps, page=st.integers(1, 4), gaps=st.integers(0, 2))
def test_every_change_comes_in_the_order_of_its_item(
    stage: Stage, script: list[tuple[str, int, int]], page: int, gaps: int
):
    stage.runner.run(stage.play(StreamService(page, gaps), script))
