"""What a system makes of a room: its rules and its one write, and nothing of sockets, processes or waiting.

A room is owned by one process at a time, which runs one task for it. The task takes what was asked since it last wrote
as one batch, calls `keep`, and only when that came back answers the askers and tells everybody. The table is the truth:
whatever a room holds in memory can be loaded from it.
"""

from collections.abc import Sequence
from enum import Enum, auto
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

import msgspec

from zataku.errors import RequestError
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId


class HasEpoch(Protocol):
    """What every state of a room says of itself."""

    @property
    def epoch(self) -> int:
        """The number of the owner that this state belongs to."""
        ...


S = TypeVar("S", bound=HasEpoch)


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A command with who asks for it. `what` is JSON, or bytes of a binary message.

    `again` says that an earlier owner of the room may have carried it out and could not say so any more.
    `mark` is a random id that the server gave the command when it came in; it is the same when it is asked again.
    """

    who: Identity
    what: bytes
    binary: bool = False
    again: bool = False
    mark: str = ""


class Event(msgspec.Struct, frozen=True):
    """Something that happened, as JSON; `only` names who may see it, None everybody.

    `erases` says that something told before is not to be seen any more: whoever comes back from before it gets a
    snapshot, and not what was told.
    """

    body: bytes
    only: frozenset[AccountId] | None = None
    erases: bool = False


class Later(Enum):
    """The answer to a command that has to wait for the next write."""

    LATER = auto()


LATER: Final = Later.LATER
Answer: TypeAlias = bytes | RequestError | Later | None


class Kept(msgspec.Struct, Generic[S], frozen=True, kw_only=True):
    """What came of a batch: the next state, what happened, and for each command its answer as JSON or a refusal.

    A batch may hold what cannot be written together. Commands that are answered with `LATER` come again, in their order
    and before all others; at least one is answered otherwise.

    With `over` the room has ended: its events go out, everybody is told that it is gone and by this refusal why, and
    the task stops.
    """

    state: S
    events: Sequence[Event] = ()
    answers: Sequence[Answer]
    over: RequestError | None = None


class Passed(msgspec.Struct, Generic[S], frozen=True, kw_only=True):
    """What came of a passing command: the next state, events as JSON, and binary events."""

    state: S
    events: Sequence[Event] = ()
    binary: Sequence[bytes] = ()


class LostRoom(Exception):
    """Another process took the room: this one writes no more."""


class StaleRoom(Exception):
    """The room's item is not as it was loaded: reload and do the batch again."""


class Attendance(Protocol):
    """Hears of every socket that comes into a room in this process, and leaves it: each once. Must not wait."""

    def joined(self, room_id: str, connection: str) -> None:
        """A socket hears the room from now on, under an id that no other join has."""
        ...

    def left(self, room_id: str, connection: str) -> None:
        """It hears the room no more."""
        ...


class Behaviour(Protocol[S]):
    """The rooms of one system. `kind` is the first part of their topics.

    States are values: none is changed after it was given back, and two that say the same are equal.

    A behaviour may have, beside what is declared here:

    - `same_for_all: bool`: a snapshot depends on the state and `since` alone, so that one is made for everybody who
      looks at the same moment. `who` is then any of them.
    - `batch_limit: int`: how many commands `keep` takes at most; 50 if it does not say.
    - `admits(state, who) -> None`: raises `RequestError` for whoever may not hear the room. It is asked before every
      snapshot and before somebody goes on without one after a lost connection.
    - `heeds(asked, now) -> bool`: asked once for each passing command before it is carried out, which may be done twice
      when the room is written meanwhile; False lets it fall.
    - `beat(state, now) -> Passed`: called four times a second while the room runs, to tell in one event what passed
      meanwhile. What it changes is not flushed for its sake.
    - `attendance: Attendance`: hears who comes and goes in this process, wherever the room runs.
    """

    kind: str

    async def take(self, room_id: str) -> S:
        """Become the owner: add one to the epoch in the room's item, and load it. Refused when it cannot be entered."""
        ...

    async def reload(self, state: S) -> S:
        """The room as it is in the table now. Raises `LostRoom` when its epoch is another's."""
        ...

    async def keep(self, state: S, asked: Sequence[Asked], now: float) -> Kept[S]:
        """Carry out kept commands: rules, then one conditional write, then what happened.

        A command that cannot be read or done is refused in `answers`. Any other error than those named here makes the
        room load anew and ask for each command of the batch by itself, with `again`.

        Raises `LostRoom` or `StaleRoom` when the write was refused for the epoch or the version. A write whose fate is
        unknown is settled here, if need be by taking the room again; the state that comes back may have a new epoch.
        """
        ...

    def passing(self, state: S, asked: Asked, now: float) -> Passed[S]:
        """Carry out a passing command in memory. Refusals are swallowed."""
        ...

    async def flush(self, state: S) -> S:
        """Store what passed, where that is wanted. Raises as `keep` does.

        Called at most twice a second after passing commands that changed the state, and before the room is given up.
        """
        ...

    def seen(self, state: S, came: frozenset[AccountId], left: frozenset[AccountId], now: float) -> Passed[S]:
        """People came into view or went out of it, in any process; told at most once a second.

        Whoever takes a room starts without anybody in view: all who are there come anew.
        """
        ...

    async def snapshot(self, state: S, who: Identity, since: str | None) -> bytes:
        """The room as somebody may see it, as JSON; `since` is the last thing that the system showed them.

        What is read from the table meanwhile may be newer than `state`. Leave out whatever is: it comes as an event.
        """
        ...
