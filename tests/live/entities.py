"""Sample entities of live rooms, and the writes that prepare a room for a test."""

from functools import partial
from random import Random
from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from tests.support.stores import START
from zataku.clock import instant_ms
from zataku.live.design import Comment, Room, room_now, seq_of
from zataku.live.limits import CommentId, ConnectionId, HostId, LogId, ProcessName, RoomId, SenderId
from zataku.live.moderation.design import Mark
from zataku.live.moderation.writes import HostAction
from zataku.live.samples import HOST
from zataku.live.writes import create_room, take_room
from zataku.table import ConditionFailed, Plan, Query, ResultUnknown, Store, TransactionCancelled
from zataku.table.backend.port import PutItem
from zataku.table.schema.entity import binding_of


def uuid(number: int) -> str:
    """The UUIDv4 of a number."""
    return str(UUID(int=number, version=4))


ROOM_ID, OTHER_ROOM_ID = RoomId(uuid(1)), RoomId(uuid(2))
MIDORI, HARU = HostId("user:midori"), HostId("user:haru")
SORA, YUNA = SenderId("guest:sora"), SenderId("guest:yuna")
WEB = ProcessName("web-1")
NOW = instant_ms(START)


def room(room_id: RoomId = ROOM_ID, host_id: HostId = MIDORI, **changes: object) -> Room:
    """An open room."""
    defaults = {"name": "発表会", "status": "OPEN", "created_at": NOW, "updated_at": NOW, "code": "482159"}
    return Room(room_id=room_id, host_id=host_id, **{**defaults, **changes})


def comment(
    number: int,
    content: str = "なるほど",
    room_id: RoomId = ROOM_ID,
    sender: SenderId = SORA,
    salt: int = 0,
    epoch: int = 1,
) -> Comment:
    """The comment with this number in an epoch; a salt gives it another id."""
    return Comment(
        room_id=room_id,
        comment_id=CommentId(uuid(1000 + number + 1_000_000 * salt)),
        content=content,
        created_at=instant_ms(START + number / 1000),
        seq=seq_of(epoch, number),
        sender_id=sender,
    )


async def store_unreadable(store: Store, unreadable: Comment | Room) -> None:
    """Store a comment or room as another program might: without text or name."""
    damage = {"content": ""} if isinstance(unreadable, Comment) else {"name": ""}
    item = binding_of(type(unreadable)).encode(unreadable) | damage
    request = PutItem(store.schema_of(type(unreadable)), item)
    await store.calls("unreadable", partial(store.backend.write, request), repeatable=True)


def comment_at(number: int, seconds: float, **fields: object) -> Comment:
    """The comment with this number, posted so many seconds after the start."""
    return replace(comment(number), created_at=instant_ms(START + seconds), **fields)


def hidden_mark(hidden: Comment) -> Mark:
    """The mark of a hidden comment."""
    return Mark(room_id=ROOM_ID, mark="HIDDEN", comment_id=hidden.comment_id, at=NOW)


def talk_room(random: Random, start: float) -> Room:
    """The closed room of a sample talk, which had two owners."""
    return Room(
        room_id=RoomId(str(UUID(int=random.getrandbits(128), version=4))),
        name="一枚のテーブルで作るゲームサーバー",
        host_id=HOST,
        status="CLOSED",
        created_at=instant_ms(start - 600),
        updated_at=instant_ms(start + 3_900),
        epoch=2,
        slow_mode_seconds=5,
    )


def largest_comment(number: int = 1) -> Comment:
    """The largest possible comment: 500 characters of four bytes each, from a sender with the longest id."""
    return replace(comment(number, "𠮷" * 500, sender=SenderId("s" * 128)), nickname="𩸽" * 30)


def host_action(number: int = 1, host_id: HostId = MIDORI, room_id: RoomId = ROOM_ID) -> HostAction:
    """An action of the host. A larger number is a later time."""
    return HostAction(
        room_id=room_id, host_id=host_id, at=instant_ms(START + number), log_id=LogId(uuid(9000 + number))
    )


def socket(number: int) -> ConnectionId:
    """The id of a connection, in the form of API Gateway."""
    return ConnectionId(f"L0SM9cOFvHcCI{number:04d}=")


async def open_room(store: Store, new_room: Room | None = None) -> int:
    """Create a room and acquire it. Returns the epoch."""
    new_room = new_room or room()
    while await store.get(room_now(new_room.room_id)) is None:
        try:
            await store.write(create_room(new_room))
        except ResultUnknown:
            continue
    return await acquire_epoch(store, new_room.room_id)


async def acquire_epoch(store: Store, room_id: RoomId = ROOM_ID) -> int:
    """Acquire a room. Returns the epoch."""
    epoch = (await acquire_room(store, room_id)).epoch
    assert epoch is not None
    return epoch


async def acquire_room(store: Store, room_id: RoomId = ROOM_ID) -> Room:
    """Acquire a room, again while the reply is lost. Returns the room as its new owner gets it."""
    while True:
        try:
            acquired = await store.write(take_room(room_id))
        except ResultUnknown:
            continue
        assert acquired is not None
        return acquired


async def read_all(store: Store, query: Query[Any]) -> list[Any]:
    """All items of a query."""
    return [item async for item in store.each(query)]


async def assert_refused(store: Store, plan: Plan[Any]) -> None:
    """Assert that the store refuses a write because of a condition."""
    with pytest.raises((ConditionFailed, TransactionCancelled)):
        await store.write(plan)
