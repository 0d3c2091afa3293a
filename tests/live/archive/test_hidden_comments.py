"""A comment that the host hides during a read is not in its result."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

import msgspec
import pytest

from tests.live.entities import MIDORI, ROOM_ID, comment, room
from tests.support.app_context import app_context, user_identity
from tests.support.manual_clock import ManualClock
from tests.support.stores import START
from zataku.clock import instant_ms
from zataku.live.archive.export import Download, Exports
from zataku.live.archive.messages import Export
from zataku.live.archive.questions import TopQuestions
from zataku.live.archive.search import Search
from zataku.live.archive.timeline import Timelines
from zataku.live.design import seq_of
from zataku.live.functions.comments import PAGE_SIZE
from zataku.live.limits import SEQ_START
from zataku.live.moderation.design import Mark, Upvotes
from zataku.system import AppContext
from zataku.table import Store

READER, HOST = user_identity(), user_identity(str(MIDORI))
RUDE = comment(1, "rude")


class HidingStore:
    """A store in which the host hides a comment right after comments were read for the first time."""

    def __init__(self, store: Store, hide: Callable[[], Awaitable[None]]) -> None:
        self._store = store
        self._hide = hide

    def restricted(self, rights: Any) -> "HidingStore":
        return HidingStore(self._store.restricted(rights), self._hide)

    async def page(self, *arguments: Any, **options: Any) -> Any:
        page = await self._store.page(*arguments, **options)
        await self._hide()
        return page

    async def get_many(self, *arguments: Any, **options: Any) -> Any:
        items = await self._store.get_many(*arguments, **options)
        await self._hide()
        return items

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@pytest.fixture
async def context(strict: Store, clock: ManualClock) -> AppContext:
    """A room with two comments, of which the host hides the rude one during the first read."""
    comments = [RUDE, comment(2, "rude, they say")]
    counts = [Upvotes(room_id=ROOM_ID, comment_id=it.comment_id, votes=3) for it in comments]
    await strict.write_many(put=[room(), *comments, *counts])

    async def hide() -> None:
        await strict.put(Mark(room_id=ROOM_ID, mark="HIDDEN", comment_id=RUDE.comment_id, at=instant_ms(START)))

    return app_context(cast("Store", HidingStore(strict, hide)), clock)


async def test_a_search_does_not_find_a_comment_hidden_during_it(context: AppContext) -> None:
    results = await Search(context)(READER, ROOM_ID, "rude", SEQ_START)
    assert [it.seq for it in results.comments] == [seq_of(1, 2)]
    assert len((await Search(context)(HOST, ROOM_ID, "rude", SEQ_START)).comments) == 2


async def test_a_comment_hidden_during_the_read_is_not_among_the_questions(context: AppContext) -> None:
    assert [it.comment.seq for it in (await TopQuestions(context)(ROOM_ID)).questions] == [seq_of(1, 2)]


async def test_a_timeline_does_not_count_a_comment_hidden_while_it_is_built(context: AppContext) -> None:
    timeline = await Timelines(context)(ROOM_ID)
    assert (timeline.comments, [it.seq for it in timeline.parts]) == (1, [seq_of(1, 2)])


async def test_only_the_hosts_export_has_a_comment_hidden_during_it(context: AppContext) -> None:
    assert [it.seq for it in (await decode_export(await Exports(context).json(READER, ROOM_ID))).comments] == [
        seq_of(1, 2)
    ]
    assert [it.hidden for it in (await decode_export(await Exports(context).json(HOST, ROOM_ID))).comments] == [
        True,
        False,
    ]


async def test_a_comment_hidden_during_an_export_is_not_on_later_pages(strict: Store, clock: ManualClock) -> None:
    last = comment(PAGE_SIZE + 1)
    await strict.write_many(put=[room(), *map(comment, range(1, PAGE_SIZE + 1)), last])
    download = await Exports(app_context(strict, clock)).csv(READER, ROOM_ID)
    sent = b""
    async for chunk in download.chunks:
        sent += chunk
        await strict.put(Mark(room_id=ROOM_ID, mark="HIDDEN", comment_id=last.comment_id, at=instant_ms(START)))
    assert sent.count(b"\r\n") == 1 + PAGE_SIZE


async def decode_export(download: Download) -> Export:
    return msgspec.json.decode(b"".join([it async for it in download.chunks]), type=Export)
