"""The state of a room in the process that owns it, and the numbering of its updates."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeAlias, TypeVar

import structlog

from zataku.errors import Problem, RequestError
from zataku.realtime.rooms.behaviour import Event, HasEpoch, Transient
from zataku.realtime.rooms.bus_messages import (
    DurableEvents,
    OwnerHeartbeat,
    OwnerLeft,
    PresenceCount,
    RoomClosed,
    RoomReset,
    RoomSnapshot,
    RoomUpdate,
    TransientEvents,
)

S = TypeVar("S", bound=HasEpoch)
TransientStep: TypeAlias = Callable[[S], Transient[S]]

log = structlog.get_logger(__name__)


class RoomState(Generic[S]):
    """The state of a room. Only the actor's task replaces it by a stored one; transient steps change it in between.

    A change returns its update, if it has one, for the actor to publish. A transient step that runs while the task
    writes takes effect at once, and is repeated on the state that the write returns.
    """

    def __init__(self, topic: str, current: S, owner: str, *, seq: int) -> None:
        self.topic = topic
        self.current = current
        self.present = 0
        self.needs_flush = False
        self._owner = owner
        self._seq = seq
        self._number = 0
        self._steps_during_write: list[TransientStep[S]] | None = None

    # Durable changes, by the actor's task

    def begin_write(self) -> S:
        """The state that a write starts from."""
        self._steps_during_write = []
        return self.current

    def commit(self, state: S, events: Sequence[Event] = ()) -> RoomUpdate | None:
        """Adopt the state that a write returned; the update with its events."""
        has_new_epoch = state.epoch != self.current.epoch
        self._adopt(state)
        if has_new_epoch:
            return self.reset()
        if not events:
            return None
        self._seq += len(events)
        return DurableEvents(epoch=state.epoch, number=self._next_number(), seq=self._seq, events=tuple(events))

    def abort_write(self) -> None:
        """Keep the current state: nothing was written."""
        self._steps_during_write = None

    def reload(self, state: S) -> RoomUpdate | None:
        """Adopt a reloaded state. Unless it equals the current one, every client gets a snapshot."""
        before = self.current
        self._adopt(state)
        if self.current == before:
            return None
        # A position that a client remembers from before must not count as the present one.
        self._seq += 1
        return self.reset()

    def reset(self) -> RoomReset:
        """The update after which every client needs a snapshot."""
        epoch, number = self.current.epoch, self._next_number()
        return RoomReset(epoch=epoch, number=number, seq=self._seq, owner=self._owner, present=self.present)

    # Transient changes

    def apply_transient(self, step: TransientStep[S], *, flush: bool = True) -> RoomUpdate | None:
        """Change the state in memory, to be flushed later or not; the update with its events."""
        result = self._try(step, self.current)
        if result is None:
            return None
        if self._steps_during_write is not None:
            self._steps_during_write.append(step)
        changed, epoch = result.state is not self.current, result.state.epoch
        self.needs_flush = self.needs_flush or (changed and flush)
        self.current = result.state
        events, binary = tuple(result.events), tuple(result.binary)
        if not events and not binary:
            return None
        number, seq = self._next_number(), self._seq
        return TransientEvents(epoch=epoch, number=number, seq=seq, changes_state=changed, events=events, binary=binary)

    def set_present(self, present: int) -> RoomUpdate | None:
        """Set how many people are in the room; the update, when that changed."""
        if present == self.present:
            return None
        self.present = present
        return PresenceCount(epoch=self.current.epoch, number=self._next_number(), seq=self._seq, present=present)

    # The end

    def close(self, problem: Problem) -> RoomClosed:
        """The update that the room has ended."""
        return RoomClosed(epoch=self.current.epoch, number=self._next_number(), seq=self._seq, problem=problem)

    def leave(self, *, is_released: bool) -> OwnerLeft:
        """The update that this process runs the room no longer."""
        epoch, number = self.current.epoch, self._next_number()
        return OwnerLeft(epoch=epoch, number=number, seq=self._seq, owner=self._owner, is_released=is_released)

    # Positions

    def position(self) -> RoomSnapshot:
        """A snapshot of this moment, still without its body."""
        return RoomSnapshot(epoch=self.current.epoch, seq=self._seq, number=self._number, present=self.present)

    def heartbeat(self) -> OwnerHeartbeat:
        """The owner's heartbeat for other processes."""
        epoch, number = self.current.epoch, self._number
        return OwnerHeartbeat(epoch=epoch, number=number, seq=self._seq, owner=self._owner, present=self.present)

    def _adopt(self, state: S) -> None:
        steps, self._steps_during_write = self._steps_during_write or [], None
        for step in steps:
            result = self._try(step, state)
            state = state if result is None else result.state
        self.current = state

    def _try(self, step: TransientStep[S], state: S) -> Transient[S] | None:
        try:
            return step(state)
        except RequestError:
            return None
        except Exception:  # a transient command must not end the room
            log.exception("transient_command_failed", topic=self.topic)
            return None

    def _next_number(self) -> int:
        self._number += 1
        return self._number
