"""A running room among people who mean no good, on a table that fails, and after accounts were removed."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import pytest
from msgspec.structs import replace

from tests.live.room_commands import (
    HALL,
    MIDORI,
    SORA,
    FailingStore,
    answered,
    asks,
    carry_out,
    close,
    hall,
    seen,
    somebody,
    stored,
    wants,
)
from tests.realtime.rooms.room_process import ProcessClock, RecordingConnection, RoomProcess, run_process
from tests.support.app_context import app_context
from tests.support.stores import START, temporary_store
from zataku.errors import Forbidden, InvalidRequest, NotFound, RequestError
from zataku.live.design import TABLES
from zataku.live.limits import CommentId
from zataku.live.messages import (
    BlockSender,
    BlockWord,
    Command,
    DeleteComment,
    EraseSender,
    MarkComment,
    PauseRoom,
    PostComment,
    RetractComment,
    SetSlowMode,
    Upvote,
)
from zataku.live.moderation.design import Block, moderation
from zataku.live.removal import removal
from zataku.live.room import LiveRoom
from zataku.live.service import LiveRooms
from zataku.platform.design import TABLES as PLATFORM
from zataku.platform.identity import Identity
from zataku.realtime.bus.in_process import InProcessBus
from zataku.realtime.messages import Join, Place
from zataku.table import ResultUnknown, Store, Throttled

TOPIC = f"live/{HALL}"


def new_id() -> CommentId:
    return CommentId(str(uuid4()))


@pytest.fixture
async def alone(tmp_path: Path) -> AsyncIterator[RoomProcess]:
    """A process that runs the hall."""
    clock = ProcessClock(START)
    async with temporary_store("embedded", tmp_path, (*TABLES, *PLATFORM), clock) as store:
        await hall(store)
        async with run_process("web-0", InProcessBus(), store, clock) as made:
            made.rooms.register(LiveRoom(store))
            yield made


async def do(at: RoomProcess, command: Command, who: Identity = SORA) -> object:
    return await at.rooms.execute(TOPIC, who, command)


async def shown(at: RoomProcess, who: Identity, place: Place | None = None) -> list[dict[str, Any]]:
    """What somebody gets who joins, from a place or anew."""
    connection = RecordingConnection()
    socket = at.hub.open(connection, who, "192.0.2.1")
    await at.rooms.join(socket, Join(id=1, to=TOPIC, at=place))
    at.hub._flush_queue.flush()
    at.rooms.leave(socket, TOPIC)
    return connection.messages


async def test_nobody_gets_what_is_hidden_by_going_back_in_the_room(alone: RoomProcess) -> None:
    await do(alone, PostComment(content="before"))
    await shown(alone, MIDORI)
    for secret, act in ((new_id(), "hide"), (new_id(), "delete")):
        await do(alone, PostComment(content=f"SECRET {act}", id=secret))
        gone = MarkComment(comment_id=secret, mark="HIDDEN") if act == "hide" else DeleteComment(comment_id=secret)
        await do(alone, gone, MIDORI)
    (joined, *_) = await shown(alone, somebody(1))
    at = joined["at"]
    for back in range(8):
        messages = await shown(alone, somebody(2 + back), Place(at["epoch"], at["seq"] - back))
        assert "SECRET" not in str(messages)


async def test_comments_do_not_wait_for_wishes_of_others(embedded: Store) -> None:
    live_room = await hall(embedded)
    wishes = [wants(RetractComment(comment_id=new_id()), somebody(n)) for n in range(40)]
    wishes += [wants(Upvote(comment_id=new_id()), somebody(n)) for n in range(40)]
    kept = await live_room.handle(await live_room.acquire(HALL), [*wishes, asks("innocent")], START)
    assert kept.replies[-1].content == "innocent"


async def test_whoever_wishes_for_too_much_is_told_to_wait(embedded: Store) -> None:
    live_room = await hall(embedded)
    asked = [wants(Upvote(comment_id=new_id()), SORA) for _ in range(15)]
    kept = await carry_out(live_room, await live_room.acquire(HALL), asked)
    assert answered(kept) == ["no_such_comment"] * 10 + ["too_many_requests"] * 5


@pytest.mark.parametrize(("problem", "code"), [(Throttled, "unavailable"), (ResultUnknown, "unsettled")])
async def test_a_write_that_fails_is_answered_to_those_who_asked_for_it(
    embedded: Store, problem: type[Exception], code: str
) -> None:
    live_room = await hall(embedded)
    question = new_id()
    state = (await carry_out(live_room, await live_room.acquire(HALL), [asks("question", id=question)])).state
    voting = live_room._upvote
    healthy, voting._store = voting._store, FailingStore(voting._store, problem)
    batch = [wants(Upvote(comment_id=question), somebody(1)), asks("one", somebody(2)), wants(PauseRoom()), asks("two")]
    kept = await carry_out(live_room, state, batch)
    assert answered(kept, missing="done") == [code, "one", "done", "paused"]
    voting._store = healthy
    kept = await carry_out(live_room, kept.state, [wants(Upvote(comment_id=question), somebody(1))])
    assert (await seen(live_room, kept.state)).standing.votes == {question: 1}


async def test_a_count_whose_reply_was_lost_is_looked_up(embedded: Store) -> None:
    live_room = await hall(embedded)
    question = new_id()
    state = (await carry_out(live_room, await live_room.acquire(HALL), [asks("question", id=question)])).state
    voting = live_room._upvote
    healthy, voting._store = voting._store, FailingStore(voting._store, ResultUnknown, is_stored=True)
    kept = await carry_out(live_room, state, [wants(Upvote(comment_id=question), somebody(1))])
    voting._store = healthy
    assert answered(kept) == ["unsettled"]
    kept = await carry_out(live_room, kept.state, [wants(Upvote(comment_id=question), somebody(n)) for n in (1, 2)])
    assert answered(kept, missing="counted") == ["already_upvoted", "counted"]
    assert (await seen(live_room, kept.state)).standing.votes == {question: 2}


async def test_taking_back_what_never_was_changes_nothing_though_the_reply_is_lost(embedded: Store) -> None:
    live_room = await hall(embedded)
    removing = live_room._remove
    removing._store = FailingStore(removing._store, ResultUnknown)
    kept = await carry_out(live_room, await live_room.acquire(HALL), [wants(RetractComment(comment_id=new_id()), SORA)])
    assert (answered(kept), kept.events) == (["unsettled"], [])
    assert not kept.state.moderation.deleted


async def test_asked_again_of_a_new_owner_what_was_done_is_no_error(strict: Store) -> None:
    live_room = await hall(strict)
    one, two = new_id(), new_id()
    back, vote = wants(RetractComment(comment_id=one), SORA), wants(Upvote(comment_id=two), SORA)
    await carry_out(live_room, await live_room.acquire(HALL), [asks("1", id=one), asks("2", id=two), back, vote])
    again = [replace(back, is_retry=True), replace(vote, is_retry=True)]
    kept = await carry_out(live_room, await live_room.acquire(HALL), again, START + 1)
    assert answered(kept, missing="done") == ["done", "done"]


async def test_a_room_learns_that_an_account_is_gone(alone: RoomProcess) -> None:
    said = new_id()
    await do(alone, PostComment(content="hello", nickname="Hanako", id=said))
    await do(alone, MarkComment(comment_id=said, mark="PINNED"), MIDORI)
    await do(alone, BlockSender(comment_id=said), MIDORI)
    await removal(app_context(alone.store, alone.clock, alone.rooms))(SORA.account_id)
    assert "Hanako" not in str(await shown(alone, somebody(1)))
    await do(alone, BlockSender(comment_id=said, on=False), MIDORI)
    with pytest.raises(NotFound):
        await do(alone, BlockSender(comment_id=said), MIDORI)
    assert not [it async for it in alone.store.scan(moderation) if isinstance(it, Block)]


async def test_whoever_still_has_an_account_is_not_forgotten(alone: RoomProcess) -> None:
    await do(alone, PostComment(content="hello", nickname="Hanako"))
    (before, *_) = await shown(alone, somebody(1))
    await do(alone, EraseSender())
    (after, *_) = await shown(alone, somebody(1))
    assert after["snapshot"] == before["snapshot"]


async def test_a_word_as_long_as_an_id_is_a_word(alone: RoomProcess) -> None:
    await do(alone, BlockWord(word="x" * 36), MIDORI)
    rooms = LiveRooms(app_context(alone.store, alone.clock, alone.rooms))
    assert [it.subject for it in (await rooms.host_view(MIDORI, HALL)).log] == ["x" * 36]


@pytest.mark.parametrize("word", ["ß" * 30, "\ufdfa" * 4, "㌀" * 20, "ŉ" * 26])
async def test_a_word_that_grows_when_it_is_written_out_is_refused(alone: RoomProcess, word: str) -> None:
    with pytest.raises(InvalidRequest):
        await do(alone, BlockWord(word=word), MIDORI)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("bad", "b\u200bad"),
        ("bad", "b\u00adad"),
        ("bad", "b\ufe0fad"),
        ("bad", "b\u200dad"),
        ("bad", "ba\u0336d"),
        ("istanbul", "İSTANBUL"),
        ("istanbul", "ıstanbul"),
        ("ガ", "ｶﾞ"),
        ("가", "\u1100\u1161"),
    ],
)
async def test_a_word_is_not_got_around_by_what_nobody_sees(alone: RoomProcess, word: str, said: str) -> None:
    await do(alone, BlockWord(word=word), MIDORI)
    with pytest.raises(Forbidden):
        await do(alone, PostComment(content=said))


async def test_everybodys_snapshot_does_not_grow_for_ever(embedded: Store) -> None:
    live_room = await hall(embedded)
    state = await live_room.acquire(HALL)
    gone = {new_id(): None for _ in range(3000)}
    votes = {new_id(): 1 for _ in range(3000)}
    most_wanted = new_id()
    moderation = replace(state.moderation, deleted=gone, votes={**votes, most_wanted: 9})
    told = (await seen(live_room, replace(state, moderation=moderation))).standing
    assert told.gone == list(gone)[-500:]
    assert (len(told.votes), told.votes[most_wanted]) == (500, 9)


async def test_an_id_that_is_taken_costs_its_sender_and_nobody_else(embedded: Store) -> None:
    live_room = await hall(embedded)
    taken = new_id()
    state = (await carry_out(live_room, await live_room.acquire(HALL), [asks("mine", id=taken)])).state
    codes: list[str] = []
    for _ in range(7):
        kept = await live_room.handle(
            state, [asks("theirs", somebody(1), id=taken), asks("x", somebody(2))], START + 20
        )
        state = kept.state
        codes.append(answered(kept)[0])
    assert codes == ["id_taken"] * 5 + ["too_many_requests"] * 2


async def test_a_clock_that_is_set_back_silences_nobody(embedded: Store) -> None:
    live_room = await hall(embedded)
    state = (await carry_out(live_room, await live_room.acquire(HALL), [asks(str(n)) for n in range(5)])).state
    state = (await carry_out(live_room, state, [asks("at once")], START - 3600)).state
    assert answered(await carry_out(live_room, state, [asks("later")], START - 3595)) == ["later"]


async def test_acts_of_one_moment_are_logged_in_their_order(embedded: Store) -> None:
    live_room = await hall(embedded)
    state = await live_room.acquire(HALL)
    for seconds in range(1, 8):
        state = (await live_room.handle(state, [wants(SetSlowMode(seconds=seconds))], START)).state
    log = (await LiveRooms(app_context(embedded, ProcessClock(START))).host_view(MIDORI, HALL)).log
    assert [it.subject for it in reversed(log)] == [str(seconds) for seconds in range(1, 8)]


async def test_a_pinned_comment_that_was_hidden_comes_back_where_it_was(embedded: Store) -> None:
    live_room = await hall(embedded)
    one, two = new_id(), new_id()
    state = (await carry_out(live_room, await live_room.acquire(HALL), [asks("a", id=one), asks("b", id=two)])).state
    pins = [wants(MarkComment(comment_id=it, mark="PINNED")) for it in (one, two)]
    hiding = [wants(MarkComment(comment_id=one, mark="HIDDEN", on=on)) for on in (True, False)]
    kept = await carry_out(live_room, state, [*pins, *hiding])
    order: list[str] = []
    for event in map(msgspec.json.decode, (it.body for it in kept.events)):
        if event["k"] == "pinned":
            order = [event["comment"]["content"], *(it for it in order if it != event["comment"]["content"])]
    assert order == [it.content for it in (await seen(live_room, kept.state)).standing.pinned] == ["b", "a"]


async def test_whoever_lags_behind_learns_that_the_room_was_closed(alone: RoomProcess) -> None:
    await do(alone, PostComment(content="x"))
    connection = RecordingConnection()
    socket = alone.hub.open(connection, somebody(1), "192.0.2.1")
    await alone.rooms.join(socket, Join(id=1, to=TOPIC))
    alone.hub._slow_readers.mute(socket, socket.subscriptions[TOPIC])
    await alone.rooms.execute(TOPIC, MIDORI, close().body)
    async with asyncio.timeout(5):
        while not any(it.get("error", {}).get("code") == "room_closed" for it in connection.messages):
            alone.hub._flush_queue.flush()
            await asyncio.sleep(0)


async def test_what_was_said_stays_whatever_else_fails(embedded: Store) -> None:
    live_room = await hall(embedded)
    kept = await carry_out(
        live_room, await live_room.acquire(HALL), [asks("kept"), wants(RetractComment(comment_id=new_id()))]
    )
    assert isinstance(kept.replies[1], RequestError)
    assert [it.content for it in await stored(embedded)] == ["kept"]
