"""The talk of an hour: made the same every time, kept in a file, read back whole and from any number on."""

from collections import Counter
from random import Random

from tests.live.entities import HALL, WEB
from tests.support.stores import START
from zataku.live.design import comments_after, comments_of, latest_comments, room_now, seq_of
from zataku.live.limits import SEQ_START
from zataku.live.moderation.design import LogEntry, Mark, Upvote, Upvotes, log_of, marked, moderation_of, upvotes_in
from zataku.live.samples import (
    TALK_COMMENTS,
    audience,
    largest_comment,
    rooms_of,
    talk_comments,
    talk_moderation,
    talk_room,
)
from zataku.table import Store
from zataku.table.backend.values import item_size
from zataku.table.schema.entity import binding_of


def test_the_same_seed_and_start_give_the_same_talk() -> None:
    once, again = (
        [talk_room(made, START), *talk_comments(made, START, HALL, 300), *audience(made, START, HALL, WEB, 5)]
        for made in (Random(7), Random(7))
    )
    assert once == again
    assert once != [talk_room(Random(8), START), *talk_comments(Random(8), START, HALL, 300)]


def test_the_demo_is_loud_and_questions_come_at_the_end() -> None:
    minutes = Counter(int(made.created_at[14:16]) for made in talk_comments(Random(1), START, HALL))
    assert sum(minutes.values()) == TALK_COMMENTS
    quiet = sum(minutes[minute] for minute in range(5, 25)) / 20
    assert min(minutes[minute] for minute in range(25, 31)) > 5 * quiet
    assert min(minutes[minute] for minute in range(50, 60)) > 2 * quiet


def test_comments_come_in_order_under_names_in_three_languages() -> None:
    made = list(talk_comments(Random(1), START, HALL))
    early = sum(int(one.created_at[14:16]) < 40 for one in made)
    numbers = [(1, number) for number in range(1, early + 1)]
    numbers += [(2, number) for number in range(1, TALK_COMMENTS - early + 1)]
    assert [one.seq for one in made] == [seq_of(epoch, number) for epoch, number in numbers]
    assert [one.created_at for one in made] == sorted(one.created_at for one in made)
    assert {"Anonymous", "みどり", "하늘", "Alice"} <= {one.nickname for one in made}


def test_the_largest_comment_is_as_large_as_the_design_says() -> None:
    made = largest_comment(Random(1), START, HALL)
    assert item_size(binding_of(type(made)).encode(made)) == 2406


def test_rooms_of_a_host_are_a_week_apart() -> None:
    made = list(rooms_of(Random(1), START, 30))
    assert len({one.room_id for one in made}) == 30
    assert [one.created_at for one in made] == sorted(one.created_at for one in made)


async def test_a_whole_talk_is_kept_and_read_back(embedded: Store) -> None:
    random = Random(20260221)
    talk = talk_room(random, START)
    said = list(talk_comments(random, START, talk.room_id))
    handled = list(talk_moderation(random, talk, said))
    await embedded.write_many(put=[talk, *said, *handled])

    assert said[-1].seq.startswith(f"{talk.epoch:05d}")
    assert await embedded.get(room_now(talk.room_id)) == talk
    found = [one async for one in embedded.each(comments_of(talk.room_id))]
    assert len(found) == TALK_COMMENTS
    assert sorted(found, key=lambda one: (one.created_at, one.seq)) == said
    assert [one async for one in embedded.each(comments_after(talk.room_id, SEQ_START))] == said
    for seen in (1, 1234, 4999, 5000):
        assert [one async for one in embedded.each(comments_after(talk.room_id, said[seen - 1].seq))] == said[seen:]
    assert await embedded.first(latest_comments(talk.room_id)) == said[-1]

    shown = [one async for one in embedded.each(moderation_of(talk.room_id))]
    assert sorted(map(repr, shown)) == sorted(repr(one) for one in handled if not isinstance(one, Upvote))
    log = [one async for one in embedded.each(log_of(talk.room_id))]
    assert [one.at for one in log] == sorted((one.at for one in handled if isinstance(one, LogEntry)), reverse=True)
    pinned = [one async for one in embedded.each(marked(talk.room_id, "PINNED"))]
    assert pinned
    assert len(pinned) == sum(isinstance(one, Mark) and one.mark == "PINNED" for one in handled)
    counts = {one.comment_id: one.votes async for one in embedded.each(upvotes_in(talk.room_id))}
    assert counts == Counter(one.comment_id for one in handled if isinstance(one, Upvote))
    assert counts == {one.comment_id: one.votes for one in handled if isinstance(one, Upvotes)}
