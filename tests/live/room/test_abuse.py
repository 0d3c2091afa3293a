"""A running room under abuse, with a failing table, and after the removal of accounts."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from tests.live.room.room_commands import (
    MIDORI,
    ROOM_ID,
    SORA,
    FailingStore,
    close,
    command_of,
    execute_all,
    guest,
    open_live_room,
    post_comment,
    reply_summaries,
    snapshot_of,
    stored_comments,
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
    DeleteComment,
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
from zataku.live.server_commands import EraseSender, RoomCommand
from zataku.live.service import LiveRooms
from zataku.platform.design import TABLES as PLATFORM
from zataku.platform.identity import Identity
from zataku.realtime.bus.in_process import InProcessBus
from zataku.realtime.messages import Join, Position
from zataku.table import ResultUnknown, Store, StoreFull, Throttled

TOPIC = f"live/{ROOM_ID}"


def new_id() -> CommentId:
    return CommentId(str(uuid4()))


@pytest.fixture
async def process(tmp_path: Path) -> AsyncIterator[RoomProcess]:
    """A process that runs the room."""
    clock = ProcessClock(START)
    async with temporary_store("embedded", tmp_path, (*TABLES, *PLATFORM), clock) as store:
        await open_live_room(store)
        async with run_process("web-0", InProcessBus(), store, clock) as process:
            process.rooms.register(LiveRoom(store))
            yield process


async def execute(process: RoomProcess, command: RoomCommand, sender: Identity = SORA) -> object:
    return await process.rooms.execute(TOPIC, sender, command)


async def join_messages(
    process: RoomProcess, identity: Identity, position: Position | None = None
) -> list[dict[str, Any]]:
    """The messages to a client that joins, from a position or as a new one."""
    connection = RecordingConnection()
    socket = process.hub.open(connection, identity, "192.0.2.1")
    await process.rooms.join(socket, Join(id=1, to=TOPIC, at=position))
    process.hub._flush_queue.flush()
    process.rooms.leave(socket, TOPIC)
    return connection.messages


async def test_a_binary_message_is_refused_and_no_fault_of_the_room(process: RoomProcess) -> None:
    socket = process.hub.open(RecordingConnection(), SORA, "192.0.2.1")
    await process.rooms.join(socket, Join(id=1, to=TOPIC))
    with capture_logs() as logged, pytest.raises(InvalidRequest):
        process.rooms.handle_transient(socket, TOPIC, b"\x00", binary=True)
    assert logged == []


async def test_resuming_from_an_earlier_position_shows_no_hidden_comment(process: RoomProcess) -> None:
    await execute(process, PostComment(content="before"))
    await join_messages(process, MIDORI)
    for secret, action in ((new_id(), "hide"), (new_id(), "delete")):
        await execute(process, PostComment(content=f"SECRET {action}", id=secret))
        command = (
            MarkComment(comment_id=secret, mark="HIDDEN") if action == "hide" else DeleteComment(comment_id=secret)
        )
        await execute(process, command, MIDORI)
    (joined, *_) = await join_messages(process, guest(1))
    at = joined["at"]
    for back in range(8):
        messages = await join_messages(process, guest(2 + back), Position(at["epoch"], at["seq"] - back))
        assert "SECRET" not in str(messages)


async def test_comments_do_not_wait_for_upvotes_and_retractions(embedded: Store) -> None:
    live_room = await open_live_room(embedded)
    commands = [command_of(RetractComment(comment_id=new_id()), guest(n)) for n in range(40)]
    commands += [command_of(Upvote(comment_id=new_id()), guest(n)) for n in range(40)]
    outcome = await live_room.handle(await live_room.acquire(ROOM_ID), [*commands, post_comment("innocent")], START)
    assert outcome.replies[-1].content == "innocent"


async def test_a_flood_of_upvotes_of_one_sender_is_refused(embedded: Store) -> None:
    live_room = await open_live_room(embedded)
    upvotes = [command_of(Upvote(comment_id=new_id()), SORA) for _ in range(15)]
    outcome = await execute_all(live_room, await live_room.acquire(ROOM_ID), upvotes)
    assert reply_summaries(outcome) == ["no_such_comment"] * 10 + ["too_many_requests"] * 5


@pytest.mark.parametrize(
    ("problem", "code"), [(Throttled, "unavailable"), (StoreFull, "store_full"), (ResultUnknown, "unsettled")]
)
async def test_a_failed_write_fails_its_own_commands_only(embedded: Store, problem: type[Exception], code: str) -> None:
    live_room = await open_live_room(embedded)
    question = new_id()
    state = (
        await execute_all(live_room, await live_room.acquire(ROOM_ID), [post_comment("question", id=question)])
    ).state
    upvote_function = live_room._upvote
    healthy, upvote_function._store = upvote_function._store, FailingStore(upvote_function._store, problem)
    batch = [
        command_of(Upvote(comment_id=question), guest(1)),
        post_comment("one", guest(2)),
        command_of(PauseRoom()),
        post_comment("two"),
    ]
    outcome = await execute_all(live_room, state, batch)
    assert reply_summaries(outcome, missing="done") == [code, "one", "done", "paused"]
    upvote_function._store = healthy
    outcome = await execute_all(live_room, outcome.state, [command_of(Upvote(comment_id=question), guest(1))])
    assert (await snapshot_of(live_room, outcome.state)).standing.votes == {question: 1}


async def test_upvotes_whose_reply_was_lost_are_loaded_from_the_table(embedded: Store) -> None:
    live_room = await open_live_room(embedded)
    question = new_id()
    state = (
        await execute_all(live_room, await live_room.acquire(ROOM_ID), [post_comment("question", id=question)])
    ).state
    upvote_function = live_room._upvote
    healthy, upvote_function._store = (
        upvote_function._store,
        FailingStore(upvote_function._store, ResultUnknown, is_stored=True),
    )
    outcome = await execute_all(live_room, state, [command_of(Upvote(comment_id=question), guest(1))])
    upvote_function._store = healthy
    assert reply_summaries(outcome) == ["unsettled"]
    outcome = await execute_all(
        live_room, outcome.state, [command_of(Upvote(comment_id=question), guest(n)) for n in (1, 2)]
    )
    assert reply_summaries(outcome, missing="counted") == ["already_upvoted", "counted"]
    assert (await snapshot_of(live_room, outcome.state)).standing.votes == {question: 2}


async def test_a_lost_retraction_of_an_unknown_comment_changes_nothing(embedded: Store) -> None:
    live_room = await open_live_room(embedded)
    remove_function = live_room._remove
    remove_function._store = FailingStore(remove_function._store, ResultUnknown)
    outcome = await execute_all(
        live_room, await live_room.acquire(ROOM_ID), [command_of(RetractComment(comment_id=new_id()), SORA)]
    )
    assert (reply_summaries(outcome), outcome.events) == (["unsettled"], [])
    assert not outcome.state.moderation.deleted


async def test_a_retry_of_a_command_that_an_earlier_owner_stored_succeeds(strict: Store) -> None:
    live_room = await open_live_room(strict)
    one, two = new_id(), new_id()
    retraction, vote = command_of(RetractComment(comment_id=one), SORA), command_of(Upvote(comment_id=two), guest(1))
    await execute_all(
        live_room,
        await live_room.acquire(ROOM_ID),
        [post_comment("1", id=one), post_comment("2", id=two), retraction, vote],
    )
    retries = [replace(retraction, is_retry=True), replace(vote, is_retry=True)]
    outcome = await execute_all(live_room, await live_room.acquire(ROOM_ID), retries, START + 1)
    assert reply_summaries(outcome, missing="done") == ["done", "done"]


async def test_a_running_room_erases_a_removed_account(process: RoomProcess) -> None:
    comment_id = new_id()
    await execute(process, PostComment(content="hello", nickname="Hanako", id=comment_id))
    await execute(process, MarkComment(comment_id=comment_id, mark="PINNED"), MIDORI)
    await execute(process, BlockSender(comment_id=comment_id), MIDORI)
    await removal(app_context(process.store, process.clock, process.rooms))(SORA.account_id)
    assert "Hanako" not in str(await join_messages(process, guest(1)))
    await execute(process, BlockSender(comment_id=comment_id, on=False), MIDORI)
    with pytest.raises(NotFound):
        await execute(process, BlockSender(comment_id=comment_id), MIDORI)
    assert not [it async for it in process.store.scan(moderation) if isinstance(it, Block)]


async def test_the_erasure_of_an_existing_account_changes_nothing(process: RoomProcess) -> None:
    await execute(process, PostComment(content="hello", nickname="Hanako"))
    (before, *_) = await join_messages(process, guest(1))
    await execute(process, EraseSender())
    (after, *_) = await join_messages(process, guest(1))
    assert after["snapshot"] == before["snapshot"]


async def test_a_blocked_word_as_long_as_an_id_is_logged_as_a_word(process: RoomProcess) -> None:
    await execute(process, BlockWord(word="x" * 36), MIDORI)
    rooms = LiveRooms(app_context(process.store, process.clock, process.rooms))
    assert [it.subject for it in (await rooms.host_view(MIDORI, ROOM_ID)).log] == ["x" * 36]


@pytest.mark.parametrize("word", ["ß" * 30, "\ufdfa" * 4, "㌀" * 20, "ŉ" * 26])
async def test_a_blocked_word_that_folding_makes_too_long_is_refused(process: RoomProcess, word: str) -> None:
    with pytest.raises(InvalidRequest):
        await execute(process, BlockWord(word=word), MIDORI)


@pytest.mark.parametrize(
    ("word", "content"),
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
async def test_a_blocked_word_is_found_despite_invisible_characters_and_other_spellings(
    process: RoomProcess, word: str, content: str
) -> None:
    await execute(process, BlockWord(word=word), MIDORI)
    with pytest.raises(Forbidden):
        await execute(process, PostComment(content=content))


async def test_a_snapshot_has_a_bounded_size(embedded: Store) -> None:
    live_room = await open_live_room(embedded)
    state = await live_room.acquire(ROOM_ID)
    deleted = {new_id(): None for _ in range(3000)}
    votes = {new_id(): 1 for _ in range(3000)}
    most_upvoted = new_id()
    moderation = replace(state.moderation, deleted=deleted, votes={**votes, most_upvoted: 9})
    published = (await snapshot_of(live_room, replace(state, moderation=moderation))).standing
    assert published.gone == list(deleted)[-500:]
    assert (len(published.votes), published.votes[most_upvoted]) == (500, 9)


async def test_posting_under_the_id_of_anothers_comment_is_refused_and_rate_limited(embedded: Store) -> None:
    live_room = await open_live_room(embedded)
    comment_id = new_id()
    state = (
        await execute_all(live_room, await live_room.acquire(ROOM_ID), [post_comment("mine", id=comment_id)])
    ).state
    codes: list[str] = []
    for _ in range(7):
        outcome = await live_room.handle(
            state, [post_comment("theirs", guest(1), id=comment_id), post_comment("x", guest(2))], START + 20
        )
        state = outcome.state
        codes.append(reply_summaries(outcome)[0])
    assert codes == ["id_taken"] * 5 + ["too_many_requests"] * 2


async def test_a_clock_that_is_set_back_locks_no_sender_out(embedded: Store) -> None:
    live_room = await open_live_room(embedded)
    state = (
        await execute_all(live_room, await live_room.acquire(ROOM_ID), [post_comment(str(n)) for n in range(5)])
    ).state
    state = (await execute_all(live_room, state, [post_comment("at once")], START - 3600)).state
    assert reply_summaries(await execute_all(live_room, state, [post_comment("later")], START - 3595)) == ["later"]


async def test_actions_at_the_same_time_are_logged_in_order(embedded: Store) -> None:
    live_room = await open_live_room(embedded)
    state = await live_room.acquire(ROOM_ID)
    for seconds in range(1, 8):
        state = (await live_room.handle(state, [command_of(SetSlowMode(seconds=seconds))], START)).state
    log = (await LiveRooms(app_context(embedded, ProcessClock(START))).host_view(MIDORI, ROOM_ID)).log
    assert [it.subject for it in reversed(log)] == [str(seconds) for seconds in range(1, 8)]


async def test_a_hidden_pin_is_shown_again_at_its_old_place(embedded: Store) -> None:
    live_room = await open_live_room(embedded)
    one, two = new_id(), new_id()
    state = (
        await execute_all(
            live_room, await live_room.acquire(ROOM_ID), [post_comment("a", id=one), post_comment("b", id=two)]
        )
    ).state
    pins = [command_of(MarkComment(comment_id=it, mark="PINNED")) for it in (one, two)]
    hiding = [command_of(MarkComment(comment_id=one, mark="HIDDEN", on=on)) for on in (True, False)]
    outcome = await execute_all(live_room, state, [*pins, *hiding])
    order: list[str] = []
    for event in map(msgspec.json.decode, (it.body for it in outcome.events)):
        if event["k"] == "pinned":
            order = [event["comment"]["content"], *(it for it in order if it != event["comment"]["content"])]
    assert order == [it.content for it in (await snapshot_of(live_room, outcome.state)).standing.pinned] == ["b", "a"]


async def test_a_slow_reader_learns_that_the_room_was_closed(process: RoomProcess) -> None:
    await execute(process, PostComment(content="x"))
    connection = RecordingConnection()
    socket = process.hub.open(connection, guest(1), "192.0.2.1")
    await process.rooms.join(socket, Join(id=1, to=TOPIC))
    process.hub._slow_readers.mute(socket, socket.subscriptions[TOPIC])
    await process.rooms.execute(TOPIC, MIDORI, close().body)
    async with asyncio.timeout(5):
        while not any(it.get("error", {}).get("code") == "room_closed" for it in connection.messages):
            process.hub._flush_queue.flush()
            await asyncio.sleep(0)


async def test_comments_are_stored_although_another_command_of_the_batch_fails(embedded: Store) -> None:
    live_room = await open_live_room(embedded)
    outcome = await execute_all(
        live_room,
        await live_room.acquire(ROOM_ID),
        [post_comment("stored"), command_of(RetractComment(comment_id=new_id()))],
    )
    assert isinstance(outcome.replies[1], RequestError)
    assert [it.content for it in await stored_comments(embedded)] == ["stored"]
