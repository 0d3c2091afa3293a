"""What holds when many do things in a room at once, on stores that refuse, conflict and lose replies."""

import asyncio

from tests.contract.asking import eventually
from tests.live.talk import HALL, MIDORI, SORA, WEB, act, all_of, opened_room, owned, room, said, socket
from tests.opened import START
from tests.racing import race
from zataku.live.design import LogEntry, comments_after, connection, latest_comments, room_now, upvoters_of, upvotes_on
from zataku.live.hosting import block, delete_comment, mark_comment
from zataku.live.limits import BEFORE_ALL, SenderId, seq_of
from zataku.live.writes import close_room, create_room, join, post_comments, remove_own_comment, take_room, upvote
from zataku.table import Store, TransactionCancelled

TARGET = said(1).comment_id


async def numbers(store: Store) -> list[str]:
    return [found.seq async for found in store.each(comments_after(HALL, BEFORE_ALL))]


async def test_closing_a_room_against_comments_in_flight(contested: Store) -> None:
    epoch = await opened_room(contested)
    acknowledged, refused = list[int](), list[int]()
    over = asyncio.Event()

    async def post(number: int) -> None:
        began_after_the_close = over.is_set()
        try:
            await contested.write(post_comments([said(number)], epoch), token=f"tick-{number}")
        except TransactionCancelled:
            refused.append(number)
        else:
            assert not began_after_the_close
            acknowledged.append(number)

    async def speak(first: int) -> None:
        for number in range(first, 41, 8):
            await post(number)

    async def close() -> list[str]:
        while len(acknowledged) < 5:
            await asyncio.sleep(0)
        closing = await race(contested.write(close_room(HALL, MIDORI, START)))
        assert closing.allows(1)
        while (await contested.get(room_now(HALL))).status != "CLOSED":
            await race(contested.write(close_room(HALL, MIDORI, START)))
        over.set()
        return await numbers(contested)

    *_, at_the_close = await asyncio.gather(*(speak(first) for first in range(1, 9)), close())
    assert await numbers(contested) == at_the_close == [seq_of(number) for number in sorted(acknowledged)]
    assert sorted(acknowledged + refused) == list(range(1, 41))
    assert refused


async def test_an_owner_that_lost_its_room_is_not_heard_and_no_number_is_given_twice(contested: Store) -> None:
    old = await opened_room(contested)
    await contested.write(post_comments([said(number) for number in range(1, 4)], old), token="before")

    async def old_owner() -> None:
        for number in range(4, 24):
            await contested.write(post_comments([said(number, "old")], old), token=f"old-{number}")

    async def new_owner() -> int:
        new = await owned(contested)
        latest = await contested.first(latest_comments(HALL))
        assert latest is not None
        first = int(latest.seq or 0) + 1
        for number in range(first, first + 5):
            await contested.write(post_comments([said(number, "new", salt=1)], new), token=f"new-{number}")
        return first

    stale, first = await asyncio.gather(old_owner(), new_owner(), return_exceptions=True)
    assert isinstance(stale, TransactionCancelled)
    assert isinstance(first, int)
    found = await all_of(contested, comments_after(HALL, BEFORE_ALL))
    assert [one.seq for one in found] == [seq_of(number) for number in range(1, first + 5)]
    assert [one.content for one in found[first - 1 :]] == ["new"] * 5
    assert "new" not in [one.content for one in found[: first - 1]]


async def test_every_process_that_takes_a_room_gets_another_epoch(contested: Store) -> None:
    await opened_room(contested)
    taken = await race(*(contested.write(take_room(HALL)) for _ in range(10)))
    epochs = [found.epoch for found in taken.won if found is not None]
    assert len(set(epochs)) == len(epochs) == len(taken.won)
    assert taken.refused == []
    now = await contested.get(room_now(HALL))
    assert now is not None
    assert max(epochs) <= (now.epoch or 0)
    last = await owned(contested)
    posts = [
        contested.write(post_comments([said(1, salt=epoch)], epoch), token=f"t{epoch}") for epoch in range(1, last + 1)
    ]
    heard = await race(*posts)
    assert len(heard.won) == 1
    assert [one.comment_id for one in await all_of(contested, comments_after(HALL, BEFORE_ALL))] == [
        said(1, salt=last).comment_id
    ]


async def test_a_room_is_closed_once_however_many_try(contested: Store) -> None:
    await opened_room(contested)
    closing = await race(*(contested.write(close_room(HALL, MIDORI, START + n)) for n in range(1, 9)))
    assert closing.allows(1)
    found = await contested.get(room_now(HALL))
    assert found is not None
    assert found.status == "CLOSED"
    if closing.won:
        assert closing.won == [found]


async def test_one_id_makes_one_room(contested: Store) -> None:
    rooms = [room(name=f"発表会 {number}") for number in range(8)]
    made = await race(*(contested.write(create_room(one)) for one in rooms))
    assert made.allows(1)
    found = await contested.get(room_now(HALL))
    assert found in rooms
    if made.won:
        assert made.won == [found]


async def test_nobody_is_in_a_room_who_joined_after_it_closed(contested: Store) -> None:
    await opened_room(contested)

    async def join_one(number: int) -> int:
        await contested.write(join(socket(number), HALL, WEB, START), token=f"join-{number}")
        return number

    joins = [join_one(number) for number in range(20)]
    joined, closed = await asyncio.gather(race(*joins), race(contested.write(close_room(HALL, MIDORI, START))))
    assert closed.allows(1)
    for number in range(20):
        there = await contested.get(connection(socket(number)), strong=True)
        assert (there is not None) == (number in joined.won)
    while (await contested.get(room_now(HALL))).status != "CLOSED":
        await race(contested.write(close_room(HALL, MIDORI, START)))
    late = await race(join_one(99))
    assert len(late.refused) == 1


async def vote(store: Store, sender: SenderId, ballot: int) -> bool:
    """Upvote as a caller does it: look whether there is a count, and again after a refusal for it."""
    for counted in (False, True):
        try:
            plan = upvote(HALL, TARGET, sender, START, counted)
            await store.write(plan, token=f"ballot-{ballot}-{counted}")
        except TransactionCancelled as cancelled:
            if cancelled.reasons[0].code == "condition_failed":
                return False
            continue
        return True
    raise AssertionError("an upvote is refused for its count at most once")


async def test_a_session_upvotes_once_and_the_count_is_the_number_of_upvotes(contested: Store) -> None:
    epoch = await opened_room(contested)
    await contested.write(post_comments([said(1)], epoch), token="said")
    people = [SenderId(f"guest:{number}") for number in range(6)]
    counted = await asyncio.gather(*(vote(contested, person, at) for at, person in enumerate(people * 3)))
    total = await contested.get(upvotes_on(HALL, TARGET), strong=True)
    assert total is not None
    assert counted.count(True) == total.votes == len(people)
    await eventually(lambda: voters(contested), people)


async def voters(store: Store) -> list[str]:
    return [found.sender_id for found in await all_of(store, upvoters_of(HALL, TARGET))]


async def test_a_comment_is_taken_back_or_deleted_once(contested: Store) -> None:
    epoch = await opened_room(contested)
    await contested.write(post_comments([said(1)], epoch), token="said")
    ends = [contested.write(delete_comment(act(n), TARGET), token=f"d{n}") for n in range(1, 5)]
    ends += [contested.write(remove_own_comment(HALL, TARGET, SORA, START + n), token=f"r{n}") for n in range(1, 5)]
    ended = await race(*ends)
    assert len(ended.won) == 1
    assert await numbers(contested) == []


async def test_an_act_is_done_once_and_logged_once(contested: Store) -> None:
    epoch = await opened_room(contested)
    await contested.write(post_comments([said(1)], epoch), token="said")
    marks = [contested.write(mark_comment(act(n), "PINNED", TARGET), token=f"p{n}") for n in range(1, 7)]
    blocks = [contested.write(block(act(n), epoch, "WORD", "spam"), token=f"b{n}") for n in range(11, 17)]
    pinned, blocked = await asyncio.gather(race(*marks), race(*blocks))
    assert (len(pinned.won), len(blocked.won)) == (1, 1)
    deeds = [act(n) for n in (*range(1, 7), *range(11, 17))]
    keys = [LogEntry.key(room_id=HALL, at=deed.at, log_id=deed.log_id) for deed in deeds]
    found = [entry.action for entry in await contested.get_many(keys, strong=True) if entry is not None]
    assert found == ["PIN", "BLOCK_WORD"]


async def test_a_comment_is_not_pinned_once_it_is_gone(contested: Store) -> None:
    epoch = await opened_room(contested)
    await contested.write(post_comments([said(1)], epoch), token="said")
    await race(
        contested.write(delete_comment(act(1), TARGET), token="d"),
        contested.write(mark_comment(act(2), "PINNED", TARGET), token="p"),
    )
    late = await race(contested.write(mark_comment(act(3), "HIDDEN", TARGET), token="h"))
    assert [type(one) for one in late.refused] == [TransactionCancelled]
