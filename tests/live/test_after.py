"""What is left of a talk: its timeline, and what is found in it."""

from random import Random

import msgspec
import pytest

from tests.live.talk import HALL, MIDORI, SORA, YUNA, room, said
from tests.opened import START
from tests.plugged import house_of, somebody
from zataku.clock import ManualClock
from zataku.live.after.questions import MostWanted
from zataku.live.after.search import FOUND_AT_ONCE, Search
from zataku.live.after.timeline import KEPT, KEPT_SECONDS, PARTS, Timelines
from zataku.live.design import Comment
from zataku.live.limits import BEFORE_ALL, moment, seq_of
from zataku.live.messages import Found, TimelinePart
from zataku.live.moderation import Mark, Reactions, Upvotes
from zataku.live.samples import rooms_of, talk_comments, talk_moderation, talk_room
from zataku.refusals import Invalid, NotFound
from zataku.table import Store

HOST = somebody(str(MIDORI))
READER = somebody()


def at(number: int, seconds: float, **more: object) -> Comment:
    """The comment of that number, so many seconds into the talk."""
    return msgspec.structs.replace(said(number), created_at=moment(START + seconds), **more)


def hidden(comment: Comment) -> Mark:
    return Mark(room_id=HALL, mark="HIDDEN", comment_id=comment.comment_id, at=moment(START))


# The timeline


async def test_an_hour_is_told_in_equal_parts_that_lead_to_their_first_comment(
    strict: Store, clock: ManualClock
) -> None:
    random = Random(20260221)
    talk = talk_room(random, START)
    comments = list(talk_comments(random, START, talk.room_id, 1200))
    handled = list(talk_moderation(random, talk, comments))
    await strict.write_many(put=[talk, *comments, *handled])
    gone = {it.comment_id for it in handled if isinstance(it, Mark) and it.mark == "HIDDEN"}
    shown = [it for it in comments if it.comment_id not in gone]

    made = await Timelines(house_of(strict, clock))(talk.room_id)
    assert (made.begin, made.end) == (shown[0].created_at, shown[-1].created_at)
    assert gone
    assert made.comments == sum(it.comments for it in made.parts) == len(shown)
    assert made.people == len({it.sender_id for it in shown})
    assert made.part_seconds == 32
    assert PARTS / 2 < len(made.parts) <= PARTS
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
        Reactions(room_id=HALL, minute=moment(START + minute * 60), clap=clap, lol=1)
        for minute, clap in ((-5, 3), (0, 10), (1, 6), (90, 2))
    ]
    await strict.write_many(put=[room(), at(1, 0), at(2, 119), *minutes])
    made = await Timelines(house_of(strict, clock))(HALL)
    assert (made.part_seconds, len(made.parts)) == (1, 120)
    assert (made.reactions.clap, made.reactions.aha, made.reactions.lol) == (21, 0, 4)
    assert sum(it.reactions for it in made.parts) == 25
    # What came before the first comment or after the last is counted with them.
    assert made.parts[0] == TimelinePart(comments=1, reactions=4, seq=seq_of(1, 1))
    assert sum(it.reactions for it in made.parts[1:60]) == 11
    assert max(it.reactions for it in made.parts[1:119]) == 1
    assert made.parts[-1] == TimelinePart(comments=1, reactions=4, seq=seq_of(1, 2))


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
    made = await Timelines(house_of(strict, clock))(HALL)
    assert (made.part_seconds, len(made.parts), made.comments) == (part_seconds, parts, len(seconds))
    assert sum(it.comments for it in made.parts) == len(seconds)


async def test_a_room_in_which_nobody_said_anything_has_no_parts(strict: Store, clock: ManualClock) -> None:
    await strict.put(room())
    made = await Timelines(house_of(strict, clock))(HALL)
    assert (made.begin, made.end, made.parts, made.comments, made.people) == (moment(START), moment(START), [], 0, 0)


async def test_people_are_counted_once_and_those_who_left_no_trace_as_one(strict: Store, clock: ManualClock) -> None:
    senders = [SORA, SORA, YUNA, None, None]
    comments = [at(number, number, sender_id=sender) for number, sender in enumerate(senders, 1)]
    await strict.write_many(put=[room(), *comments])
    assert (await Timelines(house_of(strict, clock))(HALL)).people == 3


async def test_a_timeline_is_shared_for_some_seconds_and_made_anew_when_the_room_closes(
    strict: Store, clock: ManualClock
) -> None:
    timelines = Timelines(house_of(strict, clock))
    await strict.write_many(put=[room(), at(1, 0)])
    assert (await timelines(HALL)).comments == 1
    await strict.put(at(2, 1))
    assert (await timelines(HALL)).comments == 1
    await clock.advance(KEPT_SECONDS)
    assert (await timelines(HALL)).comments == 2
    await strict.write_many(put=[room(status="CLOSED", updated_at=moment(START + 9)), at(3, 2)])
    assert (await timelines(HALL)).comments == 3


async def test_no_more_timelines_are_kept_than_fit(strict: Store, clock: ManualClock) -> None:
    timelines = Timelines(house_of(strict, clock))
    made = list(rooms_of(Random(1), START, KEPT + 3))
    await strict.write_many(put=made)
    for one in made:
        await timelines(one.room_id)
    assert len(timelines._kept) == KEPT
    assert made[0].room_id not in timelines._kept


# Questions


async def test_the_most_wanted_come_first_without_what_is_gone(strict: Store, clock: ManualClock) -> None:
    asked = [said(number, f"Q{number}") for number in range(1, 61)]
    counts = [Upvotes(room_id=HALL, comment_id=it.comment_id, votes=1 + at // 2) for at, it in enumerate(asked)]
    answered = Mark(room_id=HALL, mark="ANSWERED", comment_id=asked[57].comment_id, at=moment(START))
    await strict.write_many(put=[room(), *asked, *counts, answered, hidden(asked[59])])
    found = (await MostWanted(house_of(strict, clock))(HALL)).questions
    assert [(it.comment.content, it.votes, it.answered) for it in found[:4]] == [
        ("Q59", 30, False),
        ("Q57", 29, False),
        ("Q58", 29, True),
        ("Q55", 28, False),
    ]
    assert len(found) == 50
    with pytest.raises(NotFound):
        await MostWanted(house_of(strict, clock))("nowhere")


# Searching


async def found(store: Store, clock: ManualClock, wanted: str, after: str = BEFORE_ALL, who: object = READER) -> Found:
    return await Search(house_of(store, clock))(who, HALL, wanted, after)  # type: ignore[arg-type]  # both are people


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
async def test_case_and_width_make_no_difference_and_names_are_found(
    strict: Store, clock: ManualClock, wanted: str, numbers: list[int]
) -> None:
    texts = ["Zataku!", "ＺＡＴＡＫＵは", "ｶｰﾄﾞ", "Straße", "１００％", "<b>no</b>", "하늘이 맑다", "by name"]
    comments = [at(number, number, content=text) for number, text in enumerate(texts, 1)]
    comments[-1] = at(8, 8, content="by name", nickname="ソラ sora")
    await strict.write_many(put=[room(), *comments])
    hits = await found(strict, clock, wanted)
    assert [it.seq for it in hits.comments] == [seq_of(1, it) for it in numbers]
    assert hits.next is None


async def test_a_search_goes_on_where_it_stopped_and_finds_each_once(strict: Store, clock: ManualClock) -> None:
    talked = [at(number, number, content="yes" if number % 7 == 0 else "no") for number in range(1, 2300)]
    await strict.write_many(put=[room(), *talked])
    seqs: list[str] = []
    after, asked = BEFORE_ALL, 0
    while after is not None:
        page = await found(strict, clock, "yes", after)
        assert len(page.comments) <= FOUND_AT_ONCE
        seqs += [it.seq for it in page.comments]
        after, asked = page.next, asked + 1
    assert seqs == [seq_of(1, number) for number in range(7, 2300, 7)]
    assert asked == 4

    rare = await found(strict, clock, "maybe")
    assert (rare.comments, rare.next) == ([], seq_of(1, 2000))
    assert (await found(strict, clock, "maybe", seq_of(1, 2000))).next is None


async def test_rooms_of_long_comments_are_searched_in_shorter_stretches(strict: Store, clock: ManualClock) -> None:
    await strict.write_many(put=[room(), *(at(number, number, content="長" * 500) for number in range(1, 602))])
    assert (await found(strict, clock, "短")).next == seq_of(1, 500)
    assert (await found(strict, clock, "短", seq_of(1, 500))).next is None


async def test_only_the_host_finds_what_is_hidden(strict: Store, clock: ManualClock) -> None:
    await strict.write_many(put=[room(), at(1, 1, content="rude"), at(2, 2, content="rude, too"), hidden(said(1))])
    assert [it.seq for it in (await found(strict, clock, "rude")).comments] == [seq_of(1, 2)]
    assert len((await found(strict, clock, "rude", who=HOST)).comments) == 2


async def test_nothing_is_looked_for_in_no_room_and_nowhere_for_nothing(strict: Store, clock: ManualClock) -> None:
    await strict.put(room())
    with pytest.raises(Invalid, match="nothing to look for"):
        await found(strict, clock, "　 ")
    house = house_of(strict, clock)
    for nowhere in ("5", "00000000-0000-4000-8000-000000000000", ""):
        with pytest.raises(NotFound):
            await Search(house)(READER, nowhere, "x", BEFORE_ALL)
        with pytest.raises(NotFound):
            await Timelines(house)(nowhere)
