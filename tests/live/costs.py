"""For each access pattern of a live room the case that its budget speaks of."""

from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

from msgspec.structs import replace

from tests.live.entities import HALL, MIDORI, NOW, SORA, WEB, YUNA, act, all_of, opened_room, room, said, socket, uuid
from tests.support.cost_assertions import Case
from tests.support.stores import START
from zataku.clock import instant_ms
from zataku.live import design
from zataku.live.design import OwnedConnection, seq_of
from zataku.live.limits import SEQ_START, CommentId, LogId, SenderId
from zataku.live.moderation import design as moderation
from zataku.live.moderation.design import Block, LogEntry, Mark, Reactions, Upvote, Upvotes
from zataku.live.moderation.writes import (
    block_sender,
    block_word,
    delete_comment,
    mark_comment,
    pause_room,
    slow_room,
    unblock_sender,
    unblock_word,
    unmark_comment,
)
from zataku.live.samples import audience, rooms_of
from zataku.live.writes import (
    close_room,
    count_reactions,
    create_room,
    join,
    leave,
    post_comments,
    remove_own_comment,
    sweep_connection,
    take_room,
    upvote,
    upvote_first,
)
from zataku.table import Entity, Key, Plan, Query, Store

Call = Callable[[], Awaitable[Any]]
CASES: dict[str, Case] = {}
SENTENCE = "コメントはこのくらいの長さで、質問にも感想にも足ります。" * 3
TARGET = said(1).comment_id
COMMENTS = [replace(said(number, SENTENCE[:60]), nickname="通りすがり") for number in range(1, 100)]


def getting(name: str, key: Key[Any], *items: Entity) -> None:
    """A read of one item among these."""

    async def case(store: Store) -> Call:
        await store.write_many(put=items)
        return lambda: store.get(key)

    CASES[name] = case


def paging(name: str, query: Query[Any], items: list[Any], limit: int | None = None) -> None:
    """A page of so many of these items, or all of them."""

    async def case(store: Store) -> Call:
        await store.write_many(put=items)
        return (lambda: all_of(store, query)) if limit is None else (lambda: store.page(query, limit=limit))

    CASES[name] = case


def writing(plan: Plan[Any], *before: Callable[[int], Plan[Any]] | Entity) -> None:
    """A write in an open room of the first epoch, after what happened before."""

    async def case(store: Store) -> Call:
        epoch = await opened_room(store)
        for one in before:
            await (store.put(one) if isinstance(one, Entity) else store.write(one(epoch)))
        return lambda: store.write(plan)

    CASES[plan.label.rpartition(".")[2]] = case


def ids(count: int) -> list[CommentId]:
    """Ids of comments."""
    return [CommentId(uuid(5000 + number)) for number in range(count)]


ROOMS = list(rooms_of(Random(1), START, 60))
HIDDEN = [Mark(room_id=HALL, mark="HIDDEN", comment_id=one, at=instant_ms(START)) for one in ids(50)]
COUNTS = [Upvotes(room_id=HALL, comment_id=one, votes=12) for one in ids(30)]
BLOCKS = [Block(room_id=HALL, what="WORD", value=f"spam{number:02d}", at=instant_ms(START)) for number in range(30)]
VOTERS = [
    Upvote(room_id=HALL, comment_id=TARGET, sender_id=SenderId(f"guest:{number:012x}"), at=instant_ms(START))
    for number in range(60)
]
LOG = [
    LogEntry(room_id=HALL, at=instant_ms(START + n), log_id=LogId(uuid(n)), action="HIDE", subject=TARGET)
    for n in range(60)
]
MINUTES = [Reactions(room_id=HALL, minute=instant_ms(START + 60 * n), clap=120, aha=40, lol=7) for n in range(60)]
SOCKETS = [socket(number) for number in range(99)]
CROWD = [SenderId(f"guest:{number:012x}") for number in range(97)]
AUDIENCE = list(audience(Random(1), START, HALL, WEB, 1000))

getting("room", design.room(HALL), room())
getting("room_now", design.room_now(HALL), room())
paging("rooms_by_code", design.rooms_by_code("482159"), [room(code="482159")])
paging("newest_rooms_of", design.newest_rooms_of(MIDORI), ROOMS, 50)
paging("oldest_rooms_of", design.oldest_rooms_of(MIDORI), ROOMS, 50)
getting("comment", design.comment(HALL, TARGET), COMMENTS[0])
paging("comments_of", design.comments_of(HALL), COMMENTS, 50)
paging("comments_after", design.comments_after(HALL, SEQ_START), COMMENTS, 50)
paging("comments_before", design.comments_before(HALL, seq_of(1, 99)), COMMENTS, 50)
paging("latest_comments", design.latest_comments(HALL), COMMENTS, 50)
getting("connection", design.connection(AUDIENCE[0].connection_id), AUDIENCE[0])
paging("connections_in", design.connections_in(HALL), AUDIENCE)
paging("left_behind", design.left_behind(WEB, instant_ms(START + 999)), AUDIENCE)
paging("moderation_of", moderation.moderation_of(HALL), [*LOG[:20], *HIDDEN[:20], *COUNTS, *BLOCKS[:10], *VOTERS])
paging("log_of", moderation.log_of(HALL), LOG, 50)
paging("marks_of", moderation.marks_of(HALL), HIDDEN)
paging("reactions_in", moderation.reactions_in(HALL), MINUTES)
paging("marked", moderation.marked(HALL, "HIDDEN"), HIDDEN)
paging("blocks_of", moderation.blocks_of(HALL), BLOCKS)
paging("upvotes_in", moderation.upvotes_in(HALL), COUNTS)
getting("upvotes_on", moderation.upvotes_on(HALL, ids(1)[0]), COUNTS[0])
paging("upvoters_of", moderation.upvoters_of(HALL, TARGET), VOTERS, 50)

writing(create_room(room(ROOMS[0].room_id)))
writing(close_room(HALL, MIDORI, START, 1))
writing(take_room(HALL))
writing(post_comments(COMMENTS, 1))
writing(remove_own_comment(HALL, TARGET, SORA, START, 1), COMMENTS[0])
writing(join(HALL, WEB, SOCKETS, START))
writing(leave(SOCKETS[0]), lambda _: join(HALL, WEB, SOCKETS[:1], START))
writing(
    sweep_connection(WEB, OwnedConnection(connection_id=SOCKETS[0], timestamp=NOW)),
    lambda _: join(HALL, WEB, SOCKETS[:1], START),
)
writing(mark_comment(act(1), "PINNED", TARGET, 1), COMMENTS[0])
writing(unmark_comment(act(2), "PINNED", TARGET, 1), COMMENTS[0], lambda _: mark_comment(act(1), "PINNED", TARGET, 1))
writing(delete_comment(act(1), TARGET, 1), COMMENTS[0])
writing(block_word(act(1), 1, "spam"))
writing(unblock_word(act(2), 1, "spam"), lambda epoch: block_word(act(1), epoch, "spam"))
writing(count_reactions(Reactions(room_id=HALL, minute=instant_ms(START), clap=1200, aha=40, lol=7), 1))
writing(block_sender(act(1), 1, SORA, TARGET))
writing(
    unblock_sender(act(2), 1, SORA, said(1).comment_id),
    lambda epoch: block_sender(act(1), epoch, SORA, said(1).comment_id),
)
writing(pause_room(act(1), 1, True))
writing(slow_room(act(1), 1, 30))
writing(upvote_first(HALL, TARGET, CROWD, START, 1), COMMENTS[0])
writing(upvote(HALL, TARGET, CROWD, START, 1), COMMENTS[0], lambda _: upvote_first(HALL, TARGET, [YUNA], START, 1))
