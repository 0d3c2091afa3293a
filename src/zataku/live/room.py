"""The actor of a live room: executes commands, one write after another, and publishes what was stored.

Commands that share a write are one transaction: the comments of a batch, or its upvotes on one comment. Comments,
upvotes and retractions of a batch may overtake each other; what the host does is executed in its place.
"""

import asyncio
import re
from collections.abc import Awaitable, Iterable, Sequence

import msgspec
from msgspec.structs import replace

from zataku.clock import instant_ms
from zataku.errors import OUTCOME_UNKNOWN, InvalidRequest, OutcomeUnknown, RequestError, Unavailable
from zataku.live import messages
from zataku.live.batch import Batch
from zataku.live.design import Comment
from zataku.live.errors import already_upvoted, not_the_host, not_upvoted, room_closed, storage_full, too_fast
from zataku.live.functions.comments import GetRoomCommentsFunction, RemoveCommentFunction
from zataku.live.functions.moderation import GetRoomModerationFunction, ReactFunction, UpvoteFunction
from zataku.live.functions.ownership import OwnRoomFunction
from zataku.live.functions.post_comment import PostCommentFunction
from zataku.live.functions.rooms import CloseRoomFunction
from zataku.live.limits import MAX_COMMENTS_PER_WRITE, SEQ_FORM, SEQ_START, CommentId, HostId, RoomId, SenderId, Seq
from zataku.live.moderation.moderator import Moderator
from zataku.live.rules.comments import find_comment
from zataku.live.rules.moderation_state import admit_voters
from zataku.live.rules.rate_limits import ReactionLimit
from zataku.live.rules.reactions import count_reaction
from zataku.live.rules.room_state import RoomState, erase_sender
from zataku.live.rules.views import comment_view, moderation_state_view, room_view
from zataku.live.server_commands import EraseSender
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.rooms.behaviour import (
    DEFERRED,
    Attendance,
    Command,
    Event,
    LostRoom,
    Outcome,
    RoomBehaviour,
    StaleRoom,
    Transient,
)
from zataku.table import Conflict as TableConflict
from zataku.table import ResultUnknown, Store, StoreFull, TableError, Throttled
from zataku.token_buckets import TokenBuckets

MAX_CAUGHT_UP_COMMENTS, MAX_CAUGHT_UP_CHARACTERS = 500, 40_000
"""How many missed comments come with a snapshot, or fewer when they are long; the client fetches the rest."""
CATCH_UP_PAGE_SIZE = 100
MAX_CONCURRENT_CATCH_UPS = 2
"""Pages of missed comments that are read at the same time: decoding one holds the event loop."""
ACTIONS_PER_SECOND, MAX_ACTION_BURST = 2, 10
"""Upvotes and retractions of one sender: each is a write of its own, for which all other commands wait."""
MAX_REMEMBERED_SENDERS = 10_000

_commands = msgspec.json.Decoder(messages.Command)
_server_commands = msgspec.json.Decoder(EraseSender)
_transients = msgspec.json.Decoder(messages.React)
_encode = msgspec.json.Encoder().encode


class LiveRoom(RoomBehaviour[RoomState]):
    """The behaviour of live rooms."""

    kind = "live"
    shared_snapshot = True
    batch_limit = MAX_COMMENTS_PER_WRITE

    def __init__(self, store: Store, attendance: Attendance | None = None) -> None:
        self.attendance = attendance
        self._own = OwnRoomFunction(store)
        self._close = CloseRoomFunction(store)
        self._comments = GetRoomCommentsFunction(store)
        self._post = PostCommentFunction(store)
        self._remove = RemoveCommentFunction(store)
        self._moderation = GetRoomModerationFunction(store)
        self._upvote = UpvoteFunction(store)
        self._react = ReactFunction(store)
        self._moderator = Moderator(store)
        self._action_buckets = TokenBuckets(ACTIONS_PER_SECOND, MAX_ACTION_BURST, MAX_REMEMBERED_SENDERS)
        self._reaction_limit = ReactionLimit()
        self._catch_up_slots = asyncio.Semaphore(MAX_CONCURRENT_CATCH_UPS)

    # Commands as they arrive

    def decode_command(self, payload: bytes) -> messages.Command:
        """The command of a client's JSON."""
        try:
            return _commands.decode(payload)
        except msgspec.ValidationError as error:
            raise InvalidRequest(
                "Keep a comment to one visible line of up to 500 characters, and a name to 30. See details.",
                reason=str(error),
            ) from None
        except msgspec.DecodeError:
            raise InvalidRequest("This is not the JSON of a live room's command.") from None

    def decode_server_command(self, payload: bytes) -> EraseSender:
        """The command of another server process."""
        return _server_commands.decode(payload)

    def decode_transient(self, payload: bytes) -> messages.React:
        """The reaction of a client's JSON."""
        try:
            return _transients.decode(payload)
        except msgspec.DecodeError:
            raise InvalidRequest("A reaction is clap, aha or lol.") from None

    # Ownership

    async def require_open(self, room_id: str) -> None:
        """Refuse a room that does not exist or is closed."""
        await self._own.require_open(room_id)

    async def acquire(self, room_id: str) -> RoomState:
        """Become the owner of an open room and load what earlier owners stored."""
        return await self._own.acquire(room_id)

    async def reload(self, state: RoomState) -> RoomState:
        """The room and its moderation as stored now."""
        return await self._own.reload(state)

    # Durable commands

    async def handle(self, state: RoomState, commands: Sequence[Command], now: float) -> Outcome[RoomState]:
        """Execute the comments of the batch and one comment action, or else one command of the host.

        The rest is deferred. A write that fails is replied to the commands that share it and to no others.
        """
        batch = Batch(commands)
        outcome = Outcome(state=state, replies=batch.replies)
        comments = batch.comments()
        if comments:
            outcome = await self._execute(state, batch, comments, now)
        action = None if outcome.closed else self._next_action(batch, now)
        if action is not None:
            try:
                executed = await self._execute(outcome.state, batch, batch.sharing_write(action), now)
            except StaleRoom:
                if not comments:
                    raise
                # The comments are stored and have to be published; the action comes again.
                return outcome
            # After a change of the epoch every client gets a snapshot, which has the comments.
            is_same_epoch = executed.state.epoch == outcome.state.epoch
            return replace(executed, events=[*outcome.events, *executed.events] if is_same_epoch else [])
        if comments or batch.end == len(commands):
            return outcome
        return await self._execute(state, batch, [batch.end], now)

    async def _execute(self, state: RoomState, batch: Batch, indexes: Sequence[int], now: float) -> Outcome[RoomState]:
        """Execute the commands at `indexes`, which share one write."""
        first, *_ = indexes
        match batch.bodies[first]:
            case messages.PostComment():
                execution = self._post_comments(state, batch, indexes, now)
            case messages.Upvote() as upvote:
                execution = self._count_upvotes(state, batch, indexes, upvote, now)
            case messages.RetractComment(comment_id=comment_id):
                execution = self._retract_comment(state, batch, first, comment_id, now)
            case messages.CloseRoom():
                return await self._close_room(state, batch, first, now)
            case EraseSender():
                return await self._erase_sender(state, batch, first)
            case action:
                execution = self._moderate(state, batch, first, action, now)
        return await self._settle(state, batch, indexes, execution)

    def _next_action(self, batch: Batch, now: float) -> int | None:
        """The first comment action whose sender has a token left. The others are refused without a write."""
        for index in batch.actions():
            retry_after = self._action_buckets.of(batch.sender(index), now).take(now)
            if not retry_after:
                return index
            batch.replies[index] = too_fast(retry_after)
        return None

    async def _settle(
        self, state: RoomState, batch: Batch, indexes: Sequence[int], execution: Awaitable[Outcome[RoomState]]
    ) -> Outcome[RoomState]:
        """The outcome of an execution. When it fails, its commands get the error and the room continues."""
        try:
            return await execution
        except RequestError as refused:
            error = refused
        except ResultUnknown as unknown:
            error = OutcomeUnknown(OUTCOME_UNKNOWN)
            try:
                # After this the write is stored, or never will be: its epoch has passed.
                state = await self.acquire(state.room.room_id)
            except (RequestError, TableError):
                raise unknown from None
        except StoreFull:
            error = storage_full()
        except (Throttled, TableConflict):
            error = Unavailable("This could not be stored just now. Try again in a moment.")
        batch.refuse(indexes, error)
        return Outcome(state=state, replies=batch.replies)

    async def _post_comments(
        self, state: RoomState, batch: Batch, indexes: Sequence[int], now: float
    ) -> Outcome[RoomState]:
        submissions = [
            batch.submission(index, message)
            for index in indexes
            if isinstance(message := batch.bodies[index], messages.PostComment)
        ]
        posted = await self._post(state, submissions, now)
        for index, reply in posted.replies.items():
            batch.replies[index] = reply
        return Outcome(state=posted.state, events=_events(posted.events), replies=batch.replies, closed=posted.closed)

    async def _count_upvotes(
        self, state: RoomState, batch: Batch, indexes: Sequence[int], upvote: messages.Upvote, now: float
    ) -> Outcome[RoomState]:
        """Count upvotes of one comment, or take them back."""
        room_id, comment_id = state.room.room_id, upvote.comment_id
        comment = find_comment(state, comment_id) or await self._comments.get(room_id, comment_id)
        ballot = admit_voters(state.moderation, comment, [(index, batch.sender(index)) for index in indexes])
        voters, before = list(ballot.voters), state.moderation.votes.get(comment_id, 0)
        if upvote.on:
            result = await self._upvote(room_id, comment_id, voters, now, state.epoch, is_first=before == 0)
        else:
            result = await self._upvote.withdraw(room_id, comment_id, voters, now, state.epoch, counted=before)
        votes = before + len(result.counted) * (1 if upvote.on else -1)
        upvoted = messages.Upvoted(comment_id=comment_id, votes=votes)
        for index, error in ballot.errors.items():
            batch.replies[index] = error
        for sender, index in ballot.voters.items():
            # A retry may have been counted by an earlier owner that could not reply.
            is_counted = sender in result.counted or (sender in result.repeated and batch.commands[index].is_retry)
            refusal = already_upvoted() if upvote.on else not_upvoted()
            batch.replies[index] = upvoted if is_counted else refusal if sender in result.repeated else result.error
        if not result.counted:
            return Outcome(state=state, replies=batch.replies)
        state = replace(state, moderation=state.moderation.with_votes(comment_id, votes))
        return Outcome(state=state, events=_events([upvoted]), replies=batch.replies)

    async def _retract_comment(
        self, state: RoomState, batch: Batch, index: int, comment_id: CommentId, now: float
    ) -> Outcome[RoomState]:
        removed = messages.CommentRemoved(comment_id=comment_id, deleted=True)
        batch.replies[index] = removed
        if batch.commands[index].is_retry and comment_id in state.moderation.deleted:
            # An earlier owner deleted it and could not reply.
            return Outcome(state=state, replies=batch.replies)
        await self._remove(state.room.room_id, comment_id, batch.sender(index), now, state.epoch)
        return Outcome(state=state.without_comment(comment_id), events=_events([removed]), replies=batch.replies)

    async def _moderate(
        self, state: RoomState, batch: Batch, index: int, action: messages.ModerationAction, now: float
    ) -> Outcome[RoomState]:
        moderation = await self._moderator.execute(state, batch.commands[index].sender, action, now)
        batch.replies[index] = messages.ModerationResult(entry=moderation.entry)
        events = _events(moderation.events)
        if moderation.entry is not None:
            host = frozenset({AccountId(state.room.host_id)})
            events.append(Event(_encode(messages.Moderated(entry=moderation.entry)), recipients=host))
        return Outcome(state=moderation.state, events=events, replies=batch.replies)

    async def _close_room(self, state: RoomState, batch: Batch, index: int, now: float) -> Outcome[RoomState]:
        """Close the room. The commands after it are refused, as in every closed room."""
        host = HostId(batch.sender(index))
        if host != state.room.host_id:
            batch.replies[index] = not_the_host()
            return Outcome(state=state, replies=batch.replies)
        try:
            state = await self.flush(state)
        except (StaleRoom, TableError):
            # Half a second of reactions does not keep a room open.
            pass
        try:
            room = await self._close(state.room.room_id, host, now, state.epoch)
        except TableError:
            room = state.room
        if room is None or room.epoch != state.epoch:
            raise LostRoom(state.room.room_id)
        if room.status == "OPEN":
            batch.replies[index] = OutcomeUnknown(OUTCOME_UNKNOWN)
            return Outcome(state=state, replies=batch.replies)
        batch.replies[index] = room_view(room, room.host_id)
        batch.refuse((at for at, reply in enumerate(batch.replies) if reply is DEFERRED), room_closed())
        return Outcome(
            state=replace(state, room=room),
            events=_events([messages.RoomClosed()]),
            replies=batch.replies,
            closed=room_closed(),
        )

    async def _erase_sender(self, state: RoomState, batch: Batch, index: int) -> Outcome[RoomState]:
        """Show the comments of a removed account as they are stored now: each is removed and comes back."""
        sender = batch.sender(index)
        stored = await self._comments.get_many(state.room.room_id, state.comments_of(sender))
        erasure = erase_sender(state, sender, stored)
        batch.replies[index], host_id = None, state.room.host_id
        removed = [messages.CommentRemoved(comment_id=it.comment_id) for it in erasure.changed]
        restored = [messages.CommentRestored(comment=comment_view(it, host_id)) for it in erasure.changed]
        pinned = [messages.Pinned(comment=comment_view(it, host_id)) for it in erasure.pins]
        return Outcome(state=erasure.state, events=_events([*removed, *restored, *pinned]), replies=batch.replies)

    # Reactions

    def accepts(self, command: Command, now: float) -> bool:
        """Whether one more reaction of the sender counts in this second."""
        return self._reaction_limit.accepts(command.sender.account_id, now)

    def handle_transient(self, state: RoomState, command: Command, now: float) -> Transient[RoomState]:
        """Count a reaction; it is published with the next tick."""
        react: messages.React = command.body
        if SenderId(command.sender.account_id) in state.moderation.blocked_senders:
            return Transient(state=state)
        minute = instant_ms(now - now % 60)
        counts = count_reaction(state.reactions, state.room.room_id, react.reaction, minute)
        return Transient(state=replace(state, reactions=counts))

    def tick(self, state: RoomState, now: float) -> Transient[RoomState]:  # noqa: ARG002
        """Publish the reactions since the last tick."""
        unpublished = state.reactions.unpublished
        if not unpublished:
            return Transient(state=state)
        published = replace(state, reactions=replace(state.reactions, unpublished={}))
        return Transient(state=published, events=_events([messages.Reacted(**unpublished)]))

    async def flush(self, state: RoomState) -> RoomState:
        """Store the minutes that changed."""
        for minute in state.reactions.unstored:
            await self._react(minute, state.epoch)
        return replace(state, reactions=replace(state.reactions, unstored=()))

    # Snapshots

    async def snapshot(self, state: RoomState, viewer: Identity, since: str | None) -> bytes:  # noqa: ARG002
        """The room with every comment after `since`, in order; without it, with the latest comments."""
        if since is not None and re.search(SEQ_FORM, since) is None:
            raise InvalidRequest("`since` is the seq of a comment. Take it from the last one that you have.")
        has_more = False
        if since is None:
            comments = list(state.recent)
        elif state.has_all_after(since):
            comments = [it for it in state.recent if (it.seq or SEQ_START) > since]
        else:
            missed, has_more = await self._missed(state.room.room_id, since)
            comments = [it for it in missed if it.seq is not None and state.has_acknowledged(it.seq)]
        moderation, host_id = state.moderation, state.room.host_id
        reactions = messages.Reactions(**state.reactions.published_totals())
        return _encode(
            messages.Snapshot(
                room=room_view(state.room),
                comments=[comment_view(it, host_id) for it in comments if not moderation.is_gone(it.comment_id)],
                standing=moderation_state_view(moderation, state.pinned, reactions, host_id),
                more=has_more,
                earlier=since is None and state.has_earlier,
            )
        )

    async def _missed(self, room_id: RoomId, after: Seq) -> tuple[list[Comment], bool]:
        """The comments after a `seq`, as many as come with a snapshot, and whether there are more."""
        missed: list[Comment] = []
        characters = 0
        while True:
            # A crowd that asks from different places must not have all its pages decoded in one moment.
            async with self._catch_up_slots:
                page = await self._comments(room_id, after, CATCH_UP_PAGE_SIZE)
            missed += page.items
            characters += sum(len(it.content) for it in page.items)
            is_full = len(missed) >= MAX_CAUGHT_UP_COMMENTS or characters > MAX_CAUGHT_UP_CHARACTERS
            if page.cursor is None or is_full:
                return missed, page.cursor is not None
            after = (missed[-1].seq if missed else None) or after


def _events(published: Iterable[messages.Event]) -> list[Event]:
    """Events for all subscribers. A removed comment must not reach clients that resume from before its removal."""
    return [Event(_encode(it), erases=isinstance(it, messages.CommentRemoved)) for it in published]
