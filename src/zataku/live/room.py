"""How a live room behaves while it runs: its one owner stores what is asked for, write by write, and then tells it.

What is written together is one transaction: the comments of a batch, or its upvotes of one question. Comments, upvotes
and what is taken back may pass each other; what the host does is done in its turn.
"""

import re
from collections.abc import Awaitable, Sequence

import msgspec
from msgspec.structs import replace

from zataku.errors import InvalidRequest, OutcomeUnknown, RequestError, Unavailable
from zataku.live import messages as said
from zataku.live.errors import closed, not_the_host
from zataku.live.functions.comments import GetRoomCommentsFunction
from zataku.live.functions.rooms import CloseRoomFunction
from zataku.live.limits import MAX_COMMENTS_PER_WRITE, SEQ_FORM, SEQ_START, HostId, SenderId
from zataku.live.moderation.moderator import Governing
from zataku.live.retracting import Retracting
from zataku.live.rules.comments import Speaking
from zataku.live.rules.erasure import forgotten, said_by
from zataku.live.rules.reactions import Applauding, all_of, reacted, told
from zataku.live.rules.room_state import Replies, RoomState
from zataku.live.rules.votes import Voting
from zataku.live.taking import CLOSED, Taking
from zataku.live.turns import Commands, Wish, Wishes, barrier, comments
from zataku.live.views import comment_view, room_view, standing_view
from zataku.platform.identity import Identity
from zataku.realtime.rooms.behaviour import (
    DEFERRED,
    Attendance,
    Command,
    Event,
    LostRoom,
    Outcome,
    RoomBehaviour,
    StaleRoom,
    Transient,
)
from zataku.table import Conflict as TableConflict
from zataku.table import ResultUnknown, Store, TableError, Throttled

MAX_CAUGHT_UP_COMMENTS = 500
"""How many missed comments come with a snapshot; the rest is fetched."""

_commands = msgspec.json.Decoder(said.Command)
_transients = msgspec.json.Decoder(said.React)
_encode = msgspec.json.Encoder().encode


class LiveRoom(RoomBehaviour[RoomState]):
    """The behaviour of live rooms."""

    kind = "live"
    shared_snapshot = True
    batch_limit = MAX_COMMENTS_PER_WRITE

    def __init__(self, store: Store, attendance: Attendance | None = None) -> None:
        self.attendance = attendance
        self._taking = Taking(store)
        self._speaking = Speaking(store, self._taking)
        self._retracting = Retracting(store)
        self._voting = Voting(store)
        self._governing = Governing(store)
        self._applauding = Applauding(store)
        self._wishes = Wishes()
        self._read = GetRoomCommentsFunction(store)
        self._close = CloseRoomFunction(store)

    # Commands as they arrive

    def decode_command(self, payload: bytes) -> said.Command:
        """The command of a client's JSON."""
        try:
            return _commands.decode(payload)
        except msgspec.ValidationError as wrong:
            raise InvalidRequest(
                "A comment is one visible line of 1 to 500 characters, a nickname one of at most 30. See details.",
                reason=str(wrong),
            ) from None
        except msgspec.DecodeError:
            raise InvalidRequest("The command is no JSON that a live room knows.") from None

    def decode_transient(self, payload: bytes) -> said.React:
        """The reaction of a client's JSON."""
        try:
            return _transients.decode(payload)
        except msgspec.DecodeError:
            raise InvalidRequest("A reaction is clap, aha or lol.") from None

    # The room

    async def acquire(self, room_id: str) -> RoomState:
        """Become the owner of an open room."""
        return await self._taking.take(room_id)

    async def reload(self, state: RoomState) -> RoomState:
        """The room as it is now."""
        return await self._taking.reload(state)

    # What is kept

    async def handle(self, state: RoomState, commands: Sequence[Command], now: float) -> Outcome[RoomState]:
        """Carry out what is next: the comments with one wish of somebody, or one act of the host. The rest comes later.

        A wish waits for comments and never the other way round, so that nobody holds up what is said. Each is a write
        by itself, and one that fails is answered by itself.
        """
        asked = commands
        replies: Replies = [DEFERRED] * len(asked)
        bodies: list[said.Command] = [it.body for it in asked]
        till = barrier(bodies)
        says = comments(asked, bodies[:till])
        kept = Outcome(state=state, replies=replies)
        if says:
            kept = await self._tried(
                state, replies, [at for at, *_ in says], self._speaking.say(state, says, replies, now)
            )
        wish = None if kept.closed else self._wishes.first(asked, bodies[:till], replies, now)
        if wish is not None:
            try:
                done = await self._wished(kept.state, asked, bodies[:till], wish, replies, now)
            except StaleRoom:
                if not says:
                    raise
                # What was said is stored and told; the wish comes again.
                return kept
            # With another epoch everybody gets the room anew, and what was said in it.
            events = [*kept.events, *done.events] if done.state.epoch == kept.state.epoch else []
            kept = replace(done, events=events)
        if says or wish is not None or till == len(bodies):
            return kept
        return await self._acted(state, asked[till].sender, bodies[till], replies, till, now)

    async def _wished(
        self,
        state: RoomState,
        asked: Sequence[Command],
        commands: Commands,
        wish: tuple[int, Wish],
        replies: Replies,
        now: float,
    ) -> Outcome[RoomState]:
        at, command = wish
        if isinstance(command, said.RetractComment):
            taking_back = self._retracting.take_back(state, asked[at], command, now)
            return await self._tried(state, replies, [at], _done(state, replies, at, taking_back))
        alike = (place for place, it in enumerate(commands) if it == command and replies[place] is DEFERRED)
        votes = [(place, asked[place]) for place in alike]
        voting = self._voting.vote(state, command.comment_id, votes, replies, now)
        return await self._tried(state, replies, [place for place, _ in votes], voting)

    async def _acted(
        self, state: RoomState, who: Identity, command: said.Command | None, replies: Replies, at: int, now: float
    ) -> Outcome[RoomState]:
        match command:
            case said.CloseRoom():
                return await self._closed(state, who, replies, at, now)
            case said.EraseSender():
                sender = SenderId(who.account_id)
                stored = await self._read.some(state.room.room_id, said_by(state, sender))
                state, events = forgotten(state, sender, stored)
                replies[at] = None
                return Outcome(state=state, events=events, replies=replies)
            case None | said.PostComment() | said.Upvote() | said.RetractComment():
                raise AssertionError(f"{command} has to wait for nobody.")
            case _:
                acting = self._governing.act(state, who, command, now)
                return await self._tried(state, replies, [at], _done(state, replies, at, acting))

    async def _tried(
        self, state: RoomState, replies: Replies, places: Sequence[int], turn: Awaitable[Outcome[RoomState]]
    ) -> Outcome[RoomState]:
        """What came of a write. When it failed, those who asked for it are told, and nobody else."""
        refusal: RequestError
        try:
            return await turn
        except ResultUnknown as unknown:
            refusal = OutcomeUnknown("Nobody knows whether this was stored. Look before you ask again.")
            try:
                # From now on it is stored, or never will be.
                state = await self._taking.take(state.room.room_id)
            except (RequestError, TableError):
                raise unknown from None
        except (Throttled, TableConflict):
            refusal = Unavailable("This could not be stored just now. Try again in a moment.")
        for place in places:
            replies[place] = refusal
        return Outcome(state=state, replies=replies)

    async def _closed(
        self, state: RoomState, who: Identity, replies: Replies, at: int, now: float
    ) -> Outcome[RoomState]:
        """Close the room. What was asked for after that is refused, as in any closed room."""
        host = HostId(who.account_id)
        if host != state.room.host_id:
            replies[at] = not_the_host()
            return Outcome(state=state, replies=replies)
        state = await self._flushed(state)
        try:
            room = await self._close(state.room.room_id, host, now, state.epoch)
        except TableError:
            room = state.room
        if room is None or room.epoch != state.epoch:
            raise LostRoom(state.room.room_id)
        if room.status == "OPEN":
            replies[at] = OutcomeUnknown("Nobody knows whether the room is closed. Look before you ask again.")
            return Outcome(state=state, replies=replies)
        replies = [closed() if it is DEFERRED else it for it in replies]
        replies[at] = room_view(room, room.host_id)
        return Outcome(state=replace(state, room=room), events=[CLOSED], replies=replies, closed=closed())

    async def _flushed(self, state: RoomState) -> RoomState:
        try:
            return await self._applauding.flush(state)
        except (StaleRoom, TableError):
            # The last half second of applause is no reason to keep a room open.
            return state

    # What passes

    def accepts(self, command: Command, now: float) -> bool:
        """Whether one more reaction of somebody counts."""
        return self._applauding.accepts(command, now)

    def handle_transient(self, state: RoomState, command: Command, now: float) -> Transient[RoomState]:
        """Somebody reacts; it is told with the next beat."""
        return reacted(state, command, now)

    def tick(self, state: RoomState, now: float) -> Transient[RoomState]:  # noqa: ARG002  whenever it is
        """Tell how people reacted meanwhile."""
        return told(state)

    async def flush(self, state: RoomState) -> RoomState:
        """Store how people reacted."""
        return await self._applauding.flush(state)

    # What is seen

    async def snapshot(self, state: RoomState, viewer: Identity, since: str | None) -> bytes:  # noqa: ARG002  same for all
        """The room with all that was said since, in order and with none left out; to a newcomer the latest."""
        if since is not None and re.search(SEQ_FORM, since) is None:
            raise InvalidRequest("`since` is the seq of a comment. Take it from the last one that you have.")
        more = False
        if since is None:
            found = list(state.recent)
        elif state.has_all_after(since):
            found = [it for it in state.recent if (it.seq or SEQ_START) > since]
        else:
            page = await self._read(state.room.room_id, since, MAX_CAUGHT_UP_COMMENTS)
            found = [it for it in page.items if it.seq is not None and state.acknowledged(it.seq)]
            more = page.cursor is not None
        is_gone = state.standing.is_gone
        return _encode(
            said.Snapshot(
                room=room_view(state.room),
                comments=[comment_view(it) for it in found if not is_gone(it.comment_id)],
                standing=standing_view(state.standing, state.pinned, all_of(state.applause)),
                more=more,
                earlier=since is None and state.earlier,
            )
        )


async def _done(
    state: RoomState, replies: Replies, at: int, doing: Awaitable[tuple[RoomState, list[Event], msgspec.Struct]]
) -> Outcome[RoomState]:
    """What came of something that one person asked for."""
    try:
        state, events, replies[at] = await doing
    except RequestError as refused:
        replies[at] = refused
        events = []
    return Outcome(state=state, events=events, replies=replies)
