"""What is left of a talk: its timeline, and what is found in it."""

import asyncio
import contextlib
import sys
import threading
from collections.abc import Sequence
from random import Random

import msgspec
import pytest

from tests.live.entities import HALL, MIDORI, SORA, YUNA, room, said
from tests.support.app_context import app_context, user_identity
from tests.support.stores import START
from zataku.clock import ManualClock, instant_ms
from zataku.errors import InvalidRequest, NotFound
from zataku.live.archive import search
from zataku.live.archive.questions import TopQuestions
from zataku.live.archive.room_cache import MAX_AGE_SECONDS
from zataku.live.archive.search import MAX_CHARACTERS_READ, MAX_CONCURRENT_FOLDS, MAX_RESULTS, Search
from zataku.live.archive.timeline import MAX_PARTS, TimelineBuilder, Timelines
from zataku.live.design import Comment, seq_of
from zataku.live.limits import SEQ_START
from zataku.live.messages import SearchResults, TimelinePart
from zataku.live.moderation.design import Mark, Reactions, Upvotes
from zataku.live.samples import talk_comments, talk_moderation, talk_room
from zataku.table import Store

HOST = user_identity(str(MIDORI))
READER = user_identity()


def at(number: int, seconds: float, **more: object) -> Comment:
    """The comment of that number, so many seconds into the talk."""
    return msgspec.structs.replace(said(number), created_at=instant_ms(START + seconds), **more)


def hidden(comment: Comment) -> Mark:
    return Mark(room_id=HALL, mark="HIDDEN", comment_id=comment.comment_id, at=instant_ms(START))


# The timeline


async def test_an_hour_has_equal_parts_that_lead_to_their_first_comment(strict: Store, clock: ManualClock) -> None:
    random = Random(20260221)
    talk = talk_room(random, START)
    comments = list(talk_comments(random, START, talk.room_id, 1200))
    handled = list(talk_moderation(random, talk, comments))
    await strict.write_many(put=[talk, *comments, *handled])
    gone = {it.comment_id for it in handled if isinstance(it, Mark) and it.mark == "HIDDEN"}
    shown = [it for it in comments if it.comment_id not in gone]

    made = await Timelines(app_context(strict, clock))(talk.room_id)
    assert (made.begin, made.end) == (shown[0].created_at, shown[-1].created_at)
    assert gone
    assert made.comments == sum(it.comments for it in made.parts) == len(shown)
    assert made.people == len({it.sender_id for it in shown})
    assert made.part_seconds == 32
    assert MAX_PARTS / 2 < len(made.parts) <= MAX_PARTS
    counted = 0
    for part in made.parts:
        assert part.seq == (shown[counted].seq if part.comments else None)
        counted += part.comments
    loudest = max(range(len(made.parts)), key=lambda it: made.parts[it].comments)
    assert 25 * 60 <= loudest * made.part_seconds < 31 * 60


async def test_reactions_are_spread_over_the_parts_of_their_minute_and_none_is_lost(
    strict: Store, clock: ManualClock
) -> None:
    minutes = [
        Reactions(room_id=HALL, minute=instant_ms(START + minute * 60), clap=clap, lol=1)
        for minute, clap in ((-5, 3), (0, 10), (1, 6), (90, 2))
    ]
    await strict.write_many(put=[room(), at(1, 0), at(2, 119), *minutes])
    made = await Timelines(app_context(strict, clock))(HALL)
    assert (made.part_seconds, len(made.parts)) == (1, 120)
    assert (made.reactions.clap, made.reactions.aha, made.reactions.lol) == (21, 0, 4)
    assert sum(it.reactions for it in made.parts) == 25
    # What came before the first comment or after the last is counted with them.
    assert made.parts[0] == TimelinePart(comments=1, reactions=4, seq=seq_of(1, 1))
    assert sum(it.reactions for it in made.parts[1:60]) == 11
    assert max(it.reactions for it in made.parts[1:119]) == 1
    assert made.parts[-1] == TimelinePart(comments=1, reactions=4, seq=seq_of(1, 2))


@pytest.mark.parametrize("seconds", [0, 7, 100, 250, 3_600, 86_400])
def test_a_part_gets_its_share_of_each_minute(seconds: int) -> None:
    random = Random(seconds)
    strip = TimelineBuilder(instant_ms(START + 12.3))
    for second in (0, seconds):
        strip.add(at(1, 12.3 + second))
    minutes = [(random.randrange(-180, seconds + 180), random.randrange(200)) for _ in range(20)]
    parts = strip.parts([Reactions(room_id=HALL, minute=instant_ms(START + 12.3 + it), clap=n) for it, n in minutes])
    spread = [0] * len(parts)
    for begin, amount in minutes:
        for second in range(60):
            part = min(max(0, (begin + second) // strip.part_seconds), len(parts) - 1)
            spread[part] += amount * (second + 1) // 60 - amount * second // 60
    assert [it.reactions for it in parts] == spread


@pytest.mark.parametrize("seconds", [0, 119, 7 * 86_400])
def test_a_week_of_reactions_is_not_processed_second_by_second(seconds: int) -> None:
    strip = TimelineBuilder(instant_ms(START))
    for second in (0, seconds):
        strip.add(at(1, second))
    minutes = [Reactions(room_id=HALL, minute=instant_ms(START + 60 * it), clap=3) for it in range(7 * 24 * 60)]
    steps = 0

    def count(*_: object) -> None:
        nonlocal steps
        steps += 1

    sys.setprofile(count)
    try:
        parts = strip.parts(minutes)
    finally:
        sys.setprofile(None)
    assert sum(it.reactions for it in parts) == 3 * len(minutes)
    assert steps < 30 * len(minutes)


@pytest.mark.parametrize(
    ("seconds", "part_seconds", "parts"),
    [
        ([0], 1, 1),
        ([0, 119.999], 1, 120),
        ([0, 120], 2, 61),
        ([0, 86_400 * 30], 32_768, 80),
        ([60, 0, 61], 1, 2),
    ],
)
async def test_parts_are_as_long_as_the_talk_needs(
    strict: Store, clock: ManualClock, seconds: list[float], part_seconds: int, parts: int
) -> None:
    comments = [at(number, it) for number, it in enumerate(seconds, 1)]
    await strict.write_many(put=[room(), *comments])
    made = await Timelines(app_context(strict, clock))(HALL)
    assert (made.part_seconds, len(made.parts), made.comments) == (part_seconds, parts, len(seconds))
    assert sum(it.comments for it in made.parts) == len(seconds)


async def test_a_room_without_comments_has_no_parts(strict: Store, clock: ManualClock) -> None:
    await strict.put(room())
    made = await Timelines(app_context(strict, clock))(HALL)
    assert (made.begin, made.end, made.parts, made.comments, made.people) == (
        instant_ms(START),
        instant_ms(START),
        [],
        0,
        0,
    )


async def test_senders_are_counted_once_and_unknown_ones_as_one(strict: Store, clock: ManualClock) -> None:
    senders = [SORA, SORA, YUNA, None, None]
    comments = [at(number, number, sender_id=sender) for number, sender in enumerate(senders, 1)]
    await strict.write_many(put=[room(), *comments])
    assert (await Timelines(app_context(strict, clock))(HALL)).people == 3


async def test_a_timeline_is_cached_for_some_seconds_and_rebuilt_when_the_room_closes(
    strict: Store, clock: ManualClock
) -> None:
    timelines = Timelines(app_context(strict, clock))
    await strict.write_many(put=[room(), at(1, 0)])
    assert (await timelines(HALL)).comments == 1
    await strict.put(at(2, 1))
    assert (await timelines(HALL)).comments == 1
    await clock.advance(MAX_AGE_SECONDS)
    assert (await timelines(HALL)).comments == 2
    await strict.write_many(put=[room(status="CLOSED", updated_at=instant_ms(START + 9)), at(3, 2)])
    assert (await timelines(HALL)).comments == 3


# Questions


async def test_the_most_upvoted_come_first_without_hidden_comments(strict: Store, clock: ManualClock) -> None:
    asked = [said(number, f"Q{number}") for number in range(1, 61)]
    counts = [Upvotes(room_id=HALL, comment_id=it.comment_id, votes=1 + at // 2) for at, it in enumerate(asked)]
    answered = Mark(room_id=HALL, mark="ANSWERED", comment_id=asked[57].comment_id, at=instant_ms(START))
    await strict.write_many(put=[room(), *asked, *counts, answered, hidden(asked[59])])
    found = (await TopQuestions(app_context(strict, clock))(HALL)).questions
    assert [(it.comment.content, it.votes, it.answered) for it in found[:4]] == [
        ("Q59", 30, False),
        ("Q57", 29, False),
        ("Q58", 29, True),
        ("Q55", 28, False),
    ]
    assert len(found) == 50
    with pytest.raises(NotFound):
        await TopQuestions(app_context(strict, clock))("nowhere")


# Searching


async def found(
    store: Store, clock: ManualClock, wanted: str, after: str = SEQ_START, who: object = READER
) -> SearchResults:
    return await Search(app_context(store, clock))(who, HALL, wanted, after)  # type: ignore[arg-type]  # both are people


@pytest.mark.parametrize(
    ("wanted", "numbers"),
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
    strict: Store, clock: ManualClock, wanted: str, numbers: list[int]
) -> None:
    texts = ["Zataku!", "ＺＡＴＡＫＵは", "ｶｰﾄﾞ", "Straße", "１００％", "<b>no</b>", "하늘이 맑다", "by name"]
    comments = [at(number, number, content=text) for number, text in enumerate(texts, 1)]
    comments[-1] = at(8, 8, content="by name", nickname="ソラ sora")
    await strict.write_many(put=[room(), *comments])
    hits = await found(strict, clock, wanted)
    assert [it.seq for it in hits.comments] == [seq_of(1, it) for it in numbers]
    assert hits.next is None


async def test_a_search_continues_where_it_stopped_and_finds_each_comment_once(
    strict: Store, clock: ManualClock
) -> None:
    talked = [at(number, number, content="yes" if number % 7 == 0 else "no") for number in range(1, 2300)]
    await strict.write_many(put=[room(), *talked])
    seqs: list[str] = []
    after, asked = SEQ_START, 0
    while after is not None:
        page = await found(strict, clock, "yes", after)
        assert len(page.comments) <= MAX_RESULTS
        seqs += [it.seq for it in page.comments]
        after, asked = page.next, asked + 1
    assert seqs == [seq_of(1, number) for number in range(7, 2300, 7)]
    assert asked == 4

    rare = await found(strict, clock, "maybe")
    assert (rare.comments, rare.next) == ([], seq_of(1, 2000))
    assert (await found(strict, clock, "maybe", seq_of(1, 2000))).next is None


async def test_rooms_of_long_comments_are_searched_in_smaller_steps(strict: Store, clock: ManualClock) -> None:
    await strict.write_many(put=[room(), *(at(number, number, content="長" * 500) for number in range(1, 602))])
    assert (await found(strict, clock, "短")).next == seq_of(1, 200)
    assert (await found(strict, clock, "短", seq_of(1, 401))).next == seq_of(1, 601)
    assert (await found(strict, clock, "短", seq_of(1, 402))).next is None


async def test_a_search_never_folds_more_than_its_limit(
    strict: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Short ones first: what comes after them is as long as can be.
    lengths = [*[100] * 300, *[500] * 400]
    told = [at(number, number, content="長" * length) for number, length in enumerate(lengths, 1)]
    await strict.write_many(put=[room(), *told])
    sizes: list[int] = []

    def matching(comments: Sequence[Comment], _needle: str) -> list[Comment]:
        sizes.append(sum(len(it.content) for it in comments))
        return []

    monkeypatch.setattr(search, "_matching", matching)
    assert (await found(strict, clock, "短")).next is not None
    assert MAX_CHARACTERS_READ / 2 < sum(sizes) <= MAX_CHARACTERS_READ


async def test_at_most_two_searches_fold_at_the_same_time(
    strict: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await strict.write_many(put=[room(), at(1, 1, content="yes")])
    # They would all meet here if they could; when no third one comes in time, none is waited for any more.
    meeting = threading.Barrier(MAX_CONCURRENT_FOLDS + 1, timeout=0.5)

    def matching(comments: Sequence[Comment], _needle: str) -> list[Comment]:
        with contextlib.suppress(threading.BrokenBarrierError):
            meeting.wait()
        return list(comments)

    monkeypatch.setattr(search, "_matching", matching)
    look = Search(app_context(strict, clock))
    hits = await asyncio.gather(*(look(READER, HALL, "yes", SEQ_START) for _ in range(6)))
    assert meeting.broken
    assert [len(it.comments) for it in hits] == [1] * 6


async def test_only_the_host_finds_hidden_comments(strict: Store, clock: ManualClock) -> None:
    await strict.write_many(put=[room(), at(1, 1, content="rude"), at(2, 2, content="rude, too"), hidden(said(1))])
    assert [it.seq for it in (await found(strict, clock, "rude")).comments] == [seq_of(1, 2)]
    assert len((await found(strict, clock, "rude", who=HOST)).comments) == 2


async def test_an_unknown_room_and_an_empty_text_cannot_be_searched(strict: Store, clock: ManualClock) -> None:
    await strict.put(room())
    with pytest.raises(InvalidRequest, match="nothing to look for"):
        await found(strict, clock, "　 ")
    context = app_context(strict, clock)
    for nowhere in ("5", "00000000-0000-4000-8000-000000000000", ""):
        with pytest.raises(NotFound):
            await Search(context)(READER, nowhere, "x", SEQ_START)
        with pytest.raises(NotFound):
            await Timelines(context)(nowhere)
