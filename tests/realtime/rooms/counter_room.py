"""A small system of rooms for tests: each room has a counter, and lines that are transient until a flush."""

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

CLOSED = RequestError("This counter is closed.", code="closed")
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
    command_ids: Annotated[tuple[Text, ...], Meta(max_length=200)] = ()
    is_closed: bool = False


@counters.item(strong=True)
def count_of(room_id: str) -> Key[Count]:
    """One counter, read consistently."""
    return Count.key(room_id=room_id)


epoch = path(Count, lambda it: it.epoch)
version = path(Count, lambda it: it.version)
is_closed = path(Count, lambda it: it.is_closed)


class CounterCommand(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A command to a counter."""

    add: int = 0
    whisper: str | None = None
    fail: bool = False
    close: bool = False
    alone: bool = False
    """True for a command that cannot be written together with others."""
    erase: bool = False


class CounterState(msgspec.Struct, frozen=True, kw_only=True):
    """A counter in memory: the stored item, transient lines, and the accounts that are present."""

    stored: Count
    lines: tuple[str, ...] = ()
    present: frozenset[AccountId] = frozenset()

    @property
    def epoch(self) -> int:
        """The number of the ownership."""
        return self.stored.epoch


class CounterRooms(RoomBehaviour[CounterState]):
    """The behaviour of counters. An event carries the sum after it, so that a lost or repeated one is noticed."""

    kind = "counter"
    restricted = True
    has_binary_commands = True

    def __init__(self, store: Store, *, shared_snapshot: bool = False) -> None:
        self.store = store
        self.shared_snapshot = shared_snapshot
        self.batches: list[int] = []
        self.snapshots = 0
        self.flushed = 0
        self.blocked: set[AccountId] = set()
        self.gate = asyncio.Event()
        self.gate.set()
        self.snapshot_gate = asyncio.Event()
        self.snapshot_gate.set()
        self._called = asyncio.Event()

    async def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition on `batches` and `snapshots` holds, for ten seconds at most."""
        async with asyncio.timeout(10):
            while not condition():
                self._called.clear()
                await self._called.wait()

    def decode_command(self, payload: bytes) -> CounterCommand:
        return msgspec.json.decode(payload, type=CounterCommand)

    def decode_transient(self, payload: bytes) -> str:
        return msgspec.json.decode(payload, type=str)

    async def require_open(self, room_id: str) -> None:
        stored = await self.store.get(count_of(room_id))
        if stored is None or stored.is_closed:
            raise NotFound("There is no such counter.")

    async def acquire(self, room_id: str) -> CounterState:
        try:
            stored = await self.store.update(count_of(room_id), epoch.add(1), when=is_closed.not_equals(True))
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
        replies: list[Any] = []
        for index, command in enumerate(commands):
            if index and command.body.alone:
                replies += [DEFERRED] * (len(commands) - index)
                break
            if command.is_retry and command.id in stored.command_ids:
                replies.append(stored.value)
                continue
            body: CounterCommand = command.body
            if body.fail:
                raise RuntimeError("The rules failed.")
            if body.add < 0:
                replies.append(InvalidRequest("A counter counts up. Add a positive number."))
                continue
            command_ids = (*stored.command_ids, command.id)[-200:]
            stored = replace(
                stored, value=stored.value + body.add, command_ids=command_ids, is_closed=stored.is_closed or body.close
            )
            if body.add:
                events.append(Event(b'{"sum":%d}' % stored.value, erases=body.erase))
            if body.whisper is not None:
                events.append(Event(b'{"whisper":1}', recipients=frozenset({AccountId(body.whisper)})))
            replies.append(stored.value)
            if body.alone:
                replies += [DEFERRED] * (len(commands) - index - 1)
                break
        if stored is before:
            return Outcome(state=state, replies=replies)
        stored = replace(stored, version=before.version + 1)
        await self._write(stored, before)
        return Outcome(
            state=replace(state, stored=stored),
            events=events,
            replies=replies,
            closed=CLOSED if stored.is_closed else None,
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
        return Transient(state=replace(state, present=(state.present | joined) - left))

    def admits(self, state: CounterState, viewer: Identity) -> None:
        if viewer.account_id in self.blocked:
            raise Forbidden("You were asked to leave.")

    async def snapshot(self, state: CounterState, viewer: Identity, since: str | None) -> bytes:
        self.snapshots += 1
        self._called.set()
        await self.snapshot_gate.wait()
        return msgspec.json.encode(
            {"sum": state.stored.value, "lines": state.lines, "people": len(state.present), "since": since}
        )
