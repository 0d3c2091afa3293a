"""Reading the moderation of a room that has very many marks."""

import asyncio
from random import Random
from uuid import UUID

import pytest

from tests.live.entities import NOW, ROOM_ID
from zataku.live.functions.moderation import MARK_PAGE_SIZE, MAX_CONCURRENT_MARK_PAGES, GetRoomModerationFunction
from zataku.live.limits import CommentId
from zataku.live.moderation.design import Mark
from zataku.table import Store


async def test_a_crowd_that_reads_very_many_marks_reads_a_few_pages_at_a_time(
    embedded: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(1)
    ids = [CommentId(str(UUID(int=random.getrandbits(128), version=4))) for _ in range(2 * MARK_PAGE_SIZE + 1)]
    await embedded.write_many(put=[Mark(room_id=ROOM_ID, mark="DELETED", comment_id=it, at=NOW) for it in ids])
    read, reading, most = Store.page, 0, 0

    async def count_reading(store: Store, query: object, *, limit: int, after: str | None) -> object:
        nonlocal reading, most
        assert limit == MARK_PAGE_SIZE
        reading += 1
        most = max(most, reading)
        try:
            return await read(store, query, limit=limit, after=after)  # pyright: ignore[reportArgumentType, reportUnknownVariableType]
        finally:
            reading -= 1

    monkeypatch.setattr(Store, "page", count_reading)
    function = GetRoomModerationFunction(embedded)
    states = await asyncio.gather(*(function.marks(ROOM_ID) for _ in range(20)))
    assert all(set(it.deleted) == set(ids) for it in states)
    assert most == MAX_CONCURRENT_MARK_PAGES
