"""A restricted handle refuses every call that its function has no right to, and the store is unchanged."""

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.support.designs import live
from tests.support.designs.live import Comment, Connection, Room
from tests.support.stores import METERED_STORES, temporary_store
from zataku.table import (
    READ,
    DesignError,
    Grant,
    NotGranted,
    PermissionMatrix,
    Plan,
    Store,
    StoreClosed,
    check,
    path,
    put,
)
from zataku.table.backend.port import Backend
from zataku.table.store.restricted_backend import RestrictedBackend

ROOM = Room(room_id="room-1", host_id="host-1")
COMMENT = Comment(room_id="room-1", comment_id="comment-1", seq=1)
SOCKET = Connection(connection_id="socket-1", room_id="room-1")
status = path(Room, lambda room: room.status)
name = path(Room, lambda room: room.name)
content = path(Comment, lambda comment: comment.content)


@pytest.fixture(params=METERED_STORES)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    async with temporary_store(request.param, tmp_path, live.TABLES) as opened:
        await opened.write_many(put=[ROOM, COMMENT, SOCKET])
        yield opened


async def all_items(store: Store) -> list[object]:
    rows = [entity for table in live.TABLES async for entity in store.scan(table)]
    return sorted(rows, key=repr)


async def assert_not_granted(store: Store, call: Callable[[], Awaitable[object]]) -> NotGranted:
    """The error of a call that is refused and changes nothing."""
    before = await all_items(store)
    with pytest.raises(NotGranted) as refused:
        await call()
    assert await all_items(store) == before
    return refused.value


async def test_a_function_can_make_every_call_it_has_a_right_to(store: Store) -> None:
    poster = store.restricted(live.matrix["PostCommentFunction"])
    second = Comment(room_id="room-1", comment_id="comment-2", seq=2)
    async with poster.transact() as tx:
        tx.check(Room.key(room_id="room-1"), status.equals("OPEN"))
        tx.put(second, if_absent=True)
    assert [connection.connection_id async for connection in poster.each(live.connections_in("room-1"))] == ["socket-1"]
    await poster.delete(Connection.key(connection_id="socket-1"))
    assert await store.get(Comment.key(room_id="room-1", comment_id="comment-2")) == second
    assert await store.get(Connection.key(connection_id="socket-1")) is None


async def test_a_plan_needs_the_rights_of_all_its_steps(store: Store) -> None:
    second = Comment(room_id="room-1", comment_id="comment-2", seq=2)
    plan = Plan(put(second, if_absent=True), check(Room.key(room_id="room-1"), status.equals("OPEN")))
    await assert_not_granted(store, lambda: store.restricted(live.matrix["GetRoomCommentsFunction"]).write(plan))
    await assert_not_granted(store, lambda: store.restricted(live.matrix["JoinRoomFunction"]).write(Plan(put(second))))
    assert await store.restricted(live.matrix["PostCommentFunction"]).write(plan) == second


async def test_an_index_scan_needs_the_right_to_scan(store: Store) -> None:
    async def scan_rooms(function: str) -> list[str]:
        handle = store.restricted(live.matrix[function])
        return [room.room_id async for room in handle.scan_index(live.by_host, Room)]

    assert await scan_rooms("GetUserRoomsFunction") == ["room-1"]
    await assert_not_granted(store, lambda: scan_rooms("PostCommentFunction"))


async def test_the_error_names_function_action_and_table(store: Store) -> None:
    poster = store.restricted(live.matrix["PostCommentFunction"])
    problem = await assert_not_granted(store, lambda: poster.put(ROOM))
    table = store.schema(live.rooms).name
    assert problem.message.startswith(f"PostCommentFunction has no right to PutItem on {table}.")
    assert problem.details == {"function": "PostCommentFunction", "action": "PutItem", "table": table, "index": None}


@pytest.mark.parametrize(
    ("function", "action", "call"),
    [
        ("PostCommentFunction", "GetItem", lambda store: store.get(Room.key(room_id="room-1"))),
        ("PostCommentFunction", "BatchGetItem", lambda store: store.get_many([Room.key(room_id="room-1")])),
        ("PostCommentFunction", "GetItem", lambda store: store.snapshot(Room.key(room_id="room-1"))),
        ("PostCommentFunction", "Query", lambda store: store.page(live.rooms_of("host-1"))),
        ("PostCommentFunction", "Query", lambda store: store.count(live.rooms_of("host-1"))),
        ("PostCommentFunction", "Query", lambda store: store.first(live.rooms_of("host-1"))),
        ("PostCommentFunction", "PutItem", lambda store: store.put(SOCKET, if_absent=True)),
        ("PostCommentFunction", "UpdateItem", lambda store: store.update(Room.key(room_id="room-1"), name.set("x"))),
        ("PostCommentFunction", "DeleteItem", lambda store: store.delete(Room.key(room_id="room-1"))),
        ("PostCommentFunction", "BatchWriteItem", lambda store: store.write_many(put=[SOCKET])),
        ("GetRoomCommentsFunction", "PutItem", lambda store: store.put(COMMENT)),
        ("GetRoomCommentsFunction", "DeleteItem", lambda store: store.delete(Comment.key(room_id="r", comment_id="c"))),
        ("GetRoomCommentsFunction", "BatchWriteItem", lambda store: store.write_many(put=[COMMENT])),
        ("CountCommentsFunction", "Query", lambda store: store.page(live.comments_of("room-1"))),
        ("GetRoomCommentsFunction", "DescribeStream", lambda store: store.stream(live.comments, "reader").read()),
        ("CreateRoomFunction", "sweep", lambda store: store.sweep()),
        ("CreateRoomFunction", "CreateBackup", lambda store: store.backup("copy")),
        ("CreateRoomFunction", "RestoreTableFromBackup", lambda store: store.restore("copy")),
        ("CreateRoomFunction", "DescribeTable", lambda store: store.index_states()),
    ],
)
async def test_a_call_without_a_grant_is_refused(
    store: Store, function: str, action: str, call: Callable[[Store], Awaitable[object]]
) -> None:
    problem = await assert_not_granted(store, lambda: call(store.restricted(live.matrix[function])))
    assert problem.details["action"] == action


async def test_a_transaction_is_refused_when_one_of_its_writes_is_not_granted(store: Store) -> None:
    poster = store.restricted(live.matrix["PostCommentFunction"])

    async def post_and_close() -> None:
        async with poster.transact() as tx:
            tx.put(Comment(room_id="room-1", comment_id="comment-2"))
            tx.update(Room.key(room_id="room-1"), status.set("CLOSED"))

    assert (await assert_not_granted(store, post_and_close)).details["action"] == "UpdateItem"


async def test_a_batch_is_refused_when_one_of_its_tables_is_not_granted(store: Store) -> None:
    disconnector = store.restricted(live.matrix["DisconnectFunction"])
    other = Connection(connection_id="socket-2")
    problem = await assert_not_granted(store, lambda: disconnector.write_many(put=[other, COMMENT]))
    assert problem.details["table"] == store.schema(live.comments).name


async def test_an_index_needs_its_own_grant(store: Store) -> None:
    matrix = PermissionMatrix(
        {"Narrow": [Grant(live.comments, READ, ())], "Wide": [Grant(live.comments, READ, (live.by_seq,))]}
    )
    narrow, wide = store.restricted(matrix["Narrow"]), store.restricted(matrix["Wide"])
    assert [comment async for comment in narrow.each(live.comments_of("room-1"))] == [COMMENT]
    problem = await assert_not_granted(store, lambda: narrow.page(live.comments_after("room-1", 0)))
    assert problem.details["index"] == "seq-index"
    assert (await wide.page(live.comments_after("room-1", 0))).items == [COMMENT]


async def test_a_function_with_the_stream_right_can_read_the_stream(store: Store) -> None:
    counter = store.restricted(live.matrix["CountCommentsFunction"])
    stream = counter.stream(live.comments, "counter")
    (change,) = await stream.read()
    assert change.new == COMMENT
    await stream.acknowledge(change)
    assert await stream.read() == []
    await stream.forget()


async def test_a_handle_of_a_handle_has_only_the_rights_common_to_both(store: Store) -> None:
    joined = store.restricted(live.matrix["JoinRoomFunction"]).restricted(live.matrix["CloseRoomFunction"])
    assert await joined.get(Room.key(room_id="room-1")) == ROOM
    problem = await assert_not_granted(store, lambda: joined.put(ROOM))
    assert problem.details["function"] == "JoinRoomFunction"


async def test_closing_a_handle_leaves_the_store_open(store: Store) -> None:
    reader = store.restricted(live.matrix["GetUserRoomsFunction"])
    async with reader:
        assert await reader.get(Room.key(room_id="room-1")) == ROOM
    with pytest.raises(StoreClosed, match="The handle of GetUserRoomsFunction is closed"):
        await reader.get(Room.key(room_id="room-1"))
    assert await store.get(Room.key(room_id="room-1")) == ROOM


async def test_units_of_a_handle_are_summed_by_its_store(store: Store) -> None:
    reader = store.restricted(live.matrix["GetUserRoomsFunction"])
    await store.flush_usage()
    await reader.page(live.rooms_of("host-1"))
    await reader.flush_usage()
    await reader.close()
    pattern = "LiveComment-Rooms-{env}.rooms_of"
    assert pattern not in {usage.pattern for usage in await store.backend.usage()}
    await store.flush_usage()
    (saved,) = [usage for usage in await store.backend.usage() if usage.pattern == pattern]
    assert (saved.calls, saved.reads) == (1, 0.5)


async def test_cursors_pass_between_a_store_and_its_handles(store: Store) -> None:
    await store.put(Comment(room_id="room-1", comment_id="comment-2"))
    reader = store.restricted(live.matrix["GetRoomCommentsFunction"])
    first = await store.page(live.comments_of("room-1"), limit=1)
    second = await reader.page(live.comments_of("room-1"), limit=1, after=first.cursor)
    assert [comment.comment_id for comment in (*first.items, *second.items)] == ["comment-1", "comment-2"]


async def test_a_grant_on_a_table_that_is_not_open_is_refused(tmp_path: Path) -> None:
    async with temporary_store("embedded", tmp_path, (live.rooms,)) as store:
        with pytest.raises(DesignError, match="LiveComment-Connections-{env} was not opened with this store"):
            store.restricted(live.matrix["JoinRoomFunction"])


def test_every_call_of_a_backend_is_restricted() -> None:
    calls = {name for name in vars(Backend) if not name.startswith("_")}
    assert calls <= vars(RestrictedBackend).keys()


MANAGEMENT = {
    "start": ([],),
    "sizes": (),
    "facts": (),
    "usage": (),
    "add_usage": ([],),
    "secret": (),
    "index_states": (),
    "backup": ("copy",),
    "restore": ("copy",),
}


@pytest.mark.parametrize("call", MANAGEMENT)
async def test_calls_that_manage_the_whole_store_are_refused(store: Store, call: str) -> None:
    backend = store.restricted(live.matrix["CreateRoomFunction"]).backend
    method = getattr(backend, call)
    assert inspect.iscoroutinefunction(method)
    problem = await assert_not_granted(store, lambda: method(*MANAGEMENT[call]))
    assert problem.code == "not_granted"
