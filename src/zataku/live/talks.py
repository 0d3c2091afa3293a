"""How a live room behaves while it runs: its one owner stores what is asked for, write by write, and then tells it.

What is written together is one transaction: the comments of a batch, or its upvotes of one question. Comments and
upvotes may pass each other; everything else is done in its turn.
"""

import re
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from zataku.live import messages as said
from zataku.live.applauding import Applauding, all_of, reacted, told
from zataku.live.functions.comments import GetRoomCommentsFunction
from zataku.live.functions.rooms import CloseRoomFunction
from zataku.live.governing import Governing
from zataku.live.limits import BEFORE_ALL, COMMENTS_AT_ONCE, SEQ_FORM, HostId
from zataku.live.refusing import closed, not_the_host
from zataku.live.retracting import Retracting
from zataku.live.showing import comment_view, room_view, standing_view
from zataku.live.speaking import Speaking
from zataku.live.taking import CLOSED, Taking
from zataku.live.talk import Answers, Talk
from zataku.live.voting import Voting
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.behaviour import LATER, Asked, Attendance, Kept, LostRoom, Passed
from zataku.refusals import Invalid, Refused, Unsettled
from zataku.table import Store
from zataku.table.errors import TableError

CAUGHT_UP_AT_ONCE = 500
"""How many missed comments come with a snapshot; the rest is fetched."""

_commands = msgspec.json.Decoder(said.Command)
_encode = msgspec.json.Encoder().encode


class Talks:
    """The behaviour of live rooms."""

    kind = "live"
    same_for_all = True
    batch_limit = COMMENTS_AT_ONCE

    def __init__(self, store: Store, attendance: Attendance | None = None) -> None:
        self.attendance = attendance
        self._taking = Taking(store)
        self._speaking = Speaking(store, self._taking)
        self._retracting = Retracting(store)
        self._voting = Voting(store)
        self._governing = Governing(store)
        self._applauding = Applauding(store)
        self._read = GetRoomCommentsFunction(store)
        self._close = CloseRoomFunction(store)

    # The room

    async def take(self, room_id: str) -> Talk:
        """Become the owner of an open room."""
        return await self._taking.take(room_id)

    async def reload(self, state: Talk) -> Talk:
        """The room as it is now."""
        return await self._taking.reload(state)

    # What is kept

    async def keep(self, state: Talk, asked: Sequence[Asked], now: float) -> Kept[Talk]:
        """Carry out the first command, with all others that can be written together with it; the rest comes later."""
        answers: Answers = [LATER] * len(asked)
        commands = [_decoded(it, at, answers) for at, it in enumerate(asked)]
        first = next((at for at, command in enumerate(commands) if command is not None), None)
        if first is None:
            return Kept(state=state, answers=answers)
        who, command = asked[first].who, commands[first]
        # As far as the next command that nothing may pass.
        till = next((at for at, it in enumerate(commands) if _stands_alone(it)), len(commands))
        match command:
            case None:
                raise AssertionError
            case said.Say():
                says = [(at, asked[at], it) for at, it in enumerate(commands[:till]) if isinstance(it, said.Say)]
                return await self._speaking.say(state, says, answers, now)
            case said.Upvote():
                votes = [(at, asked[at]) for at, it in enumerate(commands[:till]) if it == command]
                return await self._voting.vote(state, command.comment_id, votes, answers, now)
            case said.Close():
                return await self._closed(state, who, answers, first, now)
            case said.TakeBack():
                done = self._retracting.take_back(state, who, command, now)
            case _:
                done = self._governing.act(state, who, command, now)
        try:
            state, events, answers[first] = await done
        except Refused as refused:
            return Kept(state=state, answers=_answered(answers, first, refused))
        return Kept(state=state, events=events, answers=answers)

    async def _closed(self, state: Talk, who: Identity, answers: Answers, at: int, now: float) -> Kept[Talk]:
        """Close the room. What was asked for after that is refused, as in any closed room."""
        host = HostId(who.account_id)
        if host != state.room.host_id:
            return Kept(state=state, answers=_answered(answers, at, not_the_host()))
        state = await self._flushed(state)
        try:
            room = await self._close(state.room.room_id, host, now)
        except TableError:
            room = state.room
        if room is None or room.epoch != state.epoch:
            raise LostRoom(state.room.room_id)
        if room.status == "OPEN":
            refusal = Unsettled("Nobody knows whether the room is closed. Look before you ask again.")
            return Kept(state=state, answers=_answered(answers, at, refusal))
        answers = [closed() if it is LATER else it for it in answers]
        answers[at] = _encode(room_view(room, room.host_id))
        return Kept(state=replace(state, room=room), events=[CLOSED], answers=answers, over=True)

    async def _flushed(self, state: Talk) -> Talk:
        try:
            return await self._applauding.flush(state)
        except TableError:
            # The last half second of applause is no reason to keep a room open.
            return state

    # What passes

    def heeds(self, asked: Asked, now: float) -> bool:
        """Whether one more reaction of somebody counts."""
        return self._applauding.heeds(asked, now)

    def passing(self, state: Talk, asked: Asked, now: float) -> Passed[Talk]:
        """Somebody reacts; it is told with the next beat."""
        return reacted(state, asked, now)

    def beat(self, state: Talk, now: float) -> Passed[Talk]:  # noqa: ARG002  whenever it is
        """Tell how people reacted meanwhile."""
        return told(state)

    async def flush(self, state: Talk) -> Talk:
        """Store how people reacted."""
        return await self._applauding.flush(state)

    def seen(
        self,
        state: Talk,
        came: frozenset[AccountId],  # noqa: ARG002  whoever it is
        left: frozenset[AccountId],  # noqa: ARG002
        now: float,  # noqa: ARG002
    ) -> Passed[Talk]:
        """Who comes and goes changes nothing but the number of people, which every room tells."""
        return Passed(state=state)

    # What is seen

    async def snapshot(self, state: Talk, who: Identity, since: str | None) -> bytes:  # noqa: ARG002  same for all
        """The room with all that was said since, in order and with none left out; to a newcomer the latest."""
        if since is not None and re.search(SEQ_FORM, since) is None:
            raise Invalid("`since` is the seq of a comment. Take it from the last one that you have.")
        more = False
        if since is None:
            comments = list(state.recent)
        elif state.has_all_after(since):
            comments = [it for it in state.recent if (it.seq or BEFORE_ALL) > since]
        else:
            page = await self._read(state.room.room_id, since, CAUGHT_UP_AT_ONCE)
            comments = [it for it in page.items if it.seq is not None and state.acknowledged(it.seq)]
            more = page.cursor is not None
        gone = state.standing.gone
        return _encode(
            said.Snapshot(
                room=room_view(state.room),
                comments=[comment_view(it) for it in comments if it.comment_id not in gone],
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
        answers[at] = Invalid(
            "A comment is one visible line of 1 to 500 characters, a nickname one of at most 30. See details.",
            reason=str(wrong),
        )
    except msgspec.DecodeError:
        answers[at] = Invalid("The command is no JSON that a live room knows.")
    return None


def _stands_alone(command: said.Command | None) -> bool:
    return command is not None and not isinstance(command, said.Say | said.Upvote)


def _answered(answers: Answers, at: int, refusal: Refused) -> Answers:
    return [refusal if place == at else it for place, it in enumerate(answers)]
