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
from zataku.live.rules.room_state import Answers, RoomState
from zataku.live.rules.votes import Voting
from zataku.live.taking import CLOSED, Taking
from zataku.live.turns import Commands, Wish, Wishes, barrier, comments
from zataku.live.views import comment_view, room_view, standing_view
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.rooms.behaviour import LATER, Asked, Attendance, Event, Kept, LostRoom, Passed, StaleRoom
from zataku.table import Conflict as TableConflict
from zataku.table import ResultUnknown, Store, TableError, Throttled

MAX_CAUGHT_UP_COMMENTS = 500
"""How many missed comments come with a snapshot; the rest is fetched."""

_commands = msgspec.json.Decoder(said.Command)
_encode = msgspec.json.Encoder().encode


class LiveRoom:
    """The behaviour of live rooms."""

    kind = "live"
    same_for_all = True
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

    # The room

    async def take(self, room_id: str) -> RoomState:
        """Become the owner of an open room."""
        return await self._taking.take(room_id)

    async def reload(self, state: RoomState) -> RoomState:
        """The room as it is now."""
        return await self._taking.reload(state)

    # What is kept

    async def keep(self, state: RoomState, asked: Sequence[Asked], now: float) -> Kept[RoomState]:
        """Carry out what is next: the comments with one wish of somebody, or one act of the host. The rest comes later.

        A wish waits for comments and never the other way round, so that nobody holds up what is said. Each is a write
        by itself, and one that fails is answered by itself.
        """
        answers: Answers = [LATER] * len(asked)
        commands = [_decoded(it, at, answers) for at, it in enumerate(asked)]
        till = barrier(commands)
        says = comments(asked, commands[:till])
        kept = Kept(state=state, answers=answers)
        if says:
            kept = await self._tried(
                state, answers, [at for at, *_ in says], self._speaking.say(state, says, answers, now)
            )
        wish = None if kept.over else self._wishes.first(asked, commands[:till], answers, now)
        if wish is not None:
            try:
                done = await self._wished(kept.state, asked, commands[:till], wish, answers, now)
            except StaleRoom:
                if not says:
                    raise
                # What was said is stored and told; the wish comes again.
                return kept
            # With another epoch everybody gets the room anew, and what was said in it.
            events = [*kept.events, *done.events] if done.state.epoch == kept.state.epoch else []
            kept = replace(done, events=events)
        if says or wish is not None or till == len(commands):
            return kept
        return await self._acted(state, asked[till].who, commands[till], answers, till, now)

    async def _wished(
        self,
        state: RoomState,
        asked: Sequence[Asked],
        commands: Commands,
        wish: tuple[int, Wish],
        answers: Answers,
        now: float,
    ) -> Kept[RoomState]:
        at, command = wish
        if isinstance(command, said.RetractComment):
            taking_back = self._retracting.take_back(state, asked[at], command, now)
            return await self._tried(state, answers, [at], _done(state, answers, at, taking_back))
        alike = (place for place, it in enumerate(commands) if it == command and answers[place] is LATER)
        votes = [(place, asked[place]) for place in alike]
        voting = self._voting.vote(state, command.comment_id, votes, answers, now)
        return await self._tried(state, answers, [place for place, _ in votes], voting)

    async def _acted(
        self, state: RoomState, who: Identity, command: said.Command | None, answers: Answers, at: int, now: float
    ) -> Kept[RoomState]:
        match command:
            case said.CloseRoom():
                return await self._closed(state, who, answers, at, now)
            case said.EraseSender():
                sender = SenderId(who.account_id)
                stored = await self._read.some(state.room.room_id, said_by(state, sender))
                state, events = forgotten(state, sender, stored)
                answers[at] = None
                return Kept(state=state, events=events, answers=answers)
            case None | said.PostComment() | said.Upvote() | said.RetractComment():
                raise AssertionError(f"{command} has to wait for nobody.")
            case _:
                acting = self._governing.act(state, who, command, now)
                return await self._tried(state, answers, [at], _done(state, answers, at, acting))

    async def _tried(
        self, state: RoomState, answers: Answers, places: Sequence[int], turn: Awaitable[Kept[RoomState]]
    ) -> Kept[RoomState]:
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
            answers[place] = refusal
        return Kept(state=state, answers=answers)

    async def _closed(self, state: RoomState, who: Identity, answers: Answers, at: int, now: float) -> Kept[RoomState]:
        """Close the room. What was asked for after that is refused, as in any closed room."""
        host = HostId(who.account_id)
        if host != state.room.host_id:
            answers[at] = not_the_host()
            return Kept(state=state, answers=answers)
        state = await self._flushed(state)
        try:
            room = await self._close(state.room.room_id, host, now, state.epoch)
        except TableError:
            room = state.room
        if room is None or room.epoch != state.epoch:
            raise LostRoom(state.room.room_id)
        if room.status == "OPEN":
            answers[at] = OutcomeUnknown("Nobody knows whether the room is closed. Look before you ask again.")
            return Kept(state=state, answers=answers)
        answers = [closed() if it is LATER else it for it in answers]
        answers[at] = _encode(room_view(room, room.host_id))
        return Kept(state=replace(state, room=room), events=[CLOSED], answers=answers, over=closed())

    async def _flushed(self, state: RoomState) -> RoomState:
        try:
            return await self._applauding.flush(state)
        except (StaleRoom, TableError):
            # The last half second of applause is no reason to keep a room open.
            return state

    # What passes

    def heeds(self, asked: Asked, now: float) -> bool:
        """Whether one more reaction of somebody counts."""
        return self._applauding.heeds(asked, now)

    def passing(self, state: RoomState, asked: Asked, now: float) -> Passed[RoomState]:
        """Somebody reacts; it is told with the next beat."""
        return reacted(state, asked, now)

    def beat(self, state: RoomState, now: float) -> Passed[RoomState]:  # noqa: ARG002  whenever it is
        """Tell how people reacted meanwhile."""
        return told(state)

    async def flush(self, state: RoomState) -> RoomState:
        """Store how people reacted."""
        return await self._applauding.flush(state)

    def seen(
        self,
        state: RoomState,
        came: frozenset[AccountId],  # noqa: ARG002  whoever it is
        left: frozenset[AccountId],  # noqa: ARG002
        now: float,  # noqa: ARG002
    ) -> Passed[RoomState]:
        """Who comes and goes changes nothing but the number of people, which every room tells."""
        return Passed(state=state)

    # What is seen

    async def snapshot(self, state: RoomState, who: Identity, since: str | None) -> bytes:  # noqa: ARG002  same for all
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


def _decoded(asked: Asked, at: int, answers: Answers) -> said.Command | None:
    """The command, or None for what nobody understands, which is refused."""
    try:
        return _commands.decode(asked.what)
    except msgspec.ValidationError as wrong:
        answers[at] = InvalidRequest(
            "A comment is one visible line of 1 to 500 characters, a nickname one of at most 30. See details.",
            reason=str(wrong),
        )
    except msgspec.DecodeError:
        answers[at] = InvalidRequest("The command is no JSON that a live room knows.")
    return None


async def _done(
    state: RoomState, answers: Answers, at: int, doing: Awaitable[tuple[RoomState, list[Event], bytes]]
) -> Kept[RoomState]:
    """What came of something that one person asked for."""
    try:
        state, events, answers[at] = await doing
    except RequestError as refused:
        answers[at] = refused
        events = []
    return Kept(state=state, events=events, answers=answers)
