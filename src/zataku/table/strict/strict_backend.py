"""A store that behaves as badly as Amazon DynamoDB is allowed to, so that nobody relies on luck.

`StrictBackend` wraps another backend and injects what AWS documents and one quiet machine never shows. Each fault has
its own probability in `Faults`, and what was injected is counted in `injected` under the fault's name.

| fault | what AWS does |
| --- | --- |
| `conflict` | A transaction on the same item is under way: TransactWriteItems and TransactGetItems are cancelled with TransactionConflict reasons, a single write gets TransactionConflictException. Nothing was done. |
| `throttle` | A partition or the account is over its capacity: ProvisionedThroughputExceeded or ThrottlingException. Nothing was done. |
| `stale_read` | An eventually consistent read is answered by a replica or index that has not caught up yet. |
| `short_page` | A page ends before its limit, as at 1 MB, and LastEvaluatedKey says where to go on. |
| `unprocessed` | BatchGetItem and BatchWriteItem do a part and return the rest as unprocessed; at least one item is always done, else AWS throttles the whole call. |
| `duplicate` | A stream's consumer that fails or moves after its checkpoint sees records again, before newer ones. |
| `lost_reply` | The connection breaks while a write is under way. Half of these writes have happened, half have not. |

Every call takes one draw from the given random source when it is made and rolls its own dice from that: the same seed
and the same calls in the same order meet the same faults, however the replies interleave. Polls of a stream have a
source of their own, since how often a consumer asks depends on time.
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

# A page without a limit of its own is cut to at most so many items.
_LONGEST_SHORT_PAGE = 10
# So many acknowledged records are remembered for each consumer, to come again.
_REMEMBERED = 10


class Faults(Struct, frozen=True, kw_only=True):
    """How likely each fault is, from 0 to 1, in a call that it can strike."""

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
        """A store on its best day."""
        return cls()

    @classmethod
    def rough(cls) -> "Faults":
        """A bad day: refusals that a few retries overcome, and everything that needs no retry often."""
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


class _Dice:
    """The chances of one call."""

    def __init__(self, source: Random, faults: Faults, injected: Counter[str]) -> None:
        self._random = Random(source.getrandbits(64))
        self._faults = faults
        self._injected = injected

    def threatens(self, fault: Fault) -> bool:
        """True when the fault is to happen in this call if it can."""
        return self._random.random() < getattr(self._faults, fault)

    def strikes(self, fault: Fault) -> bool:
        """True when the fault happens in this call; it is counted then."""
        if not self.threatens(fault):
            return False
        self._injected[fault] += 1
        return True

    def heads(self) -> bool:
        """One of two, both as likely."""
        return self._random.random() < 0.5

    def up_to(self, most: int) -> int:
        """A number from 1 to `most`."""
        return self._random.randint(1, most)

    def some(self, things: Sequence[T], most: int) -> list[T]:
        """At least one and at most so many of the things, in their order."""
        chosen = self._random.sample(range(len(things)), self.up_to(most))
        return [things[at] for at in sorted(chosen)]


class StrictBackend:
    """Another backend with faults injected, each of which does no more harm than the table above says."""

    def __init__(self, inner: Backend, *, random: Random, faults: Faults = _NONE) -> None:
        self.inner = inner
        self.faults = faults
        self.injected: Counter[str] = Counter()
        self._calls = random
        self._polls = Random(random.getrandbits(64))
        # By table and consumer: what was delivered and not acknowledged yet, and what was acknowledged last.
        self._pending: dict[tuple[str, str], list[RawChange]] = {}
        self._seen: dict[tuple[str, str], list[RawChange]] = {}

    def _dice(self) -> _Dice:
        return _Dice(self._calls, self.faults, self.injected)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the other store can do."""
        return self.inner.capabilities

    async def start(self, tables: Sequence[TableSchema]) -> None:
        """As the other store does."""
        await self.inner.start(tables)

    async def close(self) -> None:
        """As the other store does."""
        await self.inner.close()

    async def get(self, read: GetItem, consumed: ConsumedCapacity | None = None) -> Row | None:
        """May be throttled; an eventually consistent read may be stale."""
        dice = self._dice()
        _maybe_throttle(dice)
        return await self.inner.get(_aged(read, dice), consumed)

    async def query(self, read: QueryItems, consumed: ConsumedCapacity | None = None) -> Rows:
        """May be throttled or end early; an eventually consistent read may be stale."""
        dice = self._dice()
        _maybe_throttle(dice)
        if not read.strong and dice.strikes("stale_read"):
            read = replace(read, lagging=True)
        return await self.inner.query(replace(read, limit=_shortened(read.limit, dice)), consumed)

    async def scan(self, read: ScanItems, consumed: ConsumedCapacity | None = None) -> Rows:
        """May be throttled or end early."""
        dice = self._dice()
        _maybe_throttle(dice)
        return await self.inner.scan(replace(read, limit=_shortened(read.limit, dice)), consumed)

    async def batch_get(
        self, reads: Sequence[GetItem], consumed: ConsumedCapacity | None = None
    ) -> list[Row | Literal["unprocessed"] | None]:
        """May be throttled or leave some items out; each eventually consistent read may be stale."""
        dice = self._dice()
        _maybe_throttle(dice)
        answers = await self.inner.batch_get([_aged(read, dice) for read in reads], consumed)
        processed = [at for at, answer in enumerate(answers) if answer != "unprocessed"]
        if len(processed) > 1 and dice.strikes("unprocessed"):
            for at in dice.some(processed, most=len(processed) - 1):
                answers[at] = "unprocessed"
        return answers

    async def snapshot(self, reads: Sequence[GetItem], consumed: ConsumedCapacity | None = None) -> list[Row | None]:
        """May be throttled or cancelled for a conflict; never stale."""
        dice = self._dice()
        _maybe_throttle(dice)
        _maybe_cancel(len(reads), dice)
        return await self.inner.snapshot(reads, consumed)

    async def write(self, write: Write, consumed: ConsumedCapacity | None = None) -> Written:
        """May be throttled or refused for a conflict, or its reply may be lost."""
        dice = self._dice()
        _maybe_throttle(dice)
        if dice.strikes("conflict"):
            raise Conflict("A transaction is under way on the item. Nothing was written; try again.")
        if dice.strikes("lost_reply"):
            await _lose(lambda: self.inner.write(write, consumed), dice)
        return await self.inner.write(write, consumed)

    async def batch_write(
        self, writes: Sequence[PutItem | DeleteItem], consumed: ConsumedCapacity | None = None
    ) -> list[PutItem | DeleteItem]:
        """May be throttled or leave some items out, or its reply may be lost."""
        dice = self._dice()
        _maybe_throttle(dice)
        left: list[PutItem | DeleteItem] = []
        if 1 < len(writes) <= BATCH_WRITES and not _same_item_twice(writes) and dice.strikes("unprocessed"):
            left = dice.some(writes, most=len(writes) - 1)
        doing = [write for write in writes if not any(write is other for other in left)]
        if dice.strikes("lost_reply"):
            await _lose(lambda: self.inner.batch_write(doing, consumed), dice)
        return left + await self.inner.batch_write(doing, consumed)

    async def transact(
        self, writes: Sequence[TransactWrite], token: str | None = None, consumed: ConsumedCapacity | None = None
    ) -> None:
        """May be throttled or cancelled for a conflict, or its reply may be lost, with a token or without."""
        dice = self._dice()
        _maybe_throttle(dice)
        _maybe_cancel(len(writes), dice)
        if dice.strikes("lost_reply"):
            await _lose(lambda: self.inner.transact(writes, token, consumed), dice)
        await self.inner.transact(writes, token, consumed)

    async def changes(self, table: TableSchema, consumer: str, limit: int, wait: float = 0) -> list[RawChange]:
        """May repeat the records acknowledged last, in front of newer ones; draining a stream still ends."""
        dice = _Dice(self._polls, self.faults, self.injected)
        who = (table.name, consumer)
        seen = self._seen.get(who, [])
        # Only acknowledged records come again: repeating others could show a change before an earlier one.
        most = min(len(seen), limit - 1)
        again = dice.up_to(most) if most > 0 and dice.threatens("duplicate") else 0
        fresh = await self.inner.changes(table, consumer, limit - again, wait)
        self._pending[who] = list(fresh)
        if not fresh or not again:
            return fresh
        self.injected["duplicate"] += 1
        return [*deepcopy(seen[-again:]), *fresh]

    async def acknowledge(self, table: TableSchema, consumer: str, position: str) -> None:
        """As the other store does."""
        await self.inner.acknowledge(table, consumer, position)
        who = (table.name, consumer)
        pending = self._pending.get(who, [])
        done = next((at + 1 for at, record in enumerate(pending) if record.position == position), 0)
        self._seen[who] = [*self._seen.get(who, []), *pending[:done]][-_REMEMBERED:]
        self._pending[who] = pending[done:]

    async def forget(self, table: TableSchema, consumer: str) -> None:
        """As the other store does."""
        await self.inner.forget(table, consumer)
        self._pending.pop((table.name, consumer), None)
        self._seen.pop((table.name, consumer), None)

    async def sweep(self, table: TableSchema, now: float, limit: int) -> int:
        """As the other store does."""
        return await self.inner.sweep(table, now, limit)

    async def index_states(self) -> list[IndexState]:
        """As the other store does."""
        return await self.inner.index_states()

    async def sizes(self) -> list[Size]:
        """As the other store does."""
        return await self.inner.sizes()

    async def facts(self) -> dict[str, str]:
        """As the other store does."""
        return await self.inner.facts()

    async def add_usage(self, usage: Sequence[Usage]) -> None:
        """As the other store does."""
        await self.inner.add_usage(usage)

    async def usage(self) -> list[Usage]:
        """As the other store does."""
        return await self.inner.usage()

    async def backup(self, destination: str, progress: Progress | None = None) -> None:
        """As the other store does."""
        await self.inner.backup(destination, progress)

    async def restore(self, source: str, progress: Progress | None = None) -> None:
        """As the other store does; what consumers saw before is another history."""
        await self.inner.restore(source, progress)
        self._pending.clear()
        self._seen.clear()

    async def secret(self) -> bytes:
        """As the other store does."""
        return await self.inner.secret()


def _maybe_throttle(dice: _Dice) -> None:
    if dice.strikes("throttle"):
        raise Throttled("The table takes no more for the moment. Nothing was done; try again later.")


def _maybe_cancel(items: int, dice: _Dice) -> None:
    if not items or not dice.strikes("conflict"):
        return
    standing = dice.some(range(items), most=items)
    reasons = [
        Reason("conflict", "A transaction is under way on the item.") if at in standing else Reason()
        for at in range(items)
    ]
    raise TransactionCancelled("Others are at work on the same items. Nothing was done; try again.", reasons)


def _aged(read: GetItem, dice: _Dice) -> GetItem:
    return replace(read, lagging=True) if not read.strong and dice.strikes("stale_read") else read


def _shortened(limit: int | None, dice: _Dice) -> int | None:
    if limit is not None and limit <= 1:
        return limit
    if not dice.strikes("short_page"):
        return limit
    return dice.up_to(_LONGEST_SHORT_PAGE if limit is None else limit - 1)


def _same_item_twice(writes: Sequence[PutItem | DeleteItem]) -> bool:
    # Such a batch is refused as a whole, so nothing may be left out of it before the other store sees it.
    named: list[object] = []
    for write in writes:
        if isinstance(write, PutItem):
            key = tuple(write.item.get(attribute.name) for attribute in write.table.keys)
        else:
            key = write.key[: len(write.table.keys)]
        named.append((write.table.name, key))
    return any(other in named[:at] for at, other in enumerate(named))


async def _lose(writing: Callable[[], Awaitable[object]], dice: _Dice) -> NoReturn:
    """Do the write or don't, and lose the reply, whether it was good or bad news."""
    if dice.heads():
        try:
            await writing()
        except (ConditionFailed, TransactionCancelled):
            pass
    raise ResultUnknown("The reply was lost: the write may or may not have happened. Read before going on.")
