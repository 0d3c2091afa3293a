"""Fault injection: every misbehaviour that Amazon DynamoDB documents, around any backend.

`StrictBackend` wraps another backend and injects faults that a single idle machine never shows. Each fault has its own
probability in `Faults`; injected faults are counted in `injected` by name.

| fault | what AWS does |
| --- | --- |
| `conflict` | Another transaction on the same item is in progress: TransactWriteItems and TransactGetItems are cancelled with TransactionConflict reasons, a single write gets TransactionConflictException. Nothing was done. |
| `throttle` | A partition or the account is over its capacity: ProvisionedThroughputExceeded or ThrottlingException. Nothing was done. |
| `stale_read` | An eventually consistent read is answered by a replica or index that has not caught up yet. |
| `short_page` | A page ends before its limit, as at 1 MB, and LastEvaluatedKey says where to continue. |
| `unprocessed` | BatchGetItem and BatchWriteItem process a part and return the rest as unprocessed; at least one item is always processed, else AWS throttles the whole call. |
| `duplicate` | A stream consumer that fails or moves after its checkpoint receives records again, before newer ones. |
| `lost_reply` | The connection breaks during a write. Half of these writes have happened, half have not. |

Every call draws one seed from the given random source when it is made: the same seed and the same calls in the same
order get the same faults, however the replies interleave. Stream polls have a separate source, since their number
depends on time.
"""  # noqa: E501 - a table row is one line

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from copy import deepcopy
from random import Random
from typing import Literal, NoReturn, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from zataku.table.backend.cost import ConsumedCapacity, Usage
from zataku.table.backend.errors import (
    CONFLICT_MESSAGE,
    REPLY_LOST_MESSAGE,
    THROTTLED_MESSAGE,
    ConditionFailed,
    Conflict,
    Reason,
    ResultUnknown,
    Throttled,
    TransactionCancelled,
)
from zataku.table.backend.limits import BATCH_WRITES
from zataku.table.backend.port import (
    Backend,
    Capability,
    DeleteItem,
    GetItem,
    IndexState,
    Progress,
    PutItem,
    QueryItems,
    RawChange,
    Row,
    Rows,
    ScanItems,
    Size,
    TransactWrite,
    Write,
    Written,
)
from zataku.table.backend.table_schema import TableSchema

Fault: TypeAlias = Literal["conflict", "throttle", "stale_read", "short_page", "unprocessed", "duplicate", "lost_reply"]
T = TypeVar("T")

# Largest size of a short page when the request has no limit.
_MAX_SHORT_PAGE_ITEMS = 10
# Acknowledged records kept for each consumer, to be delivered again.
_MAX_REPEATED_RECORDS = 10


class Faults(Struct, frozen=True, kw_only=True):
    """Probability of each fault, from 0 to 1, in a call that it applies to."""

    conflict: float = 0.0
    throttle: float = 0.0
    stale_read: float = 0.0
    short_page: float = 0.0
    unprocessed: float = 0.0
    duplicate: float = 0.0
    lost_reply: float = 0.0

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is a probability. Give a number from 0 to 1.")

    @classmethod
    def none(cls) -> "Faults":
        """No faults."""
        return cls()

    @classmethod
    def rough(cls) -> "Faults":
        """Frequent faults: errors that a few retries overcome, and more of the faults that need no retry."""
        return cls(
            conflict=0.05,
            throttle=0.05,
            stale_read=0.3,
            short_page=0.5,
            unprocessed=0.3,
            duplicate=0.3,
            lost_reply=0.03,
        )


_NONE = Faults.none()


class _FaultDraw:
    """Random decisions for one call."""

    def __init__(self, source: Random, faults: Faults, injected: Counter[str]) -> None:
        self._random = Random(source.getrandbits(64))
        self._faults = faults
        self._injected = injected

    def is_due(self, fault: Fault) -> bool:
        """True when the fault is to be injected in this call if possible."""
        return self._random.random() < getattr(self._faults, fault)

    def injects(self, fault: Fault) -> bool:
        """True when the fault is injected in this call, which is counted."""
        if not self.is_due(fault):
            return False
        self._injected[fault] += 1
        return True

    def coin_flip(self) -> bool:
        """True with probability one half."""
        return self._random.random() < 0.5

    def up_to(self, maximum: int) -> int:
        """A number from 1 to `maximum`."""
        return self._random.randint(1, maximum)

    def sample(self, elements: Sequence[T], maximum: int) -> list[T]:
        """At least one and at most `maximum` of the elements, in their order."""
        chosen = self._random.sample(range(len(elements)), self.up_to(maximum))
        return [elements[at] for at in sorted(chosen)]


class StrictBackend:
    """A backend with injected faults, each limited to the effect in the table above."""

    def __init__(self, inner: Backend, *, random: Random, faults: Faults = _NONE) -> None:
        self.inner = inner
        self.faults = faults
        self.injected: Counter[str] = Counter()
        self._calls = random
        self._polls = Random(random.getrandbits(64))
        # By table and consumer: records delivered but not acknowledged, and the records acknowledged last.
        self._pending: dict[tuple[str, str], list[RawChange]] = {}
        self._acknowledged: dict[tuple[str, str], list[RawChange]] = {}

    def _draw(self) -> _FaultDraw:
        return _FaultDraw(self._calls, self.faults, self.injected)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The capabilities of the inner backend."""
        return self.inner.capabilities

    async def start(self, tables: Sequence[TableSchema]) -> None:
        """Passed on unchanged."""
        await self.inner.start(tables)

    async def close(self) -> None:
        """Passed on unchanged."""
        await self.inner.close()

    async def get(self, read: GetItem, consumed: ConsumedCapacity | None = None) -> Row | None:
        """May be throttled; an eventually consistent read may be stale."""
        draw = self._draw()
        _maybe_throttle(draw)
        return await self.inner.get(_maybe_stale(read, draw), consumed)

    async def query(self, read: QueryItems, consumed: ConsumedCapacity | None = None) -> Rows:
        """May be throttled or end early; an eventually consistent read may be stale."""
        draw = self._draw()
        _maybe_throttle(draw)
        if not read.strong and draw.injects("stale_read"):
            read = replace(read, lagging=True)
        return await self.inner.query(replace(read, limit=_maybe_shortened(read.limit, draw)), consumed)

    async def scan(self, read: ScanItems, consumed: ConsumedCapacity | None = None) -> Rows:
        """May be throttled or end early."""
        draw = self._draw()
        _maybe_throttle(draw)
        return await self.inner.scan(replace(read, limit=_maybe_shortened(read.limit, draw)), consumed)

    async def batch_get(
        self, reads: Sequence[GetItem], consumed: ConsumedCapacity | None = None
    ) -> list[Row | Literal["unprocessed"] | None]:
        """May be throttled or leave some items unprocessed; each eventually consistent read may be stale."""
        draw = self._draw()
        _maybe_throttle(draw)
        answers = await self.inner.batch_get([_maybe_stale(read, draw) for read in reads], consumed)
        processed = [at for at, answer in enumerate(answers) if answer != "unprocessed"]
        if len(processed) > 1 and draw.injects("unprocessed"):
            for at in draw.sample(processed, maximum=len(processed) - 1):
                answers[at] = "unprocessed"
        return answers

    async def snapshot(self, reads: Sequence[GetItem], consumed: ConsumedCapacity | None = None) -> list[Row | None]:
        """May be throttled or cancelled for a conflict; never stale."""
        draw = self._draw()
        _maybe_throttle(draw)
        _maybe_cancel(len(reads), draw)
        return await self.inner.snapshot(reads, consumed)

    async def write(self, write: Write, consumed: ConsumedCapacity | None = None) -> Written:
        """May be throttled or refused for a conflict, or its reply may be lost."""
        draw = self._draw()
        _maybe_throttle(draw)
        if draw.injects("conflict"):
            raise Conflict(CONFLICT_MESSAGE)
        if draw.injects("lost_reply"):
            await _lose_reply(lambda: self.inner.write(write, consumed), draw)
        return await self.inner.write(write, consumed)

    async def batch_write(
        self, writes: Sequence[PutItem | DeleteItem], consumed: ConsumedCapacity | None = None
    ) -> list[PutItem | DeleteItem]:
        """May be throttled or leave some items unprocessed, or its reply may be lost."""
        draw = self._draw()
        _maybe_throttle(draw)
        unprocessed: list[PutItem | DeleteItem] = []
        if 1 < len(writes) <= BATCH_WRITES and not _same_item_twice(writes) and draw.injects("unprocessed"):
            unprocessed = draw.sample(writes, maximum=len(writes) - 1)
        processed = [write for write in writes if not any(write is other for other in unprocessed)]
        if draw.injects("lost_reply"):
            await _lose_reply(lambda: self.inner.batch_write(processed, consumed), draw)
        return unprocessed + await self.inner.batch_write(processed, consumed)

    async def transact(
        self, writes: Sequence[TransactWrite], token: str | None = None, consumed: ConsumedCapacity | None = None
    ) -> None:
        """May be throttled or cancelled for a conflict, or its reply may be lost, with a token or without."""
        draw = self._draw()
        _maybe_throttle(draw)
        _maybe_cancel(len(writes), draw)
        if draw.injects("lost_reply"):
            await _lose_reply(lambda: self.inner.transact(writes, token, consumed), draw)
        await self.inner.transact(writes, token, consumed)

    async def changes(self, table: TableSchema, consumer: str, limit: int, wait: float = 0) -> list[RawChange]:
        """May repeat the records acknowledged last before newer ones; draining a stream still terminates."""
        draw = _FaultDraw(self._polls, self.faults, self.injected)
        key = (table.name, consumer)
        acknowledged = self._acknowledged.get(key, [])
        # Only acknowledged records are repeated: repeating others could deliver a change before an earlier one.
        maximum = min(len(acknowledged), limit - 1)
        repeated = draw.up_to(maximum) if maximum > 0 and draw.is_due("duplicate") else 0
        changes = await self.inner.changes(table, consumer, limit - repeated, wait)
        self._pending[key] = list(changes)
        if not changes or not repeated:
            return changes
        self.injected["duplicate"] += 1
        return [*deepcopy(acknowledged[-repeated:]), *changes]

    async def acknowledge(self, table: TableSchema, consumer: str, position: str) -> None:
        """Passed on unchanged."""
        await self.inner.acknowledge(table, consumer, position)
        key = (table.name, consumer)
        pending = self._pending.get(key, [])
        done = next((at + 1 for at, record in enumerate(pending) if record.position == position), 0)
        self._acknowledged[key] = [*self._acknowledged.get(key, []), *pending[:done]][-_MAX_REPEATED_RECORDS:]
        self._pending[key] = pending[done:]

    async def forget(self, table: TableSchema, consumer: str) -> None:
        """Passed on unchanged."""
        await self.inner.forget(table, consumer)
        self._pending.pop((table.name, consumer), None)
        self._acknowledged.pop((table.name, consumer), None)

    async def sweep(self, table: TableSchema, now: float, limit: int) -> int:
        """Passed on unchanged."""
        return await self.inner.sweep(table, now, limit)

    async def index_states(self) -> list[IndexState]:
        """Passed on unchanged."""
        return await self.inner.index_states()

    async def sizes(self) -> list[Size]:
        """Passed on unchanged."""
        return await self.inner.sizes()

    async def facts(self) -> dict[str, str]:
        """Passed on unchanged."""
        return await self.inner.facts()

    async def add_usage(self, usage: Sequence[Usage]) -> None:
        """Passed on unchanged."""
        await self.inner.add_usage(usage)

    async def usage(self) -> list[Usage]:
        """Passed on unchanged."""
        return await self.inner.usage()

    async def backup(self, destination: str, progress: Progress | None = None) -> None:
        """Passed on unchanged."""
        await self.inner.backup(destination, progress)

    async def restore(self, source: str, progress: Progress | None = None) -> None:
        """Passed on; records delivered before the restore are not repeated."""
        await self.inner.restore(source, progress)
        self._pending.clear()
        self._acknowledged.clear()

    async def secret(self) -> bytes:
        """Passed on unchanged."""
        return await self.inner.secret()


def _maybe_throttle(draw: _FaultDraw) -> None:
    if draw.injects("throttle"):
        raise Throttled(THROTTLED_MESSAGE)


def _maybe_cancel(items: int, draw: _FaultDraw) -> None:
    if not items or not draw.injects("conflict"):
        return
    conflicting = draw.sample(range(items), maximum=items)
    reasons = [
        Reason("conflict", "Another transaction is in progress on the item.") if at in conflicting else Reason()
        for at in range(items)
    ]
    raise TransactionCancelled(
        "Other transactions are in progress on the same items. Nothing was done; try again.", reasons
    )


def _maybe_stale(read: GetItem, draw: _FaultDraw) -> GetItem:
    return replace(read, lagging=True) if not read.strong and draw.injects("stale_read") else read


def _maybe_shortened(limit: int | None, draw: _FaultDraw) -> int | None:
    if limit is not None and limit <= 1:
        return limit
    if not draw.injects("short_page"):
        return limit
    return draw.up_to(_MAX_SHORT_PAGE_ITEMS if limit is None else limit - 1)


def _same_item_twice(writes: Sequence[PutItem | DeleteItem]) -> bool:
    # The inner backend refuses such a batch as a whole, so it must receive all of it.
    item_ids: list[object] = []
    for write in writes:
        if isinstance(write, PutItem):
            key = tuple(write.item.get(attribute.name) for attribute in write.table.keys)
        else:
            key = write.key[: len(write.table.keys)]
        item_ids.append((write.table.name, key))
    return any(item_id in item_ids[:at] for at, item_id in enumerate(item_ids))


async def _lose_reply(write: Callable[[], Awaitable[object]], draw: _FaultDraw) -> NoReturn:
    """Make the write or not, and raise `ResultUnknown` in either case."""
    if draw.coin_flip():
        try:
            await write()
        except (ConditionFailed, TransactionCancelled):
            pass
    raise ResultUnknown(REPLY_LOST_MESSAGE)
