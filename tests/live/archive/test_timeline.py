"""The timeline of a room."""

import sys
from random import Random

import pytest

from tests.live.entities import ROOM_ID, SORA, YUNA, comment_at, room, talk_room
from tests.support.app_context import app_context
from tests.support.manual_clock import ManualClock
from tests.support.stores import START
from zataku.clock import instant_ms
from zataku.live.archive.messages import TimelinePart
from zataku.live.archive.room_cache import MAX_AGE_SECONDS
from zataku.live.archive.timeline import MAX_PARTS, TimelineBuilder, Timelines
from zataku.live.design import seq_of
from zataku.live.moderation.design import Mark, Reactions
from zataku.live.samples import talk_comments, talk_moderation
from zataku.table import Store


async def test_an_hour_has_equal_parts_that_lead_to_their_first_comment(strict: Store, clock: ManualClock) -> None:
    random = Random(20260221)
    talk = talk_room(random, START)
    comments = list(talk_comments(random, START, talk.room_id, 1200))
    moderation = list(talk_moderation(random, talk, comments))
    await strict.write_many(put=[talk, *comments, *moderation])
    hidden_ids = {it.comment_id for it in moderation if isinstance(it, Mark) and it.mark == "HIDDEN"}
    visible = [it for it in comments if it.comment_id not in hidden_ids]

    timeline = await Timelines(app_context(strict, clock))(talk.room_id)
    assert (timeline.begin, timeline.end) == (visible[0].created_at, visible[-1].created_at)
    assert hidden_ids
    assert timeline.comments == sum(it.comments for it in timeline.parts) == len(visible)
    assert timeline.people == len({it.sender_id for it in visible})
    assert timeline.part_seconds == 32
    assert MAX_PARTS / 2 < len(timeline.parts) <= MAX_PARTS
    counted = 0
    for part in timeline.parts:
        assert part.seq == (visible[counted].seq if part.comments else None)
        counted += part.comments
    busiest = max(range(len(timeline.parts)), key=lambda it: timeline.parts[it].comments)
    assert 25 * 60 <= busiest * timeline.part_seconds < 31 * 60


async def test_reactions_are_spread_over_the_parts_of_their_minute_and_none_is_lost(
    strict: Store, clock: ManualClock
) -> None:
    minutes = [
        Reactions(room_id=ROOM_ID, minute=instant_ms(START + minute * 60), clap=clap, lol=1)
        for minute, clap in ((-5, 3), (0, 10), (1, 6), (90, 2))
    ]
    await strict.write_many(put=[room(), comment_at(1, 0), comment_at(2, 119), *minutes])
    timeline = await Timelines(app_context(strict, clock))(ROOM_ID)
    assert (timeline.part_seconds, len(timeline.parts)) == (1, 120)
    assert (timeline.reactions.clap, timeline.reactions.aha, timeline.reactions.lol) == (21, 0, 4)
    assert sum(it.reactions for it in timeline.parts) == 25
    # Reactions before the first comment or after the last one count in the first or last part.
    assert timeline.parts[0] == TimelinePart(comments=1, reactions=4, seq=seq_of(1, 1))
    assert sum(it.reactions for it in timeline.parts[1:60]) == 11
    assert max(it.reactions for it in timeline.parts[1:119]) == 1
    assert timeline.parts[-1] == TimelinePart(comments=1, reactions=4, seq=seq_of(1, 2))


@pytest.mark.parametrize("seconds", [0, 7, 100, 250, 3_600, 86_400])
def test_a_part_gets_its_share_of_each_minute(seconds: int) -> None:
    random = Random(seconds)
    builder = TimelineBuilder(instant_ms(START + 12.3))
    for second in (0, seconds):
        builder.add(comment_at(1, 12.3 + second))
    minutes = [(random.randrange(-180, seconds + 180), random.randrange(200)) for _ in range(20)]
    parts = builder.parts(
        [Reactions(room_id=ROOM_ID, minute=instant_ms(START + 12.3 + it), clap=n) for it, n in minutes]
    )
    spread = [0] * len(parts)
    for begin, amount in minutes:
        for second in range(60):
            part = min(max(0, (begin + second) // builder.part_seconds), len(parts) - 1)
            spread[part] += amount * (second + 1) // 60 - amount * second // 60
    assert [it.reactions for it in parts] == spread


@pytest.mark.parametrize("seconds", [0, 119, 7 * 86_400])
def test_a_week_of_reactions_is_not_processed_second_by_second(seconds: int) -> None:
    builder = TimelineBuilder(instant_ms(START))
    for second in (0, seconds):
        builder.add(comment_at(1, second))
    minutes = [Reactions(room_id=ROOM_ID, minute=instant_ms(START + 60 * it), clap=3) for it in range(7 * 24 * 60)]
    steps = 0

    def count(*_: object) -> None:
        nonlocal steps
        steps += 1

    sys.setprofile(count)
    try:
        parts = builder.parts(minutes)
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
    comments = [comment_at(number, it) for number, it in enumerate(seconds, 1)]
    await strict.write_many(put=[room(), *comments])
    timeline = await Timelines(app_context(strict, clock))(ROOM_ID)
    assert (timeline.part_seconds, len(timeline.parts), timeline.comments) == (part_seconds, parts, len(seconds))
    assert sum(it.comments for it in timeline.parts) == len(seconds)


async def test_a_room_without_comments_has_no_parts(strict: Store, clock: ManualClock) -> None:
    await strict.put(room())
    timeline = await Timelines(app_context(strict, clock))(ROOM_ID)
    assert (timeline.begin, timeline.end, timeline.parts, timeline.comments, timeline.people) == (
        instant_ms(START),
        instant_ms(START),
        [],
        0,
        0,
    )


async def test_senders_are_counted_once_and_unknown_ones_as_one(strict: Store, clock: ManualClock) -> None:
    senders = [SORA, SORA, YUNA, None, None]
    comments = [comment_at(number, number, sender_id=sender) for number, sender in enumerate(senders, 1)]
    await strict.write_many(put=[room(), *comments])
    assert (await Timelines(app_context(strict, clock))(ROOM_ID)).people == 3


async def test_a_timeline_is_cached_for_some_seconds_and_rebuilt_when_the_room_closes(
    strict: Store, clock: ManualClock
) -> None:
    timelines = Timelines(app_context(strict, clock))
    await strict.write_many(put=[room(), comment_at(1, 0)])
    assert (await timelines(ROOM_ID)).comments == 1
    await strict.put(comment_at(2, 1))
    assert (await timelines(ROOM_ID)).comments == 1
    await clock.advance(MAX_AGE_SECONDS)
    assert (await timelines(ROOM_ID)).comments == 2
    await strict.write_many(put=[room(status="CLOSED", updated_at=instant_ms(START + 9)), comment_at(3, 2)])
    assert (await timelines(ROOM_ID)).comments == 3
