"""Removal of an account from live rooms: its rooms are deleted, and its comments in other rooms become anonymous.

Comments, upvotes, numbers and blocks of the account are found by the indexes by sender. Upvotes stay counted and
numbers stay taken, under a random id.
"""

from collections.abc import AsyncIterator
from random import Random
from typing import Any, TypeVar

from msgspec.structs import replace

from zataku.errors import Conflict, NotFound
from zataku.live.design import (
    Comment,
    Connection,
    Room,
    comments_by,
    comments_of,
    connections_in,
    newest_rooms_of,
)
from zataku.live.limits import ANONYMOUS, CommentId, HostId, RoomId, SenderId
from zataku.live.messages import CloseRoom
from zataku.live.moderation.design import (
    AnonymousSender,
    Block,
    HostNames,
    LogEntry,
    Mark,
    Reactions,
    Upvote,
    Upvotes,
    anonymous_senders_in,
    entries_about,
    marks_of,
    moderation_of,
    reactions_in,
    upvoters_of,
)
from zataku.live.server_commands import EraseSender
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.system import AppContext, Remove
from zataku.table import (
    Condition,
    ConditionFailed,
    Key,
    Plan,
    Store,
    TransactionCancelled,
    UnreadableItem,
    WrittenUnreadable,
    delete,
    path,
    put,
)

_sender = path(Comment, lambda comment: comment.sender_id)
_nickname = path(Comment, lambda comment: comment.nickname)
_upvoted_at = path(Upvote, lambda upvote: upvote.at)
_number = path(AnonymousSender, lambda sender: sender.number)

MAX_DELETES_PER_WRITE = 100

EntryOfSender = TypeVar("EntryOfSender", Upvote, AnonymousSender)


def removal(context: AppContext) -> Remove:
    """The removal of an account. A room is deleted after all that is in it, so that a repeated removal finds it."""

    async def remove(account_id: AccountId) -> None:
        unreadable: list[UnreadableItem] = []
        async for room in context.store.each(newest_rooms_of(HostId(account_id)), unreadable=unreadable.append):
            await _close_room(context, account_id, room)
            await _delete_room(context.store, room.room_id)
        for item in unreadable:
            # No owner could read it to close it.
            await _delete_room(context.store, RoomId(item.key["roomId"]))
        room_ids = await _anonymise_comments(context.store, SenderId(account_id))
        await _anonymise_moderation(context.store, SenderId(account_id), context.random)
        await _notify_rooms(context, account_id, room_ids)

    return remove


# Rooms of the account


async def _close_room(context: AppContext, account_id: AccountId, room: Room) -> None:
    """Close the room through its owner, which notifies its clients."""
    if room.status == "CLOSED":
        return
    host = Identity(account_id=account_id, role="user", language="en")
    try:
        await context.rooms.execute(f"live/{room.room_id}", host, CloseRoom())
    except (Conflict, NotFound):
        # It is closed or deleted already.
        pass


async def _delete_room(store: Store, room_id: RoomId) -> None:
    upvoted: set[CommentId] = set()
    async for entry in store.each(moderation_of(room_id)):
        if isinstance(entry, Upvotes) or (isinstance(entry, Mark) and entry.mark == "DELETED"):
            upvoted.add(entry.comment_id)
    for comment_id in upvoted:
        votes = store.each(upvoters_of(room_id, comment_id))
        await _delete_items(store, (_upvote_key(vote) async for vote in votes))
    minutes = store.each(reactions_in(room_id))
    await _delete_items(store, (Reactions.key(room_id=room_id, minute=it.minute) async for it in minutes))
    senders = store.each(anonymous_senders_in(room_id))
    await _delete_items(store, (_sender_key(it) async for it in senders))
    await store.delete(HostNames.key(room_id=room_id))
    await _delete_items(store, _comment_keys(store, room_id))
    # After the comments: a comment that is taken back until then leaves a mark. Marks are read strongly consistent.
    await _delete_items(store, (_entry_key(mark) async for mark in store.each(marks_of(room_id))))
    await _delete_items(store, (_entry_key(entry) async for entry in store.each(moderation_of(room_id))))
    await _delete_items(
        store,
        (Connection.key(connection_id=it.connection_id) async for it in store.each(connections_in(room_id))),
    )
    await store.delete(Room.key(room_id=room_id))


async def _comment_keys(store: Store, room_id: RoomId) -> AsyncIterator[Key[Comment]]:
    """The keys of all comments of a room, also of those that cannot be read."""
    unreadable: list[UnreadableItem] = []
    async for it in store.each(comments_of(room_id), unreadable=unreadable.append):
        yield Comment.key(room_id=room_id, comment_id=it.comment_id)
    for item in unreadable:
        yield Comment.key(room_id=room_id, comment_id=item.key["commentId"])


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


def _sender_key(sender: AnonymousSender) -> Key[AnonymousSender]:
    return AnonymousSender.key(room_id=sender.room_id, sender_id=sender.sender_id)


def _upvote_key(vote: Upvote) -> Key[Upvote]:
    return Upvote.key(room_id=vote.room_id, comment_id=vote.comment_id, sender_id=vote.sender_id)


async def _delete_items(store: Store, keys: AsyncIterator[Key[Any]]) -> None:
    batch: list[Key[Any]] = []
    async for key in keys:
        batch.append(key)
        if len(batch) == MAX_DELETES_PER_WRITE:
            await store.write_many(delete=batch)
            batch = []
    if batch:
        await store.write_many(delete=batch)


# Rooms of other hosts


async def _notify_rooms(context: AppContext, account_id: AccountId, room_ids: set[RoomId]) -> None:
    """Have running rooms reload the comments of the account."""
    sender = Identity(account_id=account_id, role="user", language="en")
    running = context.rooms.running("live")
    for topic in (f"live/{room_id}" for room_id in room_ids):
        if topic in running:
            try:
                await context.rooms.execute(topic, sender, EraseSender())
            except (Conflict, NotFound):
                # It was closed in between; a new owner would load it from the table.
                continue


async def _anonymise_comments(store: Store, sender: SenderId) -> set[RoomId]:
    """Remove sender and nickname from the comments of a sender; returns the rooms that have any."""
    room_ids: set[RoomId] = set()
    async for found in store.each(comments_by(sender)):
        key = Comment.key(room_id=found.room_id, comment_id=found.comment_id)
        room_ids.add(found.room_id)
        try:
            await store.update(key, _sender.remove(), _nickname.set(ANONYMOUS), when=_sender.equals(sender))
        except (ConditionFailed, WrittenUnreadable):
            # It was deleted or made anonymous in between, or it is anonymous now but cannot be read.
            continue
    return room_ids


async def _anonymise_moderation(store: Store, sender: SenderId, random: Random) -> None:
    async for entry in store.each(entries_about(sender)):
        match entry:
            case Upvote():
                await _anonymise(store, entry, _upvote_key(entry), _upvoted_at.exists(), random)
            case AnonymousSender():
                await _anonymise(store, entry, _sender_key(entry), _number.exists(), random)
            case Block():
                await store.delete(_entry_key(entry))


async def _anonymise(
    store: Store, entry: EntryOfSender, key: Key[EntryOfSender], exists: Condition[EntryOfSender], random: Random
) -> None:
    """Store an entry under a random id instead: a count stays true, and a number is not given again."""
    anonymous = replace(entry, sender_id=SenderId(f"gone:{random.getrandbits(96):024x}"))
    try:
        await store.write(
            Plan(put(anonymous, if_absent=True), delete(key, when=exists)), token=f"{random.getrandbits(128):032x}"
        )
    except TransactionCancelled as cancelled:
        # Without a conflict, its room was deleted in between.
        if cancelled.conflict:
            raise
