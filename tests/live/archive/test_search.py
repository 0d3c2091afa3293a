"""Search in the comments of a room."""

import asyncio
import contextlib
import threading
from collections.abc import Sequence

import pytest

from tests.live.entities import MIDORI, ROOM_ID, comment, comment_at, hidden_mark, room
from tests.support.app_context import app_context, user_identity
from tests.support.manual_clock import ManualClock
from zataku.errors import InvalidRequest, NotFound
from zataku.live.archive import search
from zataku.live.archive.messages import SearchResults
from zataku.live.archive.search import MAX_CHARACTERS_READ, MAX_CONCURRENT_FOLDS, MAX_RESULTS, Search
from zataku.live.archive.timeline import Timelines
from zataku.live.design import Comment, seq_of
from zataku.live.limits import SEQ_START, SenderId
from zataku.table import Store

HOST = user_identity(str(MIDORI))
READER = user_identity()


async def results_for(
    store: Store, clock: ManualClock, text: str, after: str = SEQ_START, reader: object = READER
) -> SearchResults:
    return await Search(app_context(store, clock))(reader, ROOM_ID, text, after)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("zataku", [1, 2]),
        ("ｚａｔａ", [1, 2]),
        ("カード", [3]),
        ("STRASSE", [4]),
        ("100%", [5]),
        ("<b>", [6]),
        ("하늘", [7]),
        (" Sora ", [8]),
        (".*", []),
        ("anonymous", []),
    ],
)
async def test_search_ignores_case_and_width_and_finds_nicknames(
    strict: Store, clock: ManualClock, text: str, numbers: list[int]
) -> None:
    contents = ["Zataku!", "ＺＡＴＡＫＵは", "ｶｰﾄﾞ", "Straße", "１００％", "<b>no</b>", "하늘이 맑다", "by name"]
    comments = [comment_at(number, number, content=content) for number, content in enumerate(contents, 1)]
    comments[-1] = comment_at(8, 8, content="by name", nickname="ソラ sora")
    await strict.write_many(put=[room(), *comments])
    results = await results_for(strict, clock, text)
    assert [it.seq for it in results.comments] == [seq_of(1, it) for it in numbers]
    assert results.next is None


async def test_a_result_says_whether_the_host_wrote_it(strict: Store, clock: ManualClock) -> None:
    by_host = comment_at(2, 2, content="the same", sender_id=SenderId(MIDORI))
    await strict.write_many(put=[room(), comment_at(1, 1, content="the same", anonymous_number=3), by_host])
    results = await results_for(strict, clock, "same")
    assert [(it.host, it.anonymous_number) for it in results.comments] == [(False, 3), (True, None)]


async def test_a_search_continues_where_it_stopped_and_finds_each_comment_once(
    strict: Store, clock: ManualClock
) -> None:
    comments = [comment_at(number, number, content="yes" if number % 7 == 0 else "no") for number in range(1, 2300)]
    await strict.write_many(put=[room(), *comments])
    seqs: list[str] = []
    after, pages = SEQ_START, 0
    while after is not None:
        page = await results_for(strict, clock, "yes", after)
        assert len(page.comments) <= MAX_RESULTS
        seqs += [it.seq for it in page.comments]
        after, pages = page.next, pages + 1
    assert seqs == [seq_of(1, number) for number in range(7, 2300, 7)]
    assert pages == 4

    rare = await results_for(strict, clock, "maybe")
    assert (rare.comments, rare.next) == ([], seq_of(1, 2000))
    assert (await results_for(strict, clock, "maybe", seq_of(1, 2000))).next is None


async def test_rooms_of_long_comments_are_searched_in_smaller_steps(strict: Store, clock: ManualClock) -> None:
    await strict.write_many(put=[room(), *(comment_at(number, number, content="長" * 500) for number in range(1, 602))])
    assert (await results_for(strict, clock, "短")).next == seq_of(1, 200)
    assert (await results_for(strict, clock, "短", seq_of(1, 401))).next == seq_of(1, 601)
    assert (await results_for(strict, clock, "短", seq_of(1, 402))).next is None


async def test_a_search_never_folds_more_than_its_limit(
    strict: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Short comments first, then the longest ones.
    lengths = [*[100] * 300, *[500] * 400]
    stored = [comment_at(number, number, content="長" * length) for number, length in enumerate(lengths, 1)]
    await strict.write_many(put=[room(), *stored])
    sizes: list[int] = []

    def matching(comments: Sequence[Comment], _needle: str) -> list[Comment]:
        sizes.append(sum(len(it.content) for it in comments))
        return []

    monkeypatch.setattr(search, "_matching", matching)
    assert (await results_for(strict, clock, "短")).next is not None
    assert MAX_CHARACTERS_READ / 2 < sum(sizes) <= MAX_CHARACTERS_READ


async def test_at_most_two_searches_fold_at_the_same_time(
    strict: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await strict.write_many(put=[room(), comment_at(1, 1, content="yes")])
    # A third concurrent search would complete the barrier; without one it breaks after its timeout.
    barrier = threading.Barrier(MAX_CONCURRENT_FOLDS + 1, timeout=0.5)

    def matching(comments: Sequence[Comment], _needle: str) -> list[Comment]:
        with contextlib.suppress(threading.BrokenBarrierError):
            barrier.wait()
        return list(comments)

    monkeypatch.setattr(search, "_matching", matching)
    run_search = Search(app_context(strict, clock))
    results = await asyncio.gather(*(run_search(READER, ROOM_ID, "yes", SEQ_START) for _ in range(6)))
    assert barrier.broken
    assert [len(it.comments) for it in results] == [1] * 6


async def test_only_the_host_finds_hidden_comments(strict: Store, clock: ManualClock) -> None:
    await strict.write_many(
        put=[room(), comment_at(1, 1, content="rude"), comment_at(2, 2, content="rude, too"), hidden_mark(comment(1))]
    )
    assert [it.seq for it in (await results_for(strict, clock, "rude")).comments] == [seq_of(1, 2)]
    assert len((await results_for(strict, clock, "rude", reader=HOST)).comments) == 2


async def test_an_unknown_room_and_an_empty_text_cannot_be_searched(strict: Store, clock: ManualClock) -> None:
    await strict.put(room())
    with pytest.raises(InvalidRequest, match="nothing to look for"):
        await results_for(strict, clock, "　 ")
    context = app_context(strict, clock)
    for nowhere in ("5", "00000000-0000-4000-8000-000000000000", ""):
        with pytest.raises(NotFound):
            await Search(context)(READER, nowhere, "x", SEQ_START)
        with pytest.raises(NotFound):
            await Timelines(context)(nowhere)
