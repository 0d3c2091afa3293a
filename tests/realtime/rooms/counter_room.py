"""A small system with rooms for tests: each room holds a number to add to, and lines that are transient."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from zataku.errors import Forbidden, InvalidRequest, NotFound, RequestError
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.rooms.behaviour import (
    DEFERRED,
    Command,
    Event,
    LostRoom,
    Outcome,
    RoomBehaviour,
    StaleRoom,
    Transient,
)
from zataku.table import ConditionFailed, Entity, Key, ResultUnknown, Store, Table, path

OVER = RequestError("This counter is done.", code="over")
Text = Annotated[str, Meta(max_length=40)]
counters = Table("Counters", pk="PK", sk="SK")


@counters.entity(pk="COUNTER#{room_id}", sk="COUNTER")
class Count(Entity, frozen=True, kw_only=True):
    """A counter: its value, its ownership, and the ids of the last commands that changed it."""

    room_id: Text
    epoch: int = 0
    version: int = 0
    value: int = 0
    lines: Annotated[tuple[Text, ...], Meta(max_length=1000)] = ()
    marks: Annotated[tuple[Text, ...], Meta(max_length=200)] = ()
    over: bool = False


@counters.item(strong=True)
def count_of(room_id: str) -> Key[Count]:
    """One counter, read consistently."""
    return Count.key(room_id=room_id)


epoch = path(Count, lambda it: it.epoch)
version = path(Count, lambda it: it.version)
over = path(Count, lambda it: it.over)


class Do(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A command to a counter."""

    add: int = 0
    whisper: str | None = None
    trip: bool = False
    close: bool = False
    alone: bool = False
    """It cannot be written together with anything else."""
    erase: bool = False


class CounterState(msgspec.Struct, frozen=True, kw_only=True):
    """A counter in memory: the stored item, transient lines, and who is present."""

    stored: Count
    lines: tuple[str, ...] = ()
    people: frozenset[AccountId] = frozenset()

    @property
    def epoch(self) -> int:
        """The number of the ownership."""
        return self.stored.epoch


class CounterRooms(RoomBehaviour[CounterState]):
    """The rooms of this system. Events carry the sum after them, so that a lost or doubled one shows."""

    kind = "counter"
    restricted = True

    def __init__(self, store: Store, *, shared_snapshot: bool = False) -> None:
        self.store = store
        self.shared_snapshot = shared_snapshot
        self.batches: list[int] = []
        self.snapshots = 0
        self.flushed = 0
        self.unsettling = 0
        self.barred: set[AccountId] = set()
        self.gate = asyncio.Event()
        self.gate.set()
        self.snapshot_gate = asyncio.Event()
        self.snapshot_gate.set()
        self._called = asyncio.Event()

    async def wait_until(self, true: Callable[[], bool]) -> None:
        """Wait until a condition on `batches` and `snapshots` holds, for ten seconds at most."""
        async with asyncio.timeout(10):
            while not true():
                self._called.clear()
                await self._called.wait()

    def decode_command(self, payload: bytes) -> Do:
        return msgspec.json.decode(payload, type=Do)

    def decode_transient(self, payload: bytes) -> str:
        return msgspec.json.decode(payload, type=str)

    async def acquire(self, room_id: str) -> CounterState:
        try:
            stored = await self.store.update(count_of(room_id), epoch.add(1), when=over.not_equals(True))
        except ConditionFailed:
            raise NotFound("There is no such counter.") from None
        return CounterState(stored=stored, lines=stored.lines)

    async def reload(self, state: CounterState) -> CounterState:
        stored = await self.store.get(count_of(state.stored.room_id))
        if stored is None or stored.epoch != state.epoch:
            raise LostRoom
        return replace(state, stored=stored, lines=stored.lines)

    async def handle(self, state: CounterState, commands: Sequence[Command], now: float) -> Outcome[CounterState]:
        self.batches.append(len(commands))
        self._called.set()
        await self.gate.wait()
        before, stored = state.stored, state.stored
        events: list[Event] = []
        answers: list[Any] = []
        for place, one in enumerate(commands):
            if place and one.body.alone:
                answers += [DEFERRED] * (len(commands) - place)
                break
            if one.is_retry and one.id in stored.marks:
                answers.append(stored.value)
                continue
            do: Do = one.body
            if do.trip:
                raise RuntimeError("The rules stumble.")
            if do.add < 0:
                answers.append(InvalidRequest("A counter counts up. Add something."))
                continue
            marks = (*stored.marks, one.id)[-200:]
            stored = replace(stored, value=stored.value + do.add, marks=marks, over=stored.over or do.close)
            if do.add:
                events.append(Event(b'{"sum":%d}' % stored.value, erases=do.erase))
            if do.whisper is not None:
                events.append(Event(b'{"whisper":1}', recipients=frozenset({AccountId(do.whisper)})))
            answers.append(stored.value)
            if do.alone:
                answers += [DEFERRED] * (len(commands) - place - 1)
                break
        if stored is before:
            return Outcome(state=state, replies=answers)
        stored = replace(stored, version=before.version + 1)
        await self._write(stored, before)
        return Outcome(
            state=replace(state, stored=stored), events=events, replies=answers, closed=OVER if stored.over else None
        )

    async def _write(self, stored: Count, before: Count) -> None:
        try:
            await self.store.put(stored, when=epoch.equals(before.epoch) & version.equals(before.version))
        except ConditionFailed as refused:
            current = refused.current
            if isinstance(current, Count) and current.epoch == before.epoch:
                if current == stored:
                    return
                raise StaleRoom from None
            raise LostRoom from None
        except ResultUnknown:
            if self.unsettling:
                raise
            current = await self.store.get(count_of(before.room_id))
            if current == stored:
                return
            if current is None or current.epoch != before.epoch:
                raise LostRoom from None
            raise StaleRoom from None

    def handle_transient(self, state: CounterState, command: Command, now: float) -> Transient[CounterState]:
        if command.binary:
            return Transient(state=state, binary=[command.body])
        if command.body == "wave":
            return Transient(state=state, events=[Event(b'"wave"')])
        return Transient(
            state=replace(state, lines=(*state.lines, command.body)), events=[Event(msgspec.json.encode(command.body))]
        )

    async def flush(self, state: CounterState) -> CounterState:
        self.flushed += 1
        stored = replace(state.stored, lines=state.lines, version=state.stored.version + 1)
        await self._write(stored, state.stored)
        return replace(state, stored=stored)

    def presence_changed(
        self, state: CounterState, joined: frozenset[AccountId], left: frozenset[AccountId], now: float
    ) -> Transient[CounterState]:
        return Transient(state=replace(state, people=(state.people | joined) - left))

    def admits(self, state: CounterState, viewer: Identity) -> None:
        if viewer.account_id in self.barred:
            raise Forbidden("You were asked to leave.")

    async def snapshot(self, state: CounterState, viewer: Identity, since: str | None) -> bytes:
        self.snapshots += 1
        self._called.set()
        await self.snapshot_gate.wait()
        return msgspec.json.encode(
            {"sum": state.stored.value, "lines": state.lines, "people": len(state.people), "since": since}
        )
