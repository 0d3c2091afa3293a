"""A room in the process that owns it: one task that carries out what is asked, in order, a batch at a time.

The table is the truth. A batch is written first; only when that came back does the room change, are the askers answered
and is everybody told.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Generic, Literal, TypeAlias, TypeVar

import msgspec
import structlog
from msgspec.structs import replace

from zataku.clock import Clock
from zataku.errors import OutcomeUnknown, RateLimited, RequestError, Unavailable
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
from zataku.realtime.rooms.bus_messages import Alive, Sight, Word
from zataku.realtime.rooms.leases import HeldLease
from zataku.realtime.rooms.moved import RoomMoved
from zataku.realtime.rooms.presence import Change
from zataku.realtime.rooms.snapshots import SnapshotCache
from zataku.realtime.rooms.state import RoomState
from zataku.table import ResultUnknown, TableError

MOST_WAITING = 1_000
MOST_OF_ONE = 24
"""Commands that wait for a room, of all people and of one of them."""
TRIES = 5
PATIENCE = 10.0
PAUSE = 0.25
LINGER = 60.0
"""A room that nobody is in and nobody asks for is given up after so many seconds."""

S = TypeVar("S", bound=HasEpoch)
Answer: TypeAlias = msgspec.Struct | msgspec.Raw | None
Ending: TypeAlias = Literal["over", "lost", "stopped", "failed"]

_log = structlog.get_logger(__name__)


class Waiting(msgspec.Struct, frozen=True):
    """A command, and who waits for its answer."""

    asked: Command
    answer: asyncio.Future[Answer]

    def settle(self, answer: Answer | BaseException) -> None:
        """Answer, if anybody still waits."""
        if self.answer.done():
            return
        if isinstance(answer, BaseException):
            self.answer.set_exception(answer)
        else:
            self.answer.set_result(answer)


class _Ended(Exception):
    """The room is over."""


class RoomActor(Generic[S]):
    """A room that this process has taken. Everything that happens in it is told through `tell`."""

    def __init__(
        self,
        topic: str,
        behaviour: RoomBehaviour[S],
        state: S,
        *,
        holding: HeldLease,
        owner: str,
        clock: Clock,
        tell: Callable[[Word], None],
    ) -> None:
        self.topic = topic
        self.holding = holding
        self.asked_at = clock.now()
        # Numbers begin at the time of day: after a restored backup an epoch may come again, but no place in it.
        self._scene = RoomState(topic, state, owner, tell, seq=int(self.asked_at * 1000))
        self._behaviour = behaviour
        self._sights = SnapshotCache(behaviour)
        self._clock = clock
        self._inbox: deque[Waiting] = deque()
        self._asking: Counter[AccountId] = Counter()
        self._wake = asyncio.Event()
        self._flush_due = False
        self._stopping = False
        self._lost = False
        holding.on_lost = self.lose

    # What is asked of it

    async def ask(self, asked: Command) -> Answer:
        """Have a command carried out and stored. Raises `RequestError`, or `RoomMoved` when run here no more."""
        if self._stopping:
            raise RoomMoved
        if len(self._inbox) >= MOST_WAITING:
            raise Unavailable("Too much is asked of this room at the moment. Try again in a few seconds.")
        who = asked.sender.account_id
        if self._asking[who] >= MOST_OF_ONE:
            raise RateLimited("You ask for a lot at once. Wait until some of it is done.", retry_after=1)
        self.asked_at = self._clock.now()
        waiting = Waiting(asked, asyncio.get_running_loop().create_future())
        self._inbox.append(waiting)
        self._wake.set()
        self._asking[who] += 1
        waiting.answer.add_done_callback(lambda _: self._asked(who))
        return await waiting.answer

    def _asked(self, who: AccountId) -> None:
        self._asking[who] -= 1
        if not self._asking[who]:
            del self._asking[who]

    def passing(self, asked: Command) -> None:
        """Carry a passing command on at once. It is lost when the room may be another's by now."""
        if self._stopping or not self.holding.fresh:
            return
        now = self.asked_at = self._clock.now()
        if self._behaviour.accepts(asked, now):
            self._scene.pass_by(lambda state: self._behaviour.handle_transient(state, asked, now))

    def beat(self) -> None:
        """A moment has passed: tell what came together in it."""
        if not self._stopping:
            now = self._clock.now()
            self._scene.pass_by(lambda state: self._behaviour.tick(state, now), flush=False)

    def seen(self, change: Change, here: int) -> None:
        """People came into view or went out of it."""
        now = self._clock.now()
        self._scene.pass_by(
            lambda state: self._behaviour.presence_changed(state, change.came, change.left, now), flush=False
        )
        self._scene.count(here)

    async def look(self, who: Identity, since: str | None, *, whole: bool = True) -> Sight:
        """What somebody sees of the room; not `whole`: only whether they may. Raises `RequestError`, or `RoomMoved`."""
        if self._stopping:
            raise RoomMoved
        if not await self.holding.confirmed():
            self.lose()
            raise RoomMoved
        # Both are of one moment; the room may go on while the snapshot is made.
        state, sight = self._scene.state, self._scene.sight()
        self._behaviour.admits(state, who)
        return replace(sight, body=await self._sights.of(state, who, since)) if whole else sight

    def flush_soon(self) -> None:
        """Have what passed stored, if something did."""
        if self._scene.unflushed:
            self._flush_due = True
            self._wake.set()

    @property
    def here(self) -> int:
        """How many people were told to be here."""
        return self._scene.here

    @property
    def epoch(self) -> int:
        """The number of this owner."""
        return self._scene.state.epoch

    @property
    def alive(self) -> Alive:
        """The word that its owner is there."""
        return self._scene.alive()

    def stop(self) -> None:
        """Carry out the batch that is under way and no more, and store what passed. `run` ends then."""
        self._stopping = True
        self._wake.set()

    def lose(self) -> None:
        """Another process has the room: carry out nothing more. `run` ends then."""
        self._lost = True
        self.stop()

    # Its task

    async def run(self) -> Ending:
        """Carry out what is asked until the room is over, lost or stopped; gives which it was."""
        self._scene.renew()
        try:
            return await self._until_stopped()
        except _Ended:
            return "over"
        except LostRoom:
            return "lost"
        except Exception:  # noqa: BLE001 - the room is taken anew, by this process or another
            _log.exception("A room had to be given up.", topic=self.topic)
            return "failed"
        finally:
            self._stopping = True
            _settle(self._inbox, RoomMoved())
            self._inbox.clear()

    def leave(self, *, freely: bool) -> None:
        """Tell everybody that the room is run here no more."""
        self._scene.leave(freely=freely)

    async def _until_stopped(self) -> Ending:
        while not self._stopping:
            await self._wake.wait()
            self._wake.clear()
            while self._inbox and not self._stopping:
                if not await self.holding.confirmed():
                    raise LostRoom
                await self._carry_out_or_move(self._next_batch())
                await self._flush_if_due()
            await self._flush_if_due()
        if self._lost or not await self.holding.confirmed():
            raise LostRoom
        await self._flush()
        return "stopped"

    def _next_batch(self) -> list[Waiting]:
        return [self._inbox.popleft() for _ in range(min(self._behaviour.batch_limit, len(self._inbox)))]

    async def _carry_out_or_move(self, batch: list[Waiting]) -> None:
        try:
            later = await self._carry_out(batch)
        except BaseException:
            # The room has come to its end over them: nobody is left waiting for an answer.
            _settle(batch, RoomMoved(perhaps=True))
            raise
        self._inbox.extendleft(reversed(later))

    async def _carry_out(self, batch: list[Waiting]) -> list[Waiting]:
        """Carry out what can be written together; gives the rest of the batch."""
        for _ in range(TRIES):
            try:
                kept = await self._kept(batch)
            except StaleRoom:
                await self._reload()
            else:
                return [] if kept is None else self._conclude(kept, batch)
        _settle(batch, Unavailable("This could not be stored just now. Try again in a moment."))
        return []

    async def _kept(self, batch: list[Waiting]) -> Outcome[S] | None:
        """What came of a batch, or None when its askers are answered already."""
        state = self._scene.begin_write()
        try:
            kept = await self._behaviour.handle(state, [one.asked for one in batch], self._clock.now())
            if len(kept.replies) != len(batch) or all(answer is DEFERRED for answer in kept.replies):
                raise ValueError(f"{len(batch)} commands have the replies {kept.replies!r:.200}")
        except StaleRoom:
            raise
        except (LostRoom, asyncio.CancelledError):
            _settle(batch, RoomMoved(perhaps=True))
            raise
        except RequestError as refused:
            self._scene.give_up_write()
            _settle(batch, refused)
        except TableError as problem:
            _log.warning("Nobody knows whether a batch was stored.", topic=self.topic, code=problem.code)
            _settle(batch, OutcomeUnknown("Nobody knows whether this was stored. Look before you ask again."))
            await self._reload(take=isinstance(problem, ResultUnknown))
        except Exception as problem:  # noqa: BLE001 - one command that the rules stumble over must not end the room
            await self._after_failure(batch, problem)
        else:
            return kept
        return None

    async def _after_failure(self, batch: list[Waiting], problem: Exception) -> None:
        """Answer who asked for what cannot be carried out. The others of the batch get their turn by themselves."""
        await self._reload()
        if len(batch) == 1:
            batch[0].settle(problem)
            return
        for one in batch:
            await self._carry_out([Waiting(replace(one.asked, is_retry=True), one.answer)])

    def _conclude(self, kept: Outcome[S], batch: list[Waiting]) -> list[Waiting]:
        """The batch was written: everybody is told, and the askers are answered but for those who come later."""
        self._scene.keep(kept.state, kept.events)
        later: list[Waiting] = []
        for one, answer in zip(batch, kept.replies, strict=True):
            if answer is DEFERRED:
                later.append(one)
            else:
                one.settle(answer)
        if kept.closed is not None:
            _settle(later, RoomMoved())
            self._scene.over(kept.closed.problem)
            raise _Ended
        return later

    async def _flush_if_due(self) -> None:
        if self._flush_due:
            await self._flush()

    async def _flush(self) -> None:
        self._flush_due = False
        if not self._scene.unflushed:
            return
        self._scene.unflushed = False
        try:
            self._scene.keep(await self._behaviour.flush(self._scene.begin_write()))
        except StaleRoom:
            await self._reload()
        except (RequestError, TableError) as problem:
            self._scene.give_up_write()
            self._scene.unflushed = True
            _log.warning("What passed could not be stored yet.", topic=self.topic, problem=str(problem))
        except LostRoom:
            raise
        except Exception:  # noqa: BLE001 - what cannot be stored is lost, which what passes may be
            self._scene.give_up_write()
            _log.exception("What passed could not be stored.", topic=self.topic)

    async def _reload(self, *, take: bool = False) -> None:
        """Load the room anew. With `take`, a write that may still be under way is shut out by a new epoch."""
        until = self._clock.now() + PATIENCE
        while True:
            if not await self.holding.confirmed():
                raise LostRoom
            try:
                if take:
                    self._scene.keep(await self._behaviour.acquire(self.topic.partition("/")[2]))
                else:
                    self._scene.reload(await self._behaviour.reload(self._scene.state))
            except TableError as problem:
                take = take or isinstance(problem, ResultUnknown)
                if self._clock.now() >= until:
                    raise
                await self._clock.sleep(PAUSE)
            else:
                return


def _settle(batch: deque[Waiting] | Sequence[Waiting], answer: BaseException) -> None:
    for one in batch:
        one.settle(answer)
