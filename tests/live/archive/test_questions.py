"""The most upvoted comments of a room."""

import pytest

from tests.live.entities import ROOM_ID, comment, hidden_mark, room
from tests.support.app_context import app_context
from tests.support.manual_clock import ManualClock
from tests.support.stores import START
from zataku.clock import instant_ms
from zataku.errors import NotFound
from zataku.live.archive.questions import TopQuestions
from zataku.live.moderation.design import Mark, Upvotes
from zataku.table import Store


async def test_the_most_upvoted_comments_come_first_without_hidden_ones(strict: Store, clock: ManualClock) -> None:
    questions = [comment(number, f"Q{number}") for number in range(1, 61)]
    counts = [Upvotes(room_id=ROOM_ID, comment_id=it.comment_id, votes=1 + at // 2) for at, it in enumerate(questions)]
    answered = Mark(room_id=ROOM_ID, mark="ANSWERED", comment_id=questions[57].comment_id, at=instant_ms(START))
    await strict.write_many(put=[room(), *questions, *counts, answered, hidden_mark(questions[59])])
    top = (await TopQuestions(app_context(strict, clock))(ROOM_ID)).questions
    assert [(it.comment.content, it.votes, it.answered) for it in top[:4]] == [
        ("Q59", 30, False),
        ("Q57", 29, False),
        ("Q58", 29, True),
        ("Q55", 28, False),
    ]
    assert len(top) == 50
    with pytest.raises(NotFound):
        await TopQuestions(app_context(strict, clock))("nowhere")
