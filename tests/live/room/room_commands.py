"""Commands of one live room, their execution without an actor, and summaries of their outcomes."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID, uuid4

import msgspec

from tests.support.stores import START
from zataku.clock import instant_ms
from zataku.errors import RequestError
from zataku.live.design import Comment, Room, comments_after
from zataku.live.limits import SEQ_START, HostId, RoomId
from zataku.live.messages import CloseRoom, PostComment, React, Snapshot
from zataku.live.messages import Command as LiveCommand
from zataku.live.room import LiveRoom
from zataku.live.rules.room_state import RoomState
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.rooms.behaviour import DEFERRED, Command, Event, Outcome, Reply
from zataku.table import Plan, Store

ROOM_ID = RoomId("456e7890-e89b-42d3-a456-426614174001")
MIDORI = Identity(account_id=AccountId("11111111-1111-4111-8111-111111111111"), role="user", language="ja")
SORA = Identity(account_id=AccountId("22222222-2222-4222-8222-222222222222"), role="guest", language="ko")


async def open_live_room(store: Store) -> LiveRoom:
    """The behaviour of a room that Midori has opened."""
    now = instant_ms(START)
    host = HostId(MIDORI.account_id)
    room = Room(room_id=ROOM_ID, name="LT大会", host_id=host, status="OPEN", created_at=now, updated_at=now)
    await store.put(room)
    return LiveRoom(store)


def guest(number: int) -> Identity:
    """A guest of the audience."""
    return Identity(account_id=AccountId(str(UUID(int=number, version=4))), role="guest", language="en")


def post_comment(content: str, sender: Identity = SORA, **fields: str) -> Command:
    return command_of(PostComment(content=content, **fields), sender)


def command_of(command: LiveCommand | React, sender: Identity = MIDORI) -> Command:
    """A command with a new id."""
    return Command(sender=sender, body=command, id=str(uuid4()))


async def execute_all(
    live_room: LiveRoom, state: RoomState, commands: Sequence[Command], now: float = START
) -> Outcome[RoomState]:
    """The outcome of all commands, with deferred ones repeated as the actor does."""
    replies: dict[str, Reply] = {}
    events: list[Event] = []
    deferred, closed = list(commands), None
    while deferred and closed is None:
        outcome = await live_room.handle(state, deferred, now)
        state, closed, now = outcome.state, outcome.closed, now + 0.001
        events += outcome.events
        replies |= {it.id: reply for it, reply in zip(deferred, outcome.replies, strict=True) if reply is not DEFERRED}
        deferred = [it for it, reply in zip(deferred, outcome.replies, strict=True) if reply is DEFERRED]
    return Outcome(state=state, events=events, replies=[replies[it.id] for it in commands], closed=closed)


def close(sender: Identity = MIDORI) -> Command:
    return command_of(CloseRoom(), sender)


def reply_summaries(outcome: Outcome[RoomState], missing: str = "") -> list[str]:
    """The replies in short: the text of a comment, the status of a room, or the code of an error."""
    summaries: list[str] = []
    for reply in outcome.replies:
        if isinstance(reply, RequestError):
            summaries.append(reply.code)
        else:
            body = msgspec.to_builtins(reply)
            summaries.append(body.get("content") or body.get("status") or missing)
    return summaries


def event_summaries(outcome: Outcome[RoomState]) -> list[str]:
    bodies = [msgspec.json.decode(event.body) for event in outcome.events]
    return [body["comment"]["content"] if body["k"] == "commented" else body["k"] for body in bodies]


async def stored_comments(store: Store) -> list[Comment]:
    return [comment async for comment in store.each(comments_after(ROOM_ID, SEQ_START))]


async def snapshot_of(live_room: LiveRoom, state: RoomState, since: str | None = None) -> Snapshot:
    return msgspec.json.decode(await live_room.snapshot(state, SORA, since), type=Snapshot)


class FailingStore:
    """A store whose writes raise an error, before or after they were carried out."""

    def __init__(self, store: Any, error: Callable[[str], Exception], *, is_stored: bool = False) -> None:
        self._store, self._error, self._is_stored = store, error, is_stored

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def write(self, plan: Plan[Any], **options: Any) -> Any:
        if self._is_stored:
            await self._store.write(plan, **options)
        raise self._error("The table is in trouble.")
