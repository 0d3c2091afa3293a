"""Upvotes: who of a batch may upvote a comment, and what the table's refusal of a write means."""

from collections.abc import Mapping, Sequence

import msgspec

from zataku.errors import RequestError
from zataku.live.errors import comment_not_found, sender_blocked
from zataku.live.limits import MAX_UPVOTES_PER_WRITE, CommentId, SenderId
from zataku.live.rules.moderation_state import ModerationState


class Ballot(msgspec.Struct, frozen=True):
    """The upvotes of a batch on one comment: the command of each voter, and the errors of commands refused."""

    voters: Mapping[SenderId, int]
    errors: Mapping[int, RequestError]


def admit_voters(moderation: ModerationState, comment_id: CommentId, votes: Sequence[tuple[int, SenderId]]) -> Ballot:
    """The senders who may upvote a comment, each once. A second vote of a sender waits for the reply to the first."""
    voters: dict[SenderId, int] = {}
    errors: dict[int, RequestError] = {}
    for index, sender in votes:
        if moderation.is_gone(comment_id):
            errors[index] = comment_not_found()
        elif sender in moderation.blocked_senders:
            errors[index] = sender_blocked()
        elif sender not in voters and len(voters) < MAX_UPVOTES_PER_WRITE:
            voters[sender] = index
    return Ballot(voters, errors)
