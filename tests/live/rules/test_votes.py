"""Who of a batch may upvote a comment."""

import pytest

from tests.live.entities import SORA, YUNA, said
from zataku.live.limits import MAX_UPVOTES_PER_WRITE, SenderId
from zataku.live.rules.moderation_state import ModerationState
from zataku.live.rules.votes import admit_voters

TARGET = said(1).comment_id


def test_each_sender_votes_once_and_a_second_vote_waits() -> None:
    ballot = admit_voters(ModerationState(), TARGET, [(0, SORA), (1, YUNA), (2, SORA)])
    assert (ballot.voters, ballot.errors) == ({SORA: 0, YUNA: 1}, {})


@pytest.mark.parametrize(
    ("moderation", "code"),
    [
        (ModerationState(hidden=frozenset({TARGET})), "no_such_comment"),
        (ModerationState(deleted={TARGET: None}), "no_such_comment"),
        (ModerationState(blocked_senders={SORA: None}), "blocked"),
    ],
)
def test_nobody_votes_for_what_is_gone_and_no_blocked_sender_votes(moderation: ModerationState, code: str) -> None:
    ballot = admit_voters(moderation, TARGET, [(4, SORA)])
    assert (ballot.voters, {index: error.code for index, error in ballot.errors.items()}) == ({}, {4: code})


def test_votes_beyond_one_write_wait() -> None:
    votes = [(index, SenderId(f"guest:{index}")) for index in range(MAX_UPVOTES_PER_WRITE + 5)]
    ballot = admit_voters(ModerationState(), TARGET, votes)
    assert (len(ballot.voters), ballot.errors) == (MAX_UPVOTES_PER_WRITE, {})
