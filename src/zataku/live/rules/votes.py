"""Upvotes: those of one question and tick are counted together, so that a popular one does not conflict with itself."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from zataku.errors import RequestError
from zataku.live import messages as said
from zataku.live.errors import ALREADY_UPVOTED, already_upvoted, blocked, busy, no_such_comment
from zataku.live.functions.moderation import UpvoteFunction
from zataku.live.limits import MAX_UPVOTES_PER_WRITE, CommentId, SenderId
from zataku.live.rules.room_state import Replies, RoomState
from zataku.realtime.rooms.behaviour import DEFERRED, Command, Event, Outcome, StaleRoom
from zataku.table import Store, TransactionCancelled

_encode = msgspec.json.Encoder().encode

Voters = dict[SenderId, int]
"""Who wants the question answered, with the place of their command in the batch."""


class Voting:
    """Counts who wants what answered."""

    def __init__(self, store: Store) -> None:
        self._upvote = UpvoteFunction(store)

    async def vote(
        self,
        state: RoomState,
        comment_id: CommentId,
        asked: Sequence[tuple[int, Command]],
        replies: Replies,
        now: float,
    ) -> Outcome[RoomState]:
        """Count the upvotes of a batch on one question, each session once."""
        voters = _heeded(state, comment_id, asked, replies)
        known = state.standing.votes.get(comment_id, 0)
        votes = known + await self._counted(state, comment_id, voters, replies, now)
        upvoted = said.Upvoted(comment_id=comment_id, votes=votes)
        again = {place for place, it in asked if it.is_retry}
        for place, answer in enumerate(replies):
            # Counted now, or by an earlier owner that could not say so any more.
            counted_before = place in again and isinstance(answer, RequestError) and answer.code == ALREADY_UPVOTED
            if (place in voters.values() and answer is DEFERRED) or counted_before:
                replies[place] = upvoted
        if votes == known:
            return Outcome(state=state, replies=replies)
        state = replace(state, standing=state.standing.counted(comment_id, votes))
        return Outcome(state=state, events=[Event(_encode(upvoted))], replies=replies)

    async def _counted(
        self, state: RoomState, comment_id: CommentId, voters: Voters, replies: Replies, now: float
    ) -> int:
        """How many were counted. Each attempt leaves out those of whom the table knows, and they are answered."""
        first, turned = comment_id not in state.standing.votes, False
        while voters:
            try:
                await self._upvote(state.room.room_id, comment_id, list(voters), now, state.epoch, first=first)
            except TransactionCancelled as cancelled:
                met = [reason.code == "condition_failed" for reason in cancelled.reasons]
                before = [who for who, is_there in zip(voters, met, strict=False) if is_there]
                for who in before:
                    replies[voters.pop(who)] = already_upvoted()
                if before:
                    continue
                if met[len(voters)] and not turned:
                    # Somebody was counted before after all, or nobody any more.
                    first, turned = not first, True
                    continue
                if not cancelled.conflict and not any(met[:-1]):
                    # It is the room that is not as it was.
                    raise StaleRoom(state.room.room_id) from cancelled
                refusal = busy() if cancelled.conflict else no_such_comment()
                for place in voters.values():
                    replies[place] = refusal
                voters.clear()
            else:
                return len(voters)
        return 0


def _heeded(state: RoomState, comment_id: CommentId, asked: Sequence[tuple[int, Command]], replies: Replies) -> Voters:
    """The sessions that may upvote. Others are refused, and a session that asks twice waits for its first answer."""
    voters: Voters = {}
    for place, it in asked:
        who = SenderId(it.sender.account_id)
        if state.standing.is_gone(comment_id):
            replies[place] = no_such_comment()
        elif who in state.standing.senders:
            replies[place] = blocked()
        elif who not in voters and len(voters) < MAX_UPVOTES_PER_WRITE:
            voters[who] = place
    return voters
