"""People and rooms that the tests speak of."""

from typing import Any
from uuid import UUID

import pytest

from tests.support.stores import START
from zataku.clock import instant_ms
from zataku.live.design import Comment, Room, room_now, seq_of
from zataku.live.limits import CommentId, ConnectionId, HostId, LogId, ProcessName, RoomId, SenderId
from zataku.live.moderation.writes import HostAction
from zataku.live.writes import create_room, take_room
from zataku.table import ConditionFailed, Plan, Query, ResultUnknown, Store, TransactionCancelled


def uuid(number: int) -> str:
    """The UUIDv4 of that number."""
    return str(UUID(int=number, version=4))


HALL, ATTIC = RoomId(uuid(1)), RoomId(uuid(2))
MIDORI, HARU = HostId("user:midori"), HostId("user:haru")
SORA, YUNA = SenderId("guest:sora"), SenderId("guest:yuna")
WEB = ProcessName("web-1")
NOW = instant_ms(START)


def room(room_id: RoomId = HALL, host_id: HostId = MIDORI, **changed: object) -> Room:
    """A room that is open."""
    usual = {"name": "発表会", "status": "OPEN", "created_at": NOW, "updated_at": NOW, "code": "482159"}
    return Room(room_id=room_id, host_id=host_id, **{**usual, **changed})


def said(
    number: int,
    content: str = "なるほど",
    room_id: RoomId = HALL,
    sender: SenderId = SORA,
    salt: int = 0,
    epoch: int = 1,
) -> Comment:
    """The comment of that number of an owner; a salt gives it another id."""
    return Comment(
        room_id=room_id,
        comment_id=CommentId(uuid(1000 + number + 1_000_000 * salt)),
        content=content,
        created_at=instant_ms(START + number / 1000),
        seq=seq_of(epoch, number),
        sender_id=sender,
    )


def act(number: int = 1, host_id: HostId = MIDORI, room_id: RoomId = HALL) -> HostAction:
    """Something that a host does, the later the larger its number."""
    return HostAction(
        room_id=room_id, host_id=host_id, at=instant_ms(START + number), log_id=LogId(uuid(9000 + number))
    )


def socket(number: int) -> ConnectionId:
    """The socket of that number, as API Gateway names them."""
    return ConnectionId(f"L0SM9cOFvHcCI{number:04d}=")


async def opened_room(store: Store, made: Room | None = None) -> int:
    """Open a room and own it; gives the epoch."""
    made = made or room()
    while await store.get(room_now(made.room_id)) is None:
        try:
            await store.write(create_room(made))
        except ResultUnknown:
            continue
    return await owned(store, made.room_id)


async def owned(store: Store, room_id: RoomId = HALL) -> int:
    """Take a room; gives the epoch."""
    epoch = (await taken(store, room_id)).epoch
    assert epoch is not None
    return epoch


async def taken(store: Store, room_id: RoomId = HALL) -> Room:
    """Take a room until the answer arrives; gives the room as its new owner gets it."""
    while True:
        try:
            found = await store.write(take_room(room_id))
        except ResultUnknown:
            continue
        assert found is not None
        return found


async def all_of(store: Store, query: Query[Any]) -> list[Any]:
    """Everything that a query finds."""
    return [found async for found in store.each(query)]


async def refused(store: Store, plan: Plan[Any]) -> None:
    """The store does not carry out the plan, for one of its conditions."""
    with pytest.raises((ConditionFailed, TransactionCancelled)):
        await store.write(plan)
