"""The samples of an hour's talk: the same for the same seed, and read back whole and from any number on."""

from collections import Counter
from random import Random

from tests.live.entities import ROOM_ID, WEB, largest_comment, talk_room
from tests.support.stores import START
from zataku.live.design import comments_after, comments_of, latest_comments, room_now, seq_of
from zataku.live.limits import SEQ_START
from zataku.live.moderation.design import LogEntry, Mark, Upvote, Upvotes, log_of, marked, moderation_of, upvotes_in
from zataku.live.samples import (
    TALK_COMMENTS,
    audience,
    rooms_of,
    talk_comments,
    talk_moderation,
)
from zataku.table import Store
from zataku.table.backend.values import item_size
from zataku.table.schema.entity import binding_of


def test_the_same_seed_and_start_give_the_same_talk() -> None:
    first, second = (
        [talk_room(it, START), *talk_comments(it, START, ROOM_ID, 300), *audience(it, START, ROOM_ID, WEB, 5)]
        for it in (Random(7), Random(7))
    )
    assert first == second
    assert first != [talk_room(Random(8), START), *talk_comments(Random(8), START, ROOM_ID, 300)]


def test_comments_peak_during_the_demo_and_the_questions_at_the_end() -> None:
    minutes = Counter(int(it.created_at[14:16]) for it in talk_comments(Random(1), START, ROOM_ID))
    assert sum(minutes.values()) == TALK_COMMENTS
    quiet = sum(minutes[minute] for minute in range(5, 25)) / 20
    assert min(minutes[minute] for minute in range(25, 31)) > 5 * quiet
    assert min(minutes[minute] for minute in range(50, 60)) > 2 * quiet


def test_comments_come_in_order_under_names_in_three_languages() -> None:
    comments = list(talk_comments(Random(1), START, ROOM_ID))
    early = sum(int(it.created_at[14:16]) < 40 for it in comments)
    numbers = [(1, number) for number in range(1, early + 1)]
    numbers += [(2, number) for number in range(1, TALK_COMMENTS - early + 1)]
    assert [it.seq for it in comments] == [seq_of(epoch, number) for epoch, number in numbers]
    assert [it.created_at for it in comments] == sorted(it.created_at for it in comments)
    assert {"Anonymous", "みどり", "하늘", "Alice"} <= {it.nickname for it in comments}


def test_the_largest_comment_is_as_large_as_the_design_says() -> None:
    largest = largest_comment()
    assert item_size(binding_of(type(largest)).encode(largest)) == 2406


def test_rooms_of_a_host_are_a_week_apart() -> None:
    rooms = list(rooms_of(Random(1), START, 30))
    assert len({it.room_id for it in rooms}) == 30
    assert [it.created_at for it in rooms] == sorted(it.created_at for it in rooms)


async def test_a_whole_talk_is_stored_and_read_back(embedded: Store) -> None:
    random = Random(20260221)
    talk = talk_room(random, START)
    comments = list(talk_comments(random, START, talk.room_id))
    moderation = list(talk_moderation(random, talk, comments))
    await embedded.write_many(put=[talk, *comments, *moderation])

    assert comments[-1].seq.startswith(f"{talk.epoch:05d}")
    assert await embedded.get(room_now(talk.room_id)) == talk
    stored = [it async for it in embedded.each(comments_of(talk.room_id))]
    assert len(stored) == TALK_COMMENTS
    assert sorted(stored, key=lambda it: (it.created_at, it.seq)) == comments
    assert [it async for it in embedded.each(comments_after(talk.room_id, SEQ_START))] == comments
    for seen in (1, 1234, 4999, 5000):
        assert [it async for it in embedded.each(comments_after(talk.room_id, comments[seen - 1].seq))] == comments[
            seen:
        ]
    assert await embedded.first(latest_comments(talk.room_id)) == comments[-1]

    visible = [it async for it in embedded.each(moderation_of(talk.room_id))]
    assert sorted(map(repr, visible)) == sorted(repr(it) for it in moderation if not isinstance(it, Upvote))
    log = [it async for it in embedded.each(log_of(talk.room_id))]
    assert [it.at for it in log] == sorted((it.at for it in moderation if isinstance(it, LogEntry)), reverse=True)
    pinned = [it async for it in embedded.each(marked(talk.room_id, "PINNED"))]
    assert pinned
    assert len(pinned) == sum(isinstance(it, Mark) and it.mark == "PINNED" for it in moderation)
    counts = {it.comment_id: it.votes async for it in embedded.each(upvotes_in(talk.room_id))}
    assert counts == Counter(it.comment_id for it in moderation if isinstance(it, Upvote))
    assert counts == {it.comment_id: it.votes for it in moderation if isinstance(it, Upvotes)}
