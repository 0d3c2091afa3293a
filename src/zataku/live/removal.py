"""What an account owns in live rooms, taken away: its rooms with all that was said in them, and its name elsewhere.

What the account said in other people's rooms stays there, anonymously. The design finds comments by their room alone
and has no index by sender: they, and the traces of the account in what hosts keep, are found by reading through both
tables, for half a read unit each 4 KB. Upvotes stay counted and become nobody's.
"""

from collections.abc import AsyncIterator
from random import Random
from typing import Any

from msgspec.structs import replace

from zataku.errors import Conflict, NotFound
from zataku.live.design import (
    Comment,
    Connection,
    Room,
    comments,
    comments_of,
    connections_in,
    moderation,
    newest_rooms_of,
)
from zataku.live.limits import ANONYMOUS, HostId, RoomId, SenderId
from zataku.live.messages import CloseRoom, EraseSender
from zataku.live.moderation.design import (
    Block,
    LogEntry,
    Mark,
    Reactions,
    Upvote,
    Upvotes,
    marks_of,
    moderation_of,
    reactions_in,
    upvoters_of,
)
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.system import AppContext, Remove
from zataku.table import ConditionFailed, Key, Plan, Store, TransactionCancelled, delete, path, put

_sender = path(Comment, lambda comment: comment.sender_id)
_nickname = path(Comment, lambda comment: comment.nickname)
_upvoted_at = path(Upvote, lambda upvote: upvote.at)

_BATCH = 100


def removal(context: AppContext) -> Remove:
    """Takes away what an account owns in live rooms. A room goes after everything in it, so that it is found again."""

    async def remove(account_id: AccountId) -> None:
        async for room in context.store.each(newest_rooms_of(HostId(account_id))):
            await _close(context, account_id, room)
            await _clear(context.store, room.room_id)
        said_in = await _take_out_of_comments(context.store, SenderId(account_id))
        await _take_out_of_moderation(context.store, SenderId(account_id), context.random)
        await _tell(context, account_id, said_in)

    return remove


# Rooms of one's own


async def _close(context: AppContext, account_id: AccountId, room: Room) -> None:
    """Have the room closed by whoever runs it, which tells the people in it."""
    if room.status == "CLOSED":
        return
    host = Identity(account_id=account_id, role="user", language="en")
    try:
        await context.rooms.execute(f"live/{room.room_id}", host, CloseRoom())
    except (Conflict, NotFound):
        # It was closed or taken away before.
        pass


async def _clear(store: Store, room_id: RoomId) -> None:
    questions: set[Any] = set()
    async for entry in store.each(moderation_of(room_id)):
        if isinstance(entry, Upvotes) or (isinstance(entry, Mark) and entry.mark == "DELETED"):
            questions.add(entry.comment_id)
    for comment_id in questions:
        votes = store.each(upvoters_of(room_id, comment_id))
        await _delete(store, (_upvote_key(vote) async for vote in votes))
    minutes = store.each(reactions_in(room_id))
    await _delete(store, (Reactions.key(room_id=room_id, minute=it.minute) async for it in minutes))
    await _delete(
        store,
        (Comment.key(room_id=room_id, comment_id=it.comment_id) async for it in store.each(comments_of(room_id))),
    )
    # After the comments, since whoever takes one back until then leaves a mark; marks are read as they are right now.
    await _delete(store, (_entry_key(mark) async for mark in store.each(marks_of(room_id))))
    await _delete(store, (_entry_key(entry) async for entry in store.each(moderation_of(room_id))))
    await _delete(
        store,
        (Connection.key(connection_id=it.connection_id) async for it in store.each(connections_in(room_id))),
    )
    await store.delete(Room.key(room_id=room_id))


def _entry_key(entry: Block | Upvotes | LogEntry | Mark) -> Key[Any]:
    match entry:
        case Block():
            return Block.key(room_id=entry.room_id, what=entry.what, value=entry.value)
        case Upvotes():
            return Upvotes.key(room_id=entry.room_id, comment_id=entry.comment_id)
        case LogEntry():
            return LogEntry.key(room_id=entry.room_id, at=entry.at, log_id=entry.log_id)
        case Mark():
            return Mark.key(room_id=entry.room_id, mark=entry.mark, comment_id=entry.comment_id)


def _upvote_key(vote: Upvote) -> Key[Upvote]:
    return Upvote.key(room_id=vote.room_id, comment_id=vote.comment_id, sender_id=vote.sender_id)


async def _delete(store: Store, keys: AsyncIterator[Key[Any]]) -> None:
    batch: list[Key[Any]] = []
    async for key in keys:
        batch.append(key)
        if len(batch) == _BATCH:
            await store.write_many(delete=batch)
            batch = []
    if batch:
        await store.write_many(delete=batch)


# Rooms of others


async def _tell(context: AppContext, account_id: AccountId, said_in: set[RoomId]) -> None:
    """Let rooms that run look again at what the account said in them."""
    nobody = Identity(account_id=account_id, role="user", language="en")
    running = context.rooms.running("live")
    for topic in (f"live/{room_id}" for room_id in said_in):
        if topic in running:
            try:
                await context.rooms.execute(topic, nobody, EraseSender())
            except (Conflict, NotFound):
                # It was closed meanwhile: whoever takes a room reads it from the table.
                continue


async def _take_out_of_comments(store: Store, sender: SenderId) -> set[RoomId]:
    """Take somebody off what they said; gives the rooms that it was said in."""
    said_in: set[RoomId] = set()
    async for found in store.scan(comments):
        if isinstance(found, Comment) and found.sender_id == sender:
            key = Comment.key(room_id=found.room_id, comment_id=found.comment_id)
            said_in.add(found.room_id)
            try:
                await store.update(key, _sender.remove(), _nickname.set(ANONYMOUS), when=_sender.equals(sender))
            except ConditionFailed:
                # It was taken back or deleted meanwhile.
                continue
    return said_in


async def _take_out_of_moderation(store: Store, sender: SenderId, random: Random) -> None:
    async for found in store.scan(moderation):
        match found:
            case Upvote(sender_id=whose) if whose == sender:
                await _nobodys(store, found, random)
            case Block(what="SENDER", value=whose) if whose == sender:
                await store.delete(_entry_key(found))
            case _:
                continue


async def _nobodys(store: Store, vote: Upvote, random: Random) -> None:
    """The same upvote under an id that is nobody's: the count goes on being true."""
    nobody = replace(vote, sender_id=SenderId(f"gone:{random.getrandbits(96):024x}"))
    try:
        await store.write(
            Plan(put(nobody, if_absent=True), delete(_upvote_key(vote), when=_upvoted_at.exists())),
            token=f"{random.getrandbits(128):032x}",
        )
    except TransactionCancelled as refused:
        # Its room was taken away meanwhile.
        if refused.conflict:
            raise
