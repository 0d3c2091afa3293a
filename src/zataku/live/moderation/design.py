"""The fourth table of live rooms: what the host makes of a room and its comments, and how people react to them."""

from typing import Annotated

from msgspec import Meta

from zataku.live.limits import (
    EXTERNAL_ID,
    MAX_WORD_LENGTH,
    UUID_V4,
    Action,
    BlockKind,
    BlockValue,
    CommentId,
    LogId,
    MarkKind,
    ReactionCount,
    RoomId,
    SenderId,
    Votes,
    fold_word,
    is_external_id,
    require_visible,
)
from zataku.table import Budget, Entity, InKey, InstantMs, Key, Span, Table

# Arguments with which access patterns are tried out, where an id must be a UUID.
A_ROOM = {"room_id": "456e7890-e89b-42d3-a456-426614174001"}
A_COMMENT = {**A_ROOM, "comment_id": "0c2f1c9e-5a44-4d0b-9d53-2f6f0a4c7a11"}

moderation = Table("LiveComment-Moderation-{env}", pk="roomId", sk="entry", transactions=True)
# Everything that a host looks at sorts before the reactions of each minute, and the single upvotes, which are many.
_REACTIONS, _UPVOTES = "REACTIONS#", "UPVOTE#"


@moderation.entity(pk="{room_id}", sk="BLOCK#{what}#{value}")
class Block(Entity, frozen=True, kw_only=True, rename="camel"):
    """A sender's session or a word that the host keeps out of the room."""

    room_id: Annotated[RoomId, UUID_V4, Meta(description="The room")]
    what: Annotated[InKey[BlockKind], Meta(description="What is blocked")]
    value: Annotated[InKey[BlockValue], Meta(description="The session, or the word as `fold_word` writes it")]
    at: Annotated[InstantMs, Meta(description="Since when")]
    comment_id: Annotated[CommentId, UUID_V4, Meta(description="For what a sender was blocked")] | None = None

    def __post_init__(self) -> None:
        require_visible("block", self.value)
        if self.what == "SENDER" and not is_external_id(self.value):
            raise ValueError(f"A blocked sender is the id of a session: {EXTERNAL_ID.title}")
        if self.what == "WORD" and (self.value != fold_word(self.value) or len(self.value) > MAX_WORD_LENGTH):
            raise ValueError(f"A blocked word has at most {MAX_WORD_LENGTH} characters and is stored folded")


@moderation.entity(pk="{room_id}", sk="COUNT#{comment_id}")
class Upvotes(Entity, frozen=True, kw_only=True, rename="camel"):
    """How many people want a question answered."""

    room_id: Annotated[RoomId, UUID_V4, Meta(description="The room")]
    comment_id: Annotated[InKey[CommentId], UUID_V4, Meta(description="The question")]
    votes: Annotated[Votes, Meta(description="How many upvotes there are")]


@moderation.entity(pk="{room_id}", sk="LOG#{at}#{log_id}")
class LogEntry(Entity, frozen=True, kw_only=True, rename="camel"):
    """Something that the host did, for the host to look up."""

    room_id: Annotated[RoomId, UUID_V4, Meta(description="The room")]
    at: Annotated[InKey[InstantMs], Meta(description="When")]
    log_id: Annotated[InKey[LogId], UUID_V4, Meta(description="Tells entries of the same moment apart")]
    action: Annotated[Action, Meta(description="What was done")]
    subject: Annotated[BlockValue, Meta(description="To which comment or word; how many seconds")] | None = None


@moderation.entity(pk="{room_id}", sk="MARK#{mark}#{comment_id}")
class Mark(Entity, frozen=True, kw_only=True, rename="camel"):
    """What became of a comment: hidden, pinned, answered, or deleted, which a reader that comes back must learn."""

    room_id: Annotated[RoomId, UUID_V4, Meta(description="The room")]
    mark: Annotated[InKey[MarkKind], Meta(description="What became of the comment")]
    comment_id: Annotated[InKey[CommentId], UUID_V4, Meta(description="The comment")]
    at: Annotated[InstantMs, Meta(description="Since when")]


@moderation.entity(pk="{room_id}", sk="REACTIONS#{minute}")
class Reactions(Entity, frozen=True, kw_only=True, rename="camel"):
    """How often people clapped, understood and laughed in one minute. Who did is not kept."""

    room_id: Annotated[RoomId, UUID_V4, Meta(description="The room")]
    minute: Annotated[InKey[InstantMs], Meta(description="When the minute began")]
    clap: Annotated[ReactionCount, Meta(description="Claps")] = 0
    aha: Annotated[ReactionCount, Meta(description="How often somebody understood")] = 0
    lol: Annotated[ReactionCount, Meta(description="Laughs")] = 0


@moderation.entity(pk="{room_id}", sk="UPVOTE#{comment_id}#{sender_id}")
class Upvote(Entity, frozen=True, kw_only=True, rename="camel"):
    """That somebody wants a question answered, once for each session."""

    room_id: Annotated[RoomId, UUID_V4, Meta(description="The room")]
    comment_id: Annotated[InKey[CommentId], UUID_V4, Meta(description="The question")]
    sender_id: Annotated[InKey[SenderId], EXTERNAL_ID, Meta(description="Whose session it was")]
    at: Annotated[InstantMs, Meta(description="When")]


@moderation.query(
    returns=(Block, Upvotes, LogEntry, Mark),
    budget=Budget(reads=1.5, of="20 log entries, 20 marks, 30 counted questions and 10 blocks"),
)
def moderation_of(room_id: RoomId) -> Span:
    """All that the host sees of a room beside its comments: blocks, counts of upvotes, the log, and marks."""
    return moderation.partition(room_id).before(_REACTIONS)


@moderation.query(returns=LogEntry, budget=Budget(reads=1.5, of="a page of 50 entries"))
def log_of(room_id: RoomId) -> Span:
    """What the host did, newest first."""
    return moderation.partition(room_id).begins_with("LOG#").newest_first()


@moderation.query(returns=Mark, strong=True, budget=Budget(reads=2, of="50 marked comments"))
def marks_of(room_id: RoomId) -> Span:
    """What became of the comments of a room. A new owner of the room asks before it shows any."""
    return moderation.partition(room_id).begins_with("MARK#")


@moderation.query(returns=Mark, budget=Budget(reads=1, of="50 comments marked so"))
def marked(room_id: RoomId, mark: MarkKind) -> Span:
    """The comments that are hidden, or pinned, or answered, or deleted."""
    return moderation.partition(room_id).begins_with(f"MARK#{mark}#")


@moderation.query(returns=Reactions, strong=True, budget=Budget(reads=2, of="the 60 minutes of a talk"))
def reactions_in(room_id: RoomId) -> Span:
    """How people reacted, minute by minute."""
    return moderation.partition(room_id).begins_with(_REACTIONS)


@moderation.query(returns=Block, strong=True, budget=Budget(reads=1, of="30 blocks"))
def blocks_of(room_id: RoomId) -> Span:
    """Who and what is kept out of a room right now. A new owner of the room asks before it takes any comment."""
    return moderation.partition(room_id).begins_with("BLOCK#")


@moderation.query(returns=Upvotes, strong=True, budget=Budget(reads=1, of="30 questions"))
def upvotes_in(room_id: RoomId) -> Span:
    """How often each question of a room was upvoted."""
    return moderation.partition(room_id).begins_with("COUNT#")


@moderation.item(strong=True, example=A_COMMENT, budget=Budget(reads=1, of="a question"))
def upvotes_on(room_id: RoomId, comment_id: CommentId) -> Key[Upvotes]:
    """How often one question was upvoted."""
    return Upvotes.key(room_id=room_id, comment_id=comment_id)


@moderation.query(returns=Upvote, budget=Budget(reads=1, of="a page of 50 upvotes"))
def upvoters_of(room_id: RoomId, comment_id: CommentId) -> Span:
    """Whose upvotes a question has, to audit its count."""
    return moderation.partition(room_id).begins_with(f"{_UPVOTES}{comment_id}#")
