"""The fourth table of live rooms: blocks, marks, upvotes, reactions, and the host's log."""

from typing import Annotated

from msgspec import Meta

from zataku.live.limits import (
    EXTERNAL_ID,
    MAX_HOST_NAMES,
    MAX_WORD_LENGTH,
    UUID_V4,
    Action,
    AnonymousNumber,
    BlockKind,
    BlockValue,
    CommentId,
    LogId,
    MarkKind,
    Nickname,
    ReactionCount,
    RoomId,
    SenderId,
    Votes,
    fold_word,
    is_external_id,
    require_visible,
)
from zataku.table import Budget, Entity, InKey, InstantMs, Key, Span, Table, derived

# Example arguments of access patterns, where an id must be a UUID.
EXAMPLE_ROOM = {"room_id": "456e7890-e89b-42d3-a456-426614174001"}
EXAMPLE_COMMENT = {**EXAMPLE_ROOM, "comment_id": "0c2f1c9e-5a44-4d0b-9d53-2f6f0a4c7a11"}

moderation = Table("LiveComment-Moderation-{env}", pk="roomId", sk="entry", transactions=True)
by_sender = moderation.index("senderId-index", pk="senderId")
# All that the host's view shows sorts before the reactions and the single upvotes, which are many.
_REACTIONS, _UPVOTES = "REACTIONS#", "UPVOTE#"


@moderation.entity(pk="{room_id}", sk="BLOCK#{what}#{value}", index={"senderId": "{blocked_sender}"})
class Block(Entity, frozen=True, kw_only=True, rename="camel"):
    """A sender's session or a word that the host has blocked."""

    room_id: Annotated[RoomId, UUID_V4, Meta(description="The room")]
    what: Annotated[InKey[BlockKind], Meta(description="What is blocked")]
    value: Annotated[InKey[BlockValue], Meta(description="The session, or the word as `fold_word` writes it")]
    at: Annotated[InstantMs, Meta(description="Since when")]
    comment_id: (
        Annotated[CommentId, UUID_V4, Meta(description="The comment for which the sender was blocked")] | None
    ) = None

    def __post_init__(self) -> None:
        require_visible("block", self.value)
        if self.what == "SENDER" and not is_external_id(self.value):
            raise ValueError(f"A blocked sender is the id of a session: {EXTERNAL_ID.title}")
        if self.what == "WORD" and (self.value != fold_word(self.value) or len(self.value) > MAX_WORD_LENGTH):
            raise ValueError(f"A blocked word has at most {MAX_WORD_LENGTH} characters and is stored folded")

    @derived("what", "value")
    def blocked_sender(self) -> SenderId | None:
        """The sender under whom the block is indexed; None for a word."""
        return SenderId(self.value) if self.what == "SENDER" else None


@moderation.entity(pk="{room_id}", sk="COUNT#{comment_id}")
class Upvotes(Entity, frozen=True, kw_only=True, rename="camel"):
    """The number of upvotes of a comment."""

    room_id: Annotated[RoomId, UUID_V4, Meta(description="The room")]
    comment_id: Annotated[InKey[CommentId], UUID_V4, Meta(description="The comment")]
    votes: Annotated[Votes, Meta(description="Number of upvotes")]


@moderation.entity(pk="{room_id}", sk="LOG#{at}#{log_id}")
class LogEntry(Entity, frozen=True, kw_only=True, rename="camel"):
    """An action of the host, in the host's log."""

    room_id: Annotated[RoomId, UUID_V4, Meta(description="The room")]
    at: Annotated[InKey[InstantMs], Meta(description="When")]
    log_id: Annotated[InKey[LogId], UUID_V4, Meta(description="Distinguishes entries of the same time")]
    action: Annotated[Action, Meta(description="The action")]
    subject: Annotated[BlockValue, Meta(description="The comment, the word, or the seconds of slow mode")] | None = None


@moderation.entity(pk="{room_id}", sk="MARK#{mark}#{comment_id}")
class Mark(Entity, frozen=True, kw_only=True, rename="camel"):
    """A mark of a comment: hidden, pinned, answered, or deleted, which readers that resume have to learn."""

    room_id: Annotated[RoomId, UUID_V4, Meta(description="The room")]
    mark: Annotated[InKey[MarkKind], Meta(description="The mark")]
    comment_id: Annotated[InKey[CommentId], UUID_V4, Meta(description="The comment")]
    at: Annotated[InstantMs, Meta(description="Since when")]


@moderation.entity(pk="{room_id}", sk="REACTIONS#{minute}")
class Reactions(Entity, frozen=True, kw_only=True, rename="camel"):
    """The reactions of one minute. Their senders are not stored."""

    room_id: Annotated[RoomId, UUID_V4, Meta(description="The room")]
    minute: Annotated[InKey[InstantMs], Meta(description="When the minute began")]
    clap: Annotated[ReactionCount, Meta(description="Claps")] = 0
    aha: Annotated[ReactionCount, Meta(description="Reactions of understanding")] = 0
    lol: Annotated[ReactionCount, Meta(description="Laughs")] = 0


@moderation.entity(pk="{room_id}", sk="SENDER#{sender_id}", index={"senderId": "{sender_id}"})
class AnonymousSender(Entity, frozen=True, kw_only=True, rename="camel"):
    """The number by which a sender without a nickname is known in a room."""

    room_id: Annotated[RoomId, UUID_V4, Meta(description="The room")]
    sender_id: Annotated[InKey[SenderId], EXTERNAL_ID, Meta(description="The session that comments")]
    number: Annotated[AnonymousNumber, Meta(description="Its number in the room, from 1")]


@moderation.entity(pk="{room_id}", sk="TAKEN#NAMES")
class HostNames(Entity, frozen=True, kw_only=True, rename="camel"):
    """The names under which the host has commented in a room. Nobody else may use them there."""

    room_id: Annotated[RoomId, UUID_V4, Meta(description="The room")]
    names: Annotated[
        tuple[Nickname, ...], Meta(min_length=1, max_length=MAX_HOST_NAMES, description="The names, the latest last")
    ]


@moderation.entity(pk="{room_id}", sk="UPVOTE#{comment_id}#{sender_id}", index={"senderId": "{sender_id}"})
class Upvote(Entity, frozen=True, kw_only=True, rename="camel"):
    """An upvote of a comment, one for each session."""

    room_id: Annotated[RoomId, UUID_V4, Meta(description="The room")]
    comment_id: Annotated[InKey[CommentId], UUID_V4, Meta(description="The comment")]
    sender_id: Annotated[InKey[SenderId], EXTERNAL_ID, Meta(description="The session that upvoted")]
    at: Annotated[InstantMs, Meta(description="When")]


@moderation.query(
    returns=(Block, Upvotes, LogEntry, Mark),
    budget=Budget(reads=1.5, of="20 log entries, 20 marks, 30 counted questions and 10 blocks"),
)
def moderation_of(room_id: RoomId) -> Span:
    """The moderation of a room as its host sees it: blocks, upvote counts, the log, and marks."""
    return moderation.partition(room_id).before(_REACTIONS)


@moderation.query(returns=LogEntry, budget=Budget(reads=1.5, of="a page of 50 entries"))
def log_of(room_id: RoomId) -> Span:
    """The host's log, newest first."""
    return moderation.partition(room_id).begins_with("LOG#").newest_first()


@moderation.query(returns=Mark, strong=True, budget=Budget(reads=2, of="50 marked comments"))
def marks_of(room_id: RoomId) -> Span:
    """The marks of all comments of a room. A new owner loads them before it shows any comment."""
    return moderation.partition(room_id).begins_with("MARK#")


@moderation.query(returns=Mark, budget=Budget(reads=1, of="50 comments marked so"))
def marked(room_id: RoomId, mark: MarkKind) -> Span:
    """The comments with one mark."""
    return moderation.partition(room_id).begins_with(f"MARK#{mark}#")


@moderation.query(returns=Reactions, strong=True, budget=Budget(reads=2, of="the 60 minutes of a talk"))
def reactions_in(room_id: RoomId) -> Span:
    """The reactions of each minute."""
    return moderation.partition(room_id).begins_with(_REACTIONS)


@moderation.query(returns=Block, strong=True, budget=Budget(reads=1, of="30 blocks"))
def blocks_of(room_id: RoomId) -> Span:
    """The blocks of a room. A new owner loads them before it accepts any comment."""
    return moderation.partition(room_id).begins_with("BLOCK#")


@moderation.query(returns=AnonymousSender, strong=True, budget=Budget(reads=4, of="100 senders without a nickname"))
def anonymous_senders_in(room_id: RoomId) -> Span:
    """The numbered senders of a room. A new owner loads them before it accepts any comment."""
    return moderation.partition(room_id).begins_with("SENDER#")


@moderation.item(strong=True, example=EXAMPLE_ROOM, budget=Budget(reads=1, of="a room"))
def host_names_in(room_id: RoomId) -> Key[HostNames]:
    """The names of the host of a room. A new owner loads them before it accepts any comment."""
    return HostNames.key(room_id=room_id)


@moderation.query(returns=Upvotes, strong=True, budget=Budget(reads=1, of="30 questions"))
def upvotes_in(room_id: RoomId) -> Span:
    """The upvote counts of all comments of a room."""
    return moderation.partition(room_id).begins_with("COUNT#")


@moderation.item(strong=True, example=EXAMPLE_COMMENT, budget=Budget(reads=1, of="a question"))
def upvotes_on(room_id: RoomId, comment_id: CommentId) -> Key[Upvotes]:
    """The upvote count of one comment."""
    return Upvotes.key(room_id=room_id, comment_id=comment_id)


@moderation.query(returns=Upvote, budget=Budget(reads=1, of="a page of 50 upvotes"))
def upvoters_of(room_id: RoomId, comment_id: CommentId) -> Span:
    """The upvotes of a comment, to audit its count."""
    return moderation.partition(room_id).begins_with(f"{_UPVOTES}{comment_id}#")


@moderation.query(returns=(Upvote, AnonymousSender, Block), budget=Budget(reads=9, of="500 upvotes, read whole"))
def entries_about(sender_id: SenderId) -> Span:
    """The upvotes of a sender, their numbers and the blocks of them in all rooms, for the removal of an account."""
    return by_sender.partition(sender_id)
