"""Which comments of a batch a room accepts, and how they are numbered: decided without a store."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.live.entities import MIDORI, SORA, YUNA, comment, room, uuid
from tests.support.stores import START
from zataku.errors import RequestError
from zataku.live.limits import CommentId, SenderId
from zataku.live.messages import PostComment
from zataku.live.rules.comments import (
    NumberedComments,
    Submission,
    append_comments,
    find_comment,
    number_comments,
    reply_for_stored,
    select_comments,
)
from zataku.live.rules.moderation_state import ModerationState
from zataku.live.rules.room_state import RECENT_COMMENTS, RoomState

OPEN = RoomState(room=room(epoch=3), epoch=3)


def submit(index: int = 0, sender: SenderId = SORA, is_retry: bool = False, **message: Any) -> Submission:
    """A comment as the room receives it."""
    return Submission(index, sender, PostComment(**{"content": "なるほど", **message}), uuid(700 + index), is_retry)


def code_of(state: RoomState, submission: Submission) -> str | None:
    """The code of the error for a comment, None when the room accepts it."""
    reply = select_comments(state, [submission], START).replies.get(submission.index)
    return reply.code if isinstance(reply, RequestError) else None


def numbered(numbers: Iterable[int]) -> NumberedComments:
    """Comments as they are stored."""
    return NumberedComments([comment(number, epoch=3) for number in numbers], {})


def moderated(**moderation: Any) -> RoomState:
    return replace(OPEN, moderation=ModerationState(**moderation))


@pytest.mark.parametrize(
    ("state", "submission", "code"),
    [
        (OPEN, submit(), None),
        (OPEN, submit(content="\u200b"), "invalid"),
        (replace(OPEN, room=room(paused=True)), submit(), "paused"),
        (replace(OPEN, room=room(paused=True)), submit(sender=SenderId(MIDORI)), None),
        (moderated(blocked_senders={SORA: None}), submit(), "blocked"),
        (moderated(blocked_senders={SORA: None}), submit(sender=YUNA), None),
        (moderated(blocked_senders={SenderId(MIDORI): None}), submit(sender=SenderId(MIDORI)), None),
        (moderated(blocked_words=frozenset({"spam"})), submit(content="ＳＰＡＭ!"), "blocked_word"),
        (moderated(blocked_words=frozenset({"spam"})), submit(nickname="sp\u200bam"), "blocked_word"),
        (moderated(blocked_words=frozenset({"spam"})), submit(content="span"), None),
        (moderated(deleted={CommentId(uuid(5)): None}), submit(id=CommentId(uuid(5))), "deleted"),
        (replace(OPEN, recent=(comment(1),)), submit(id=comment(1).comment_id), None),
        (replace(OPEN, recent=(comment(1),)), submit(sender=YUNA, id=comment(1).comment_id), "id_taken"),
    ],
)
def test_a_room_accepts_a_comment_or_says_why_not(state: RoomState, submission: Submission, code: str | None) -> None:
    assert code_of(state, submission) == code


def test_a_comment_sent_again_is_answered_as_it_was_stored_and_not_drafted() -> None:
    selection = select_comments(replace(OPEN, recent=(comment(1),)), [submit(id=comment(1).comment_id)], START)
    assert (selection.drafts, selection.replies) == ([], {0: comment(1)})
    assert reply_for_stored(comment(2), comment(1)) == comment(1)


def test_one_id_twice_in_a_batch_is_one_draft_and_the_second_waits() -> None:
    twice = [submit(0, id=CommentId(uuid(9))), submit(1, id=CommentId(uuid(9)))]
    selection = select_comments(OPEN, twice, START)
    assert [draft.index for draft in selection.drafts] == [0]
    assert selection.replies == {}


@pytest.mark.parametrize(("message", "is_retry"), [({"id": uuid(5)}, False), ({}, True)])
def test_a_refused_comment_that_may_be_stored_is_looked_up(message: dict[str, Any], is_retry: bool) -> None:
    paused = replace(OPEN, room=room(paused=True))
    assert len(select_comments(paused, [submit(is_retry=is_retry, **message)], START).refused) == 1
    assert select_comments(paused, [submit()], START).refused == []


def test_a_flood_is_not_looked_up() -> None:
    flood = [submit(index, id=CommentId(uuid(index))) for index in range(8)]
    selection = select_comments(OPEN, flood, START)
    assert ([draft.index for draft in selection.drafts], selection.refused) == ([0, 1, 2, 3, 4], [])
    assert set(selection.replies) == {5, 6, 7}


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["hello", "spam", "\u200b"])), max_size=40))
def test_every_comment_of_a_batch_is_drafted_or_answered_and_numbers_follow_one_another(
    batch: list[tuple[int, str]],
) -> None:
    state = replace(moderated(blocked_words=frozenset({"spam"})), last_number=7)
    submissions = [
        submit(index, SenderId(f"guest:{sender}"), content=content) for index, (sender, content) in enumerate(batch)
    ]
    selection = select_comments(state, submissions, START)
    drafted = {draft.index for draft in selection.drafts}
    assert drafted | set(selection.replies) == set(range(len(batch)))
    assert drafted.isdisjoint(selection.replies)
    numbered = number_comments(state, selection.drafts)
    comments = numbered.comments
    assert [it.seq for it in comments] == [f"{3:05d}{8 + at:07d}" for at in range(len(comments))]
    stored = append_comments(state, numbered)
    assert stored.last_number == 7 + len(comments)
    assert all(find_comment(stored, it.comment_id) == it for it in comments)
    assert state.recent == ()


def test_only_the_latest_comments_stay_in_memory() -> None:
    state = append_comments(OPEN, numbered(range(1, RECENT_COMMENTS + 1)))
    assert not state.has_earlier
    state = append_comments(state, numbered([RECENT_COMMENTS + 1]))
    assert (len(state.recent), state.has_earlier, state.recent[0].seq) == (
        RECENT_COMMENTS,
        True,
        comment(2, epoch=3).seq,
    )
    assert state.has_all_after(comment(2, epoch=3).seq or "")
    assert not state.has_all_after(comment(1, epoch=3).seq or "")
    assert state.has_acknowledged(comment(201, epoch=3).seq or "")
    assert not state.has_acknowledged(comment(202, epoch=3).seq or "")
