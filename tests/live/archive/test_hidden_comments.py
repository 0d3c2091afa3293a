"""A comment that is hidden while somebody reads what is left of a talk is not among what they get."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

import msgspec
import pytest

from tests.live.entities import HALL, MIDORI, room, said
from tests.support.app_context import app_context, user_identity
from tests.support.stores import START
from zataku.clock import ManualClock, instant_ms
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
RUDE = said(1, "rude")


class Meddled:
    """A store in which the host hides a comment right after comments were read for the first time."""

    def __init__(self, store: Store, hide: Callable[[], Awaitable[None]]) -> None:
        self._store = store
        self._hide = hide

    def restricted(self, rights: Any) -> "Meddled":
        return Meddled(self._store.restricted(rights), self._hide)

    async def page(self, *asked: Any, **more: Any) -> Any:
        found = await self._store.page(*asked, **more)
        await self._hide()
        return found

    async def get_many(self, *asked: Any, **more: Any) -> Any:
        found = await self._store.get_many(*asked, **more)
        await self._hide()
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@pytest.fixture
async def context(strict: Store, clock: ManualClock) -> AppContext:
    """A room in which somebody is rude, which the host hides a moment too late."""
    asked = [RUDE, said(2, "rude, they say")]
    counts = [Upvotes(room_id=HALL, comment_id=it.comment_id, votes=3) for it in asked]
    await strict.write_many(put=[room(), *asked, *counts])

    async def hide() -> None:
        await strict.put(Mark(room_id=HALL, mark="HIDDEN", comment_id=RUDE.comment_id, at=instant_ms(START)))

    return app_context(cast("Store", Meddled(strict, hide)), clock)


async def test_a_search_does_not_find_a_comment_hidden_meanwhile(context: AppContext) -> None:
    found = await Search(context)(READER, HALL, "rude", SEQ_START)
    assert [it.seq for it in found.comments] == [seq_of(1, 2)]
    assert len((await Search(context)(HOST, HALL, "rude", SEQ_START)).comments) == 2


async def test_a_comment_hidden_meanwhile_is_no_question(context: AppContext) -> None:
    assert [it.comment.seq for it in (await TopQuestions(context)(HALL)).questions] == [seq_of(1, 2)]


async def test_a_timeline_does_not_lead_to_a_comment_hidden_meanwhile(context: AppContext) -> None:
    made = await Timelines(context)(HALL)
    assert (made.comments, [it.seq for it in made.parts]) == (1, [seq_of(1, 2)])


async def test_only_the_host_exports_a_comment_hidden_meanwhile(context: AppContext) -> None:
    assert [it.seq for it in (await written(await Exports(context).json(READER, HALL))).comments] == [seq_of(1, 2)]
    assert [it.hidden for it in (await written(await Exports(context).json(HOST, HALL))).comments] == [True, False]


async def test_a_comment_hidden_during_an_export_is_not_on_later_pages(strict: Store, clock: ManualClock) -> None:
    last = said(PAGE_SIZE + 1)
    await strict.write_many(put=[room(), *map(said, range(1, PAGE_SIZE + 1)), last])
    download = await Exports(app_context(strict, clock)).csv(READER, HALL)
    sent = b""
    async for chunk in download.chunks:
        sent += chunk
        await strict.put(Mark(room_id=HALL, mark="HIDDEN", comment_id=last.comment_id, at=instant_ms(START)))
    assert sent.count(b"\r\n") == 1 + PAGE_SIZE


async def written(download: Download) -> Export:
    return msgspec.json.decode(b"".join([it async for it in download.chunks]), type=Export)
