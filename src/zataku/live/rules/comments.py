"""What is said in a running room: numbered, stored together on condition that the room is open, and then told."""

from collections.abc import Sequence
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from zataku.errors import InvalidRequest, RequestError, Unavailable
from zataku.live import messages as said
from zataku.live.design import Comment
from zataku.live.errors import blocked, blocked_word, busy, closed, deleted, is_flood, paused, taken_id
from zataku.live.functions.comments import GetRoomCommentsFunction, PostCommentFunction
from zataku.live.functions.moderation import GetRoomModerationFunction
from zataku.live.limits import ANONYMOUS, CommentId, HostId, SenderId, instant_ms, match_form, seq_of
from zataku.live.rules.rate_limits import CommentRate, pruned, spoken, stepped
from zataku.live.rules.room_state import Replies, RoomState
from zataku.live.taking import CLOSED, Taking
from zataku.live.views import comment_view
from zataku.realtime.rooms.behaviour import Command, Event, Outcome, StaleRoom
from zataku.table import ResultUnknown, Store, TableError, TransactionCancelled

_ATTEMPTS = 3
_encode = msgspec.json.Encoder().encode
_bare_word = lru_cache(4096)(match_form)


class Draft(msgspec.Struct, frozen=True):
    """A comment that is not stored yet, with the place of its command in the batch."""

    place: int
    comment: Comment


class Speaking:
    """Stores what people say."""

    def __init__(self, store: Store, taking: Taking) -> None:
        self._post = PostCommentFunction(store)
        self._read = GetRoomCommentsFunction(store)
        self._moderation = GetRoomModerationFunction(store)
        self._taking = taking

    async def say(
        self, state: RoomState, says: Sequence[tuple[int, Command, said.PostComment]], replies: Replies, now: float
    ) -> Outcome[RoomState]:
        """Store the comments of a batch in one transaction, and answer those who wrote them."""
        drafts, refused, paces = self._heeded(state, says, replies, now)
        state = replace(state, paces=paces)
        again = {place for place, asked, _ in says if asked.is_retry}
        # Whatever the room thinks of a comment by now, one that it has taken before is answered as it was stored.
        repeated = [it for it in drafts if it.place in again]
        known = await self._known(state, repeated, refused, replies)
        drafts = [it for it in drafts if it.place not in known]
        return await self._stored(state, drafts, replies, now) if drafts else Outcome(state=state, replies=replies)

    def _heeded(
        self, state: RoomState, says: Sequence[tuple[int, Command, said.PostComment]], replies: Replies, now: float
    ) -> tuple[list[Draft], list[Draft], dict[SenderId, CommentRate]]:
        """What the room takes, what of the rest came under an id of its own, and everybody's pace by then."""
        slow = state.room.slow_mode_seconds
        paces = pruned(state.paces, now, slow)
        host = SenderId(state.room.host_id)
        drafts: dict[CommentId, Draft] = {}
        refused: list[Draft] = []
        for place, asked, command in says:
            who = SenderId(asked.sender.account_id)
            comment: Comment | None = None
            try:
                comment = _drafted(state, asked, command, now)
                if comment.comment_id in drafts:
                    # Sent again while it is being stored: its turn comes when that is done.
                    continue
                paces[who] = stepped(paces, who, now)
                known = None if command.id is None else state.at_hand(command.id)
                if known is not None:
                    replies[place] = _same(comment, known)
                    continue
                _refuse_unwanted(state, comment)
                # The host need not wait for themselves.
                paces[who] = spoken(paces[who], now, None if who == host else slow)
                drafts[comment.comment_id] = Draft(place, comment)
            except RequestError as problem:
                replies[place] = problem
                may_be_there = command.id is not None or asked.is_retry
                if comment is not None and may_be_there and not is_flood(problem):
                    refused.append(Draft(place, comment))
        return list(drafts.values()), refused, paces

    async def _known(self, state: RoomState, repeated: list[Draft], refused: list[Draft], replies: Replies) -> set[int]:
        """Answer those whose comment is stored already; gives the places of those who asked for it again."""
        asked = [it.comment.comment_id for it in (*repeated, *refused)]
        stored = await self._read.some(state.room.room_id, asked)
        for draft in refused:
            before = stored.get(draft.comment.comment_id)
            if before is not None:
                replies[draft.place] = _same(draft.comment, before)
        known: set[int] = set()
        for draft in repeated:
            comment_id = draft.comment.comment_id
            if comment_id in stored:
                replies[draft.place] = _same(draft.comment, stored[comment_id])
            elif await self._moderation.deleted(state.room.room_id, comment_id):
                replies[draft.place] = deleted()
            else:
                continue
            known.add(draft.place)
        return known

    async def _stored(self, state: RoomState, drafts: list[Draft], replies: Replies, now: float) -> Outcome[RoomState]:
        epoch, attempts = state.epoch, 0
        while drafts and attempts < _ATTEMPTS:
            numbered = _numbered(state, drafts)
            try:
                await self._post(numbered, state.epoch, now)
            except ResultUnknown as unknown:
                attempts += 1
                try:
                    # Taking the room settles it: whatever was under way is stored by now, or never will be.
                    state = await self._taking.take(state.room.room_id)
                    if not await self._read.some(state.room.room_id, [it.comment_id for it in numbered]):
                        continue
                except (RequestError, TableError):
                    raise unknown from None
            except TransactionCancelled as cancelled:
                rest = await self._not_there_yet(state, drafts, cancelled, replies)
                if len(rest) == len(drafts):
                    return await self._unsaid(state, drafts, replies, cancelled)
                drafts = rest
                continue
            else:
                state = state.said(numbered)
            for draft, comment in zip(drafts, numbered, strict=True):
                replies[draft.place] = comment_view(comment)
            # With another epoch everybody gets the room anew, and these in it.
            told = [Event(_encode(said.CommentPosted(comment=comment_view(it)))) for it in numbered]
            return Outcome(state=state, events=told if state.epoch == epoch else [], replies=replies)
        for draft in drafts:
            replies[draft.place] = Unavailable("The room cannot be written to right now. Try again in a moment.")
        return Outcome(state=state, replies=replies)

    async def _not_there_yet(
        self, state: RoomState, drafts: list[Draft], cancelled: TransactionCancelled, replies: Replies
    ) -> list[Draft]:
        """The drafts without those whose id lies in the table already: sent again, or another's."""
        met = [
            draft for draft, reason in zip(drafts, cancelled.reasons, strict=False) if reason.code == "condition_failed"
        ]
        stored = await self._read.some(state.room.room_id, [it.comment.comment_id for it in met])
        for draft in met:
            before = stored.get(draft.comment.comment_id)
            replies[draft.place] = deleted() if before is None else _same(draft.comment, before)
        return [draft for draft in drafts if draft not in met]

    async def _unsaid(
        self, state: RoomState, drafts: list[Draft], replies: Replies, cancelled: TransactionCancelled
    ) -> Outcome[RoomState]:
        """Nothing of the tick was stored: for what the room is now, or for other writers that were in the way."""
        refusal: RequestError
        if cancelled.conflict:
            refusal = busy()
        else:
            state = await self._taking.reload(state)
            if state.room.status == "CLOSED":
                refusal = closed()
            elif state.room.paused:
                refusal = paused()
            else:
                raise StaleRoom(state.room.room_id) from cancelled
        for draft in drafts:
            replies[draft.place] = refusal
        over = state.room.status == "CLOSED"
        return Outcome(state=state, replies=replies, closed=refusal if over else None, events=[CLOSED] if over else [])


def _drafted(state: RoomState, asked: Command, command: said.PostComment, now: float) -> Comment:
    try:
        return Comment(
            room_id=state.room.room_id,
            comment_id=command.id or CommentId(asked.id),
            content=command.content,
            nickname=command.nickname or ANONYMOUS,
            created_at=instant_ms(now),
            sender_id=SenderId(asked.sender.account_id),
        )
    except ValueError as wrong:
        raise InvalidRequest(f"{wrong}.") from None


def _refuse_unwanted(state: RoomState, comment: Comment) -> None:
    standing, sender = state.standing, comment.sender_id
    if comment.comment_id in standing.deleted:
        raise deleted()
    if sender in standing.senders and sender != HostId(state.room.host_id):
        raise blocked()
    if state.room.paused:
        raise paused()
    if standing.words:
        said_there = (match_form(comment.content), match_form(comment.nickname))
        if any(word in text for word in map(_bare_word, standing.words) for text in said_there):
            raise blocked_word()


def _same(draft: Comment, stored: Comment) -> said.CommentView | RequestError:
    """The stored comment, for whoever wrote it and sends it again; nobody else takes its id."""
    return comment_view(stored) if stored.sender_id == draft.sender_id else taken_id()


def _numbered(state: RoomState, drafts: list[Draft]) -> list[Comment]:
    first = state.number + 1
    return [replace(draft.comment, seq=seq_of(state.epoch, first + at)) for at, draft in enumerate(drafts)]
