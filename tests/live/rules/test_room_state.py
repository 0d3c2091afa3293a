"""A removed account is erased from a running room: its comments are shown as they are stored now."""

from msgspec.structs import replace

from tests.live.entities import SORA, YUNA, comment, room
from zataku.live.limits import ANONYMOUS
from zataku.live.rules.moderation_state import ModerationState
from zataku.live.rules.room_state import RoomState, erase_sender

MINE, OTHER, HIDDEN = comment(1), comment(2, sender=YUNA), comment(3)
STATE = RoomState(
    room=room(),
    epoch=1,
    recent=(MINE, OTHER, HIDDEN),
    pinned={MINE.comment_id: MINE, OTHER.comment_id: OTHER},
    moderation=ModerationState(pinned=(MINE.comment_id, OTHER.comment_id), hidden=frozenset({HIDDEN.comment_id})),
)


def test_comments_of_the_sender_become_anonymous_and_hidden_ones_are_not_shown() -> None:
    anonymous = {it.comment_id: replace(it, sender_id=None, nickname=ANONYMOUS) for it in (MINE, HIDDEN)}
    assert STATE.comments_of(SORA) == [MINE.comment_id, HIDDEN.comment_id, MINE.comment_id]
    erasure = erase_sender(STATE, SORA, anonymous)
    assert erasure.state.comments_of(SORA) == []
    assert erasure.changed == [anonymous[MINE.comment_id]]
    assert erasure.pins == [OTHER, anonymous[MINE.comment_id]]


def test_without_a_change_nothing_is_shown_again() -> None:
    stored = {it.comment_id: it for it in (MINE, HIDDEN)}
    erasure = erase_sender(STATE, SORA, stored)
    assert (erasure.state, erasure.changed, erasure.pins) == (STATE, [], [])
