"""How a live room behaves while it runs: its one owner numbers what is said, stores it, and then tells everybody."""

import re
from collections.abc import Sequence
from typing import Any, TypeAlias
from uuid import uuid4

import msgspec
from msgspec.structs import replace

from zataku.live import messages as said
from zataku.live.design import MATRIX, Comment, Mark, Room, comments_after, latest_comments, room_now
from zataku.live.limits import (
    ANONYMOUS,
    COMMENTS_AT_ONCE,
    SEQ_FORM,
    CommentId,
    HostId,
    RoomId,
    SenderId,
    Seq,
    moment,
    seq_of,
)
from zataku.live.showing import comment_view, room_view
from zataku.live.writes import close_room, post_comments, take_room
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.behaviour import Asked, Event, Kept, LostRoom, Passed, StaleRoom
from zataku.refusals import Conflict, Forbidden, Invalid, NotFound, Refused, Unavailable, Unsettled
from zataku.table import Store
from zataku.table.errors import BadInput, ConditionFailed, ResultUnknown, TableError, TransactionCancelled

SHOWN_AT_FIRST = 200
"""How many of the latest comments somebody sees who comes in late, and how many an owner has at hand."""

CAUGHT_UP_AT_ONCE = 500
"""How many missed comments come with a snapshot; the rest is fetched."""

_ATTEMPTS = 3

Drafts: TypeAlias = list[tuple[int, Comment]]
"""Comments with the place of their command in the batch."""

Answers: TypeAlias = list[bytes | Refused | None]

_commands = msgspec.json.Decoder(said.Command)
_encode = msgspec.json.Encoder().encode

CLOSED = Event(_encode(said.Closed()))


class Talk(msgspec.Struct, frozen=True, kw_only=True):
    """A room as its owner holds it. `number` is the last that it gave and had acknowledged."""

    room: Room
    epoch: int
    number: int = 0
    recent: tuple[said.CommentView, ...] = ()
    earlier: bool = False


class Talks:
    """The behaviour of live rooms."""

    kind = "live"
    same_for_all = True
    batch_limit = COMMENTS_AT_ONCE

    def __init__(self, store: Store) -> None:
        self._owning = store.limited(MATRIX["OwnRoomFunction"])
        self._posting = store.limited(MATRIX["PostCommentFunction"])
        self._reading = store.limited(MATRIX["GetRoomCommentsFunction"])
        self._closing = store.limited(MATRIX["CloseRoomFunction"])
        self._marks = store.limited(MATRIX["GetRoomModerationFunction"])

    async def take(self, room_id: str) -> Talk:
        """Become the owner of an open room; what earlier owners stored comes before all that this one says."""
        room = await self._taken(RoomId(room_id))
        page = await self._reading.page(latest_comments(room.room_id), limit=SHOWN_AT_FIRST)
        recent = tuple(comment_view(comment) for comment in reversed(page.items))
        assert room.epoch is not None
        return Talk(room=room, epoch=room.epoch, recent=recent, earlier=page.cursor is not None)

    async def reload(self, state: Talk) -> Talk:
        """The room as it is now; its comments are known, since nobody else writes them while the epoch is ours."""
        room = await self._closing.get(room_now(state.room.room_id))
        if room is None or room.epoch != state.epoch:
            raise LostRoom(state.room.room_id)
        return replace(state, room=room)

    async def keep(self, state: Talk, asked: Sequence[Asked], now: float) -> Kept[Talk]:
        """Store the comments of a batch in one transaction; then close the room, if its host asked for that.

        What comes after the closing in the batch is refused as in any closed room.
        """
        answers: Answers = [None] * len(asked)
        known = await self._known(state, [it for it in asked if it.again])
        drafts: Drafts = []
        closer: int | None = None
        for at, it in enumerate(asked):
            try:
                command = _decoded(it)
                if closer is not None:
                    answers[at] = closed()
                elif isinstance(command, said.Close):
                    answers[at] = _refused_closing(state, it.who)
                    closer = at if answers[at] is None else None
                elif it.mark in known:
                    answers[at] = known[it.mark]
                else:
                    drafts.append((at, _draft(state, it, command, now)))
            except Refused as refused:
                answers[at] = refused
        kept = await self._said(state, drafts, answers, now) if drafts else Kept(state=state, answers=answers)
        return kept if closer is None or kept.over else await self._closed(kept, answers, closer, now)

    def passing(self, state: Talk, asked: Asked, now: float) -> Passed[Talk]:  # noqa: ARG002  whatever it is
        """A live room has no passing commands."""
        raise Invalid("There is nothing here that passes. Send it as a command.")

    async def flush(self, state: Talk) -> Talk:
        """Nothing passes, so nothing is to be stored."""
        return state

    def seen(
        self,
        state: Talk,
        came: frozenset[AccountId],  # noqa: ARG002  whoever it is
        left: frozenset[AccountId],  # noqa: ARG002
        now: float,  # noqa: ARG002
    ) -> Passed[Talk]:
        """Who comes and goes changes nothing but the number of people, which every room tells."""
        return Passed(state=state)

    async def snapshot(self, state: Talk, who: Identity, since: str | None) -> bytes:  # noqa: ARG002  same for all
        """The room with all that was said since, in order and with none left out; to a newcomer the latest."""
        room = room_view(state.room)
        if since is None:
            return _encode(said.Snapshot(room=room, comments=list(state.recent), earlier=state.earlier))
        if re.search(SEQ_FORM, since) is None:
            raise Invalid("`since` is the seq of a comment. Take it from the last one that you have.")
        if _at_hand(state, since):
            later = [comment for comment in state.recent if comment.seq > since]
            return _encode(said.Snapshot(room=room, comments=later))
        page = await self._reading.page(comments_after(state.room.room_id, since), limit=CAUGHT_UP_AT_ONCE)
        # Above what was acknowledged to this owner, the table may show a tick in part.
        last = seq_of(state.epoch, state.number) if state.number else seq_of(state.epoch, 1)
        upto = [c for c in page.items if c.seq is not None and (c.seq <= last if state.number else c.seq < last)]
        return _encode(said.Snapshot(room=room, comments=[comment_view(c) for c in upto], more=page.cursor is not None))

    # Inside

    async def _taken(self, room_id: RoomId) -> Room:
        for _ in range(3):
            try:
                room = await self._owning.write(take_room(room_id))
            except BadInput:
                raise _not_open(None) from None
            except ConditionFailed as refused:
                raise _not_open(refused.current) from None
            except ResultUnknown:
                # Taking it once more is one epoch more, and no harm.
                continue
            assert room is not None
            return room
        raise Unavailable("The room cannot be reached right now. Try again in a moment.")

    async def _known(self, state: Talk, again: Sequence[Asked]) -> dict[str, bytes | Refused]:
        """What an earlier owner stored of the comments that are asked for again, and what was deleted since."""
        known: dict[str, bytes | Refused] = {}
        for it in again:
            ids = {"room_id": state.room.room_id, "comment_id": CommentId(it.mark)}
            stored = await self._reading.get(Comment.key(**ids), strong=True)
            if stored is not None:
                known[it.mark] = _encode(comment_view(stored))
            elif await self._marks.get(Mark.key(mark="DELETED", **ids), strong=True) is not None:
                known[it.mark] = Conflict("The comment was deleted meanwhile.", code="deleted")
        return known

    async def _said(self, state: Talk, drafts: Drafts, answers: Answers, now: float) -> Kept[Talk]:
        """Store the comments of a tick, and answer those who wrote them."""
        epoch = state.epoch
        for _ in range(_ATTEMPTS):
            numbered = _numbered(state, [comment for _, comment in drafts])
            try:
                await self._posting.write(post_comments(numbered, state.epoch), token=str(uuid4()), at=now)
            except ResultUnknown as unknown:
                try:
                    # Taking the room settles it: whatever was under way is stored by now, or never will be.
                    state = await self.take(state.room.room_id)
                    stored = await self._stored(numbered)
                except (Refused, TableError):
                    raise unknown from None
                if not stored:
                    continue
            except TransactionCancelled as cancelled:
                return await self._unsaid(state, drafts, answers, cancelled)
            else:
                state = replace(state, number=state.number + len(numbered), **_remembered(state, numbered))
            # With another epoch everybody gets the room anew, and these in it.
            told = [Event(_encode(said.Commented(comment=comment_view(it)))) for it in numbered]
            for (at, _), comment in zip(drafts, numbered, strict=True):
                answers[at] = _encode(comment_view(comment))
            return Kept(state=state, events=told if state.epoch == epoch else [], answers=answers)
        raise Unavailable("The room cannot be written to right now. Try again in a moment.")

    async def _stored(self, numbered: list[Comment]) -> bool:
        keys = [Comment.key(room_id=it.room_id, comment_id=it.comment_id) for it in numbered]
        return any(found is not None for found in await self._reading.get_many(keys, strong=True))

    async def _unsaid(
        self, state: Talk, drafts: Drafts, answers: Answers, cancelled: TransactionCancelled
    ) -> Kept[Talk]:
        """Nothing of the tick was stored: for what the room is now, or for other writers that were in the way."""
        if cancelled.conflict:
            raise Unavailable("The room is busy. Try again in a moment.") from cancelled
        state = await self.reload(state)
        refusal: Refused
        if state.room.status == "CLOSED":
            refusal = closed()
        elif state.room.paused:
            refusal = Conflict("The room takes no comments for a moment. Your text is safe.", code="paused")
        else:
            raise StaleRoom(state.room.room_id) from cancelled
        for at, _ in drafts:
            answers[at] = refusal
        over = state.room.status == "CLOSED"
        return Kept(state=state, answers=answers, over=over, events=[CLOSED] if over else [])

    async def _closed(self, kept: Kept[Talk], answers: Answers, closer: int, now: float) -> Kept[Talk]:
        """Close the room after what was said before, which is stored and told whatever becomes of this."""
        state = kept.state
        try:
            room = await self._room_closed(state, now)
        except TableError:
            room = state.room
        if room.status == "OPEN":
            answers[closer] = Unsettled("Nobody knows whether the room is closed. Look before you ask again.")
            return kept
        answers[closer] = _encode(room_view(room, room.host_id))
        return Kept(state=replace(state, room=room), events=[*kept.events, CLOSED], answers=answers, over=True)

    async def _room_closed(self, state: Talk, now: float) -> Room:
        try:
            room = await self._closing.write(close_room(state.room.room_id, state.room.host_id, now))
        except (ConditionFailed, ResultUnknown):
            # Somebody was faster, or nobody knows.
            return (await self.reload(state)).room
        assert room is not None
        return room


def closed() -> Refused:
    """What whoever wants something of a closed room is told."""
    return Conflict("The room is closed. What was said stays readable.", code="room_closed")


def _not_open(found: object) -> Refused:
    if found is None:
        return NotFound("There is no such room. Check the link.", code="no_such_room")
    return closed()


def _decoded(asked: Asked) -> said.Command:
    try:
        return _commands.decode(asked.what)
    except msgspec.ValidationError as wrong:
        raise Invalid(
            "A comment is one visible line of 1 to 500 characters, a nickname one of at most 30. See details.",
            reason=str(wrong),
        ) from None
    except msgspec.DecodeError:
        raise Invalid("The command is no JSON that a live room knows.") from None


def _draft(state: Talk, asked: Asked, command: said.Say, now: float) -> Comment:
    try:
        return Comment(
            room_id=state.room.room_id,
            comment_id=CommentId(asked.mark),
            content=command.content,
            nickname=command.nickname or ANONYMOUS,
            created_at=moment(now),
            sender_id=SenderId(asked.who.account_id),
        )
    except ValueError as wrong:
        raise Invalid(f"{wrong}.") from None


def _refused_closing(state: Talk, who: Identity) -> Refused | None:
    if HostId(who.account_id) != state.room.host_id:
        return Forbidden("Only its host closes a room.", code="not_the_host")
    return None


def _numbered(state: Talk, drafts: list[Comment]) -> list[Comment]:
    return [replace(comment, seq=seq_of(state.epoch, state.number + 1 + at)) for at, comment in enumerate(drafts)]


def _remembered(state: Talk, numbered: list[Comment]) -> dict[str, Any]:
    recent = (*state.recent, *map(comment_view, numbered))
    return {"recent": recent[-SHOWN_AT_FIRST:], "earlier": state.earlier or len(recent) > SHOWN_AT_FIRST}


def _at_hand(state: Talk, since: Seq) -> bool:
    """True when all that was said after `since` is in memory."""
    return not state.earlier or (bool(state.recent) and state.recent[0].seq <= since)
