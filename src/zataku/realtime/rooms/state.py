"""How a room is at this moment in the process that owns it, and the numbered telling of whatever changes in it."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeAlias, TypeVar

import structlog

from zataku.errors import Problem, RequestError
from zataku.realtime.rooms.behaviour import Event, HasEpoch, Transient
from zataku.realtime.rooms.bus_messages import Alive, Counted, Happened, Left, Over, PassedBy, Renewed, Sight, Word

S = TypeVar("S", bound=HasEpoch)
Step: TypeAlias = Callable[[S], Transient[S]]

_log = structlog.get_logger(__name__)


class RoomState(Generic[S]):
    """The state of a room. Only the room's task replaces it by what was stored; what passes changes it in between.

    While the task writes, what passes is told at once as ever, and done once more to the state that comes back.
    """

    def __init__(self, topic: str, state: S, owner: str, tell: Callable[[Word], None], *, seq: int) -> None:
        self.topic = topic
        self.state = state
        self.here = 0
        self.unflushed = False
        self._owner = owner
        self._tell = tell
        self._seq = seq
        self._number = 0
        self._meanwhile: list[Step[S]] | None = None

    # What the task does

    def begin_write(self) -> S:
        """The state that a write begins from."""
        self._meanwhile = []
        return self.state

    def keep(self, state: S, events: Sequence[Event] = ()) -> None:
        """A write came back: this is the room now, and this has happened."""
        if state.epoch != self.state.epoch:
            self._adopt(state)
            self.renew()
            return
        self._adopt(state)
        if events:
            self._seq += len(events)
            self._tell(Happened(epoch=state.epoch, number=self._next(), seq=self._seq, events=tuple(events)))

    def give_up_write(self) -> None:
        """Nothing was written: the room stays as it is."""
        self._meanwhile = None

    def reload(self, state: S) -> None:
        """The room was loaded anew. Whoever hears it needs a snapshot, unless it turns out to be the same."""
        before = self.state
        self._adopt(state)
        if self.state == before:
            return
        # A place that somebody remembers from before must not count as the present one.
        self._seq += 1
        self.renew()

    def renew(self) -> None:
        """Tell everybody that they need a snapshot."""
        epoch, number = self.state.epoch, self._next()
        self._tell(Renewed(epoch=epoch, number=number, seq=self._seq, owner=self._owner, here=self.here))

    # What passes

    def pass_by(self, step: Step[S], *, flush: bool = True) -> None:
        """Do something to the state in memory, to be flushed later or not, and tell what is to be seen of it."""
        passed = self._try(step, self.state)
        if passed is None:
            return
        if self._meanwhile is not None:
            self._meanwhile.append(step)
        changed, epoch = passed.state is not self.state, passed.state.epoch
        self.unflushed = self.unflushed or (changed and flush)
        self.state = passed.state
        events, binary = tuple(passed.events), tuple(passed.binary)
        if events or binary:
            number = self._next()
            told = PassedBy(epoch=epoch, number=number, seq=self._seq, matters=changed, events=events, binary=binary)
            self._tell(told)

    def count(self, here: int) -> None:
        """So many people are here now."""
        if here != self.here:
            self.here = here
            self._tell(Counted(epoch=self.state.epoch, number=self._next(), seq=self._seq, here=here))

    # What is said about it

    def sight(self) -> Sight:
        """Where the room is now."""
        return Sight(epoch=self.state.epoch, seq=self._seq, number=self._number, here=self.here)

    def alive(self) -> Alive:
        """That its owner is there."""
        return Alive(epoch=self.state.epoch, number=self._number, seq=self._seq, owner=self._owner, here=self.here)

    def over(self, problem: Problem) -> None:
        """Tell everybody that it has ended."""
        self._tell(Over(epoch=self.state.epoch, number=self._next(), seq=self._seq, problem=problem))

    def leave(self, *, freely: bool) -> None:
        """Tell everybody that it is run here no more."""
        epoch, number = self.state.epoch, self._next()
        self._tell(Left(epoch=epoch, number=number, seq=self._seq, owner=self._owner, freely=freely))

    def _adopt(self, state: S) -> None:
        meanwhile, self._meanwhile = self._meanwhile or [], None
        for step in meanwhile:
            passed = self._try(step, state)
            state = state if passed is None else passed.state
        self.state = state

    def _try(self, step: Step[S], state: S) -> Transient[S] | None:
        try:
            return step(state)
        except RequestError:
            return None
        except Exception:  # noqa: BLE001 - something that passes must not end the room
            _log.exception("Something in passing could not be carried out.", topic=self.topic)
            return None

    def _next(self) -> int:
        self._number += 1
        return self._number
