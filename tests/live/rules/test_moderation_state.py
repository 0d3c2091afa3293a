"""Marks on comments, blocks and votes of a room in memory, and the senders of a batch who may upvote a comment."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.live.entities import NOW, ROOM_ID, SORA, YUNA, comment, uuid
from tests.support.stores import START
from zataku.clock import instant_ms
from zataku.live.limits import MAX_UPVOTES_PER_WRITE, CommentId, SenderId
from zataku.live.moderation.design import Block, Mark, Upvotes
from zataku.live.rules.moderation_state import ModerationState, admit_voters, moderation_state

QUESTION = comment(1, sender=SenderId("guest:author"))
TARGET = QUESTION.comment_id
IDS = [CommentId(uuid(number)) for number in range(4)]
MARKS = st.tuples(st.sampled_from(["HIDDEN", "PINNED", "ANSWERED"]), st.sampled_from(IDS), st.booleans())


@given(st.lists(MARKS, max_size=30))
def test_the_last_change_of_a_mark_counts_and_the_latest_pin_comes_first(changes: list) -> None:
    state, expected, pins = ModerationState(), {}, []
    for mark, comment_id, on in changes:
        state = state.with_mark(mark, comment_id, on=on)
        expected[mark, comment_id] = on
        if mark == "PINNED":
            pins = [comment_id] * on + [it for it in pins if it != comment_id]
    assert all(state.has_mark(mark, it) == on for (mark, it), on in expected.items())
    assert list(state.pinned) == pins


@given(st.lists(MARKS, max_size=20), st.sampled_from(IDS))
def test_a_deleted_comment_keeps_no_mark_and_no_votes(changes: list, deleted: CommentId) -> None:
    state = ModerationState(votes=dict.fromkeys(IDS, 3))
    for mark, comment_id, on in changes:
        state = state.with_mark(mark, comment_id, on=on)
    state = state.with_deleted(deleted)
    assert state.is_gone(deleted)
    assert not any(state.has_mark(mark, deleted) for mark in ("HIDDEN", "PINNED", "ANSWERED"))
    assert set(state.votes) == set(IDS) - {deleted}


def test_stored_items_give_the_state() -> None:
    first, second, third = (comment(number).comment_id for number in (1, 2, 3))
    blocks = [
        Block(room_id=ROOM_ID, what="WORD", value="spam", at=NOW),
        Block(room_id=ROOM_ID, what="SENDER", value=SORA, at=NOW, comment_id=first),
        Block(room_id=ROOM_ID, what="SENDER", value=YUNA, at=NOW),
    ]
    marks = [
        Mark(room_id=ROOM_ID, mark=mark, comment_id=it, at=instant_ms(START + at))
        for mark, it, at in (
            ("PINNED", first, 1),
            ("PINNED", second, 2),
            ("HIDDEN", second, 3),
            ("DELETED", third, 4),
            ("DELETED", first, 5),
        )
    ]
    state = moderation_state(blocks, marks, [Upvotes(room_id=ROOM_ID, comment_id=second, votes=4)])
    assert (state.blocked_words, state.blocked_senders) == ({"spam"}, {SORA: first, YUNA: None})
    assert (state.pinned, state.hidden, list(state.deleted)) == ((second, first), {second}, [third, first])
    assert state.votes == {second: 4}


def test_each_sender_votes_once_and_a_second_vote_waits() -> None:
    ballot = admit_voters(ModerationState(), QUESTION, [(0, SORA), (1, YUNA), (2, SORA)])
    assert (ballot.voters, ballot.errors) == ({SORA: 0, YUNA: 1}, {})


@pytest.mark.parametrize(
    ("moderation", "code"),
    [
        (ModerationState(hidden=frozenset({TARGET})), "no_such_comment"),
        (ModerationState(deleted={TARGET: None}), "no_such_comment"),
        (ModerationState(blocked_senders={SORA: None}), "blocked"),
    ],
)
def test_votes_on_gone_comments_and_of_blocked_senders_are_refused(moderation: ModerationState, code: str) -> None:
    ballot = admit_voters(moderation, QUESTION, [(4, SORA)])
    assert (ballot.voters, {index: error.code for index, error in ballot.errors.items()}) == ({}, {4: code})


def test_nobody_upvotes_their_own_comment_or_one_that_is_not_there() -> None:
    ballot = admit_voters(ModerationState(), QUESTION, [(0, SORA), (1, SenderId("guest:author"))])
    assert (ballot.voters, {index: error.code for index, error in ballot.errors.items()}) == (
        {SORA: 0},
        {1: "own_upvote"},
    )
    assert [error.code for error in admit_voters(ModerationState(), None, [(0, SORA)]).errors.values()] == [
        "no_such_comment"
    ]


def test_a_comment_whose_last_upvote_is_taken_back_has_no_count() -> None:
    assert ModerationState(votes={TARGET: 1, IDS[0]: 2}).with_votes(TARGET, 0).votes == {IDS[0]: 2}


def test_votes_beyond_one_write_wait() -> None:
    votes = [(index, SenderId(f"guest:{index}")) for index in range(MAX_UPVOTES_PER_WRITE + 5)]
    ballot = admit_voters(ModerationState(), QUESTION, votes)
    assert (len(ballot.voters), ballot.errors) == (MAX_UPVOTES_PER_WRITE, {})
