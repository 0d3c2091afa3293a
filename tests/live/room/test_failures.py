"""A live room whose table fails during a write."""

from typing import Any
from uuid import uuid4

import pytest

from tests.live.room.room_commands import (
    MIDORI,
    ROOM_ID,
    FailingStore,
    close,
    event_summaries,
    execute_all,
    open_live_room,
    post_comment,
    reply_summaries,
    stored_comments,
)
from tests.support.stores import START
from zataku.clock import instant_ms
from zataku.live.limits import HostId, LogId
from zataku.live.moderation.writes import HostAction, delete_comment
from zataku.table import Plan, ResultUnknown, Store, Throttled


async def test_a_failed_close_leaves_the_room_open_with_all_its_comments(embedded: Store) -> None:
    live_room = await open_live_room(embedded)
    state = await live_room.acquire(ROOM_ID)
    close_function = live_room._close
    healthy, close_function._store = close_function._store, FailingStore(close_function._store, Throttled)
    outcome = await execute_all(live_room, state, [post_comment("一"), close(), post_comment("二")])
    assert (reply_summaries(outcome), event_summaries(outcome), outcome.closed) == (
        ["一", "unsettled", "二"],
        ["一", "二"],
        None,
    )
    close_function._store = healthy
    outcome = await execute_all(live_room, outcome.state, [post_comment("三"), close()])
    assert (reply_summaries(outcome), bool(outcome.closed)) == (["三", "CLOSED"], True)
    assert [(it.content, it.seq) for it in await stored_comments(embedded)] == [
        ("一", "000010000001"),
        ("二", "000010000002"),
        ("三", "000010000003"),
    ]


async def test_comments_of_unknown_outcome_are_not_reported_as_refused(embedded: Store) -> None:
    live_room = await open_live_room(embedded)
    state = await live_room.acquire(ROOM_ID)
    post_function = live_room._post
    post_function._store = FailingStore(post_function._store, ResultUnknown, is_stored=True)
    for own_function in (live_room._own, post_function._own):
        own_function._store = FailingStore(own_function._store, ResultUnknown)
    with pytest.raises(ResultUnknown):
        await live_room.handle(state, [post_comment("一")], START)
    assert [it.content for it in await stored_comments(embedded)] == ["一"]


class DeletingStore:
    """A store in which the host deletes the comments of the first batch through another owner; its reply is lost."""

    def __init__(self, store: Any, unrestricted: Store) -> None:
        self._store, self._unrestricted, self._is_first = store, unrestricted, True

    async def write(self, plan: Plan[Any], **options: Any) -> None:
        await self._store.write(plan, **options)
        if not self._is_first:
            return
        self._is_first = False
        for comment in await stored_comments(self._unrestricted):
            host_id, log_id = HostId(MIDORI.account_id), LogId(str(uuid4()))
            action = HostAction(room_id=ROOM_ID, host_id=host_id, at=instant_ms(START), log_id=log_id)
            await self._unrestricted.write(delete_comment(action, comment.comment_id, 1))
        raise ResultUnknown("The reply was lost.")


async def test_a_comment_deleted_before_its_outcome_is_known_is_not_stored_again(embedded: Store) -> None:
    live_room = await open_live_room(embedded)
    state = await live_room.acquire(ROOM_ID)
    live_room._post._store = DeletingStore(live_room._post._store, embedded)
    outcome = await live_room.handle(state, [post_comment("一")], START)
    assert (reply_summaries(outcome), event_summaries(outcome)) == (["一"], [])
    assert await stored_comments(embedded) == []
