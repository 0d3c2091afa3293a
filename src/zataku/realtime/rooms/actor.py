"""The actor of a room in the process that owns it: one task that executes commands in order, batch by batch.

A batch is written first. Only when the write has returned does the state change, are the senders answered and are the
events published.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Generic, Literal, TypeAlias, TypeVar

import msgspec
import structlog
from msgspec.structs import replace

from zataku.clock import Clock
from zataku.errors import (
    OUTCOME_UNKNOWN,
    STORAGE_FULL,
    OutcomeUnknown,
    RateLimited,
    RequestError,
    StorageFull,
    Unavailable,
)
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.rooms.behaviour import (
    DEFERRED,
    Command,
    HasEpoch,
    LostRoom,
    Outcome,
    RoomBehaviour,
    StaleRoom,
)
from zataku.realtime.rooms.bus_messages import OwnerHeartbeat, RoomSnapshot, RoomUpdate
from zataku.realtime.rooms.context import RoomMoved
from zataku.realtime.rooms.leases import HeldLease
from zataku.realtime.rooms.presence import PresenceChange
from zataku.realtime.rooms.snapshots import SnapshotCache
from zataku.realtime.rooms.state import RoomState
from zataku.table import ResultUnknown, StoreFull, TableError

MAX_PENDING_COMMANDS = 1_000
MAX_PENDING_PER_SENDER = 24
MAX_STALE_ATTEMPTS = 5
RELOAD_TIMEOUT_SECONDS = 10.0
RELOAD_RETRY_SECONDS = 0.25

S = TypeVar("S", bound=HasEpoch)
CommandResult: TypeAlias = msgspec.Struct | msgspec.Raw | None
"""The reply to an executed command: a struct, or from another process its JSON."""
Ending: TypeAlias = Literal["closed", "lost", "stopped", "failed"]

log = structlog.get_logger(__name__)


class PendingCommand(msgspec.Struct, frozen=True):
    """A command in the inbox, and the future of its reply."""

    command: Command
    reply: asyncio.Future[CommandResult]

    def settle(self, reply: CommandResult | BaseException) -> None:
        """Set the reply, unless the sender has given up."""
        if self.reply.done():
            return
        if isinstance(reply, BaseException):
            self.reply.set_exception(reply)
        else:
            self.reply.set_result(reply)


class _Closed(Exception):
    """The behaviour has ended the room."""


class RoomActor(Generic[S]):
    """The actor of a room that this process has acquired. `publish` takes every update of the room."""

    def __init__(
        self,
        topic: str,
        behaviour: RoomBehaviour[S],
        state: S,
        *,
        lease: HeldLease,
        owner: str,
        clock: Clock,
        publish: Callable[[RoomUpdate], None],
    ) -> None:
        self.topic = topic
        self.used_at = clock.now()
        # Numbers start at the time of day: after a restored backup an epoch may come again, but no position in it.
        self._state = RoomState(topic, state, owner, seq=int(self.used_at * 1000))
        self._publish_update = publish
        self._behaviour = behaviour
        self._snapshots = SnapshotCache(behaviour)
        self._clock = clock
        self._lease = lease
        self._inbox: deque[PendingCommand] = deque()
        self._pending_by_sender: Counter[AccountId] = Counter()
        self._wake = asyncio.Event()
        self._flush_due = False
        self._stopping = False
        self._lost = False
        lease.on_lost = self.lose

    # Inbox

    async def ask(self, command: Command) -> CommandResult:
        """Execute and store a command. Raises `RequestError`, or `RoomMoved` when the room does not run here."""
        if self._stopping:
            raise RoomMoved
        if len(self._inbox) >= MAX_PENDING_COMMANDS:
            raise Unavailable("Too many commands are waiting for this room. Try again in a few seconds.")
        sender = command.sender.account_id
        if self._pending_by_sender[sender] >= MAX_PENDING_PER_SENDER:
            raise RateLimited("Too many of your commands are waiting. Wait until some are done.", retry_after=1)
        self.used_at = self._clock.now()
        pending = PendingCommand(command, asyncio.get_running_loop().create_future())
        self._inbox.append(pending)
        self._wake.set()
        self._pending_by_sender[sender] += 1
        pending.reply.add_done_callback(lambda _: self._forget_pending(sender))
        return await pending.reply

    def handle_transient(self, command: Command) -> None:
        """Execute a transient command at once. It is dropped when the lease may belong to another process by now."""
        if self._stopping or not self._lease.is_fresh:
            return
        now = self.used_at = self._clock.now()
        if self._behaviour.accepts(command, now):
            self._publish(
                self._state.apply_transient(lambda state: self._behaviour.handle_transient(state, command, now))
            )

    async def snapshot(self, viewer: Identity, since: str | None, *, with_body: bool = True) -> RoomSnapshot:
        """The room as a viewer may see it; without a body only their admission.

        Raises `RequestError`, or `RoomMoved` when the room does not run here.
        """
        if self._stopping:
            raise RoomMoved
        if not await self._lease.confirm():
            self.lose()
            raise RoomMoved
        # Both are of one moment; the room may change while the snapshot is made.
        state, snapshot = self._state.current, self._state.position()
        self._behaviour.admits(state, viewer)
        return replace(snapshot, body=await self._snapshots.get(state, viewer, since)) if with_body else snapshot

    # Time and presence

    def tick(self) -> None:
        """Let the behaviour publish what has accumulated."""
        if not self._stopping:
            now = self._clock.now()
            self._publish(self._state.apply_transient(lambda state: self._behaviour.tick(state, now), flush=False))

    def presence_changed(self, change: PresenceChange, present: int) -> None:
        """Accounts have joined or left."""
        behaviour, now = self._behaviour, self._clock.now()
        update = self._state.apply_transient(
            lambda state: behaviour.presence_changed(state, change.joined, change.left, now), flush=False
        )
        self._publish(update)
        self._publish(self._state.set_present(present))

    def flush_soon(self) -> None:
        """Store what transient commands changed, if they did."""
        if self._state.needs_flush:
            self._flush_due = True
            self._wake.set()

    @property
    def epoch(self) -> int:
        """The number of this ownership."""
        return self._state.current.epoch

    def heartbeat(self) -> OwnerHeartbeat:
        """The owner's heartbeat for other processes."""
        return self._state.heartbeat()

    # Lifetime

    def stop(self) -> None:
        """Finish the batch that is being written, and flush; `run` returns then."""
        self._stopping = True
        self._wake.set()

    def lose(self) -> None:
        """Execute nothing more: another process has the room. `run` returns then."""
        self._lost = True
        self.stop()

    def leave(self, *, is_released: bool) -> None:
        """Publish that the room runs here no longer."""
        self._publish(self._state.leave(is_released=is_released))

    async def run(self) -> Ending:
        """Execute commands until the room is closed, lost or stopped; returns which it was."""
        self._publish(self._state.reset())
        try:
            return await self._run_until_stopped()
        except _Closed:
            return "closed"
        except LostRoom:
            return "lost"
        except Exception:  # the room is acquired again, by this process or another
            log.exception("room_failed", topic=self.topic)
            return "failed"
        finally:
            self._stopping = True
            _settle_all(self._inbox, RoomMoved())
            self._inbox.clear()

    async def _run_until_stopped(self) -> Ending:
        while not self._stopping:
            await self._wake.wait()
            self._wake.clear()
            while self._inbox and not self._stopping:
                if not await self._lease.confirm():
                    raise LostRoom
                await self._execute_or_move(self._next_batch())
                await self._flush_if_due()
            await self._flush_if_due()
        if self._lost or not await self._lease.confirm():
            raise LostRoom
        await self._flush()
        return "stopped"

    # A batch: inbox, handle, outcome, publish

    def _next_batch(self) -> list[PendingCommand]:
        return [self._inbox.popleft() for _ in range(min(self._behaviour.batch_limit, len(self._inbox)))]

    async def _execute_or_move(self, batch: list[PendingCommand]) -> None:
        try:
            deferred = await self._execute(batch)
        except BaseException:
            # The room has ended over this batch: no sender is left waiting.
            _settle_all(batch, RoomMoved(maybe_executed=True))
            raise
        self._inbox.extendleft(reversed(deferred))

    async def _execute(self, batch: list[PendingCommand]) -> list[PendingCommand]:
        """Execute what can be written together; returns the deferred commands."""
        for _ in range(MAX_STALE_ATTEMPTS):
            try:
                outcome = await self._handle(batch)
            except StaleRoom:
                await self._reload()
            else:
                return [] if outcome is None else self._conclude(outcome, batch)
        _settle_all(batch, Unavailable("This could not be stored just now. Try again in a moment."))
        return []

    async def _handle(self, batch: list[PendingCommand]) -> Outcome[S] | None:
        """The outcome of a batch, or None when its senders have their replies already."""
        state = self._state.begin_write()
        try:
            outcome = await self._behaviour.handle(state, [pending.command for pending in batch], self._clock.now())
            if len(outcome.replies) != len(batch) or all(reply is DEFERRED for reply in outcome.replies):
                raise ValueError(f"{len(batch)} commands have the replies {outcome.replies!r:.200}")
        except StaleRoom:
            raise
        except (LostRoom, asyncio.CancelledError):
            _settle_all(batch, RoomMoved(maybe_executed=True))
            raise
        except RequestError as error:
            self._state.abort_write()
            _settle_all(batch, error)
        except StoreFull:
            # Nothing was written, so that the room continues with the state it had.
            self._state.abort_write()
            _settle_all(batch, StorageFull(STORAGE_FULL))
        except TableError as error:
            log.warning("batch_outcome_unknown", topic=self.topic, code=error.code)
            _settle_all(batch, OutcomeUnknown(OUTCOME_UNKNOWN))
            await self._reload(acquire=isinstance(error, ResultUnknown))
        except Exception as error:  # noqa: BLE001 - a command that the rules fail on must not end the room
            await self._repeat_one_by_one(batch, error)
        else:
            return outcome
        return None

    async def _repeat_one_by_one(self, batch: list[PendingCommand], error: Exception) -> None:
        """Give the error to the command that caused it, and execute the others one by one."""
        await self._reload()
        if len(batch) == 1:
            batch[0].settle(error)
            return
        for pending in batch:
            await self._execute([PendingCommand(replace(pending.command, is_retry=True), pending.reply)])

    def _conclude(self, outcome: Outcome[S], batch: list[PendingCommand]) -> list[PendingCommand]:
        """Publish what was written and reply; returns the deferred commands."""
        self._publish(self._state.commit(outcome.state, outcome.events))
        deferred: list[PendingCommand] = []
        for pending, reply in zip(batch, outcome.replies, strict=True):
            if reply is DEFERRED:
                deferred.append(pending)
            else:
                pending.settle(reply)
        if outcome.closed is not None:
            _settle_all(deferred, RoomMoved())
            self._publish(self._state.close(outcome.closed.problem))
            raise _Closed
        return deferred

    def _publish(self, update: RoomUpdate | None) -> None:
        if update is not None:
            self._publish_update(update)

    def _forget_pending(self, sender: AccountId) -> None:
        self._pending_by_sender[sender] -= 1
        if not self._pending_by_sender[sender]:
            del self._pending_by_sender[sender]

    # Storage

    async def _flush_if_due(self) -> None:
        if self._flush_due:
            await self._flush()

    async def _flush(self) -> None:
        self._flush_due = False
        if not self._state.needs_flush:
            return
        self._state.needs_flush = False
        try:
            self._publish(self._state.commit(await self._behaviour.flush(self._state.begin_write())))
        except StaleRoom:
            await self._reload()
        except (RequestError, TableError) as error:
            self._state.abort_write()
            self._state.needs_flush = True
            log.warning("flush_postponed", topic=self.topic, problem=str(error))
        except LostRoom:
            raise
        except Exception:  # transient changes may be lost
            self._state.abort_write()
            log.exception("flush_failed", topic=self.topic)

    async def _reload(self, *, acquire: bool = False) -> None:
        """Load the room again. With `acquire`, a new epoch shuts out a write that may still be in flight."""
        deadline = self._clock.now() + RELOAD_TIMEOUT_SECONDS
        while True:
            if not await self._lease.confirm():
                raise LostRoom
            try:
                if acquire:
                    self._publish(self._state.commit(await self._behaviour.acquire(self.topic.partition("/")[2])))
                else:
                    self._publish(self._state.reload(await self._behaviour.reload(self._state.current)))
            except TableError as error:
                acquire = acquire or isinstance(error, ResultUnknown)
                if self._clock.now() >= deadline:
                    raise
                await self._clock.sleep(RELOAD_RETRY_SECONDS)
            else:
                return


def _settle_all(batch: Iterable[PendingCommand], error: BaseException) -> None:
    for pending in batch:
        pending.settle(error)
