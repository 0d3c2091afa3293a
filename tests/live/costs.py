"""For each access pattern of a live room the case that its budget describes."""

from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

from msgspec.structs import replace

from tests.live.entities import (
    MIDORI,
    NOW,
    ROOM_ID,
    SORA,
    WEB,
    YUNA,
    comment,
    host_action,
    open_room,
    read_all,
    room,
    socket,
    uuid,
)
from tests.support.cost_assertions import Case
from tests.support.stores import START
from zataku.clock import instant_ms
from zataku.live import design
from zataku.live.design import OwnedConnection, seq_of
from zataku.live.limits import SEQ_START, CommentId, LogId, SenderId
from zataku.live.moderation import design as moderation
from zataku.live.moderation.design import AnonymousSender, Block, HostNames, LogEntry, Mark, Reactions, Upvote, Upvotes
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
    release_code,
    remove_own_comment,
    sweep_connection,
    take_room,
    upvote,
    upvote_first,
    withdraw_upvotes,
)
from zataku.table import Entity, Key, Plan, Query, Store

Call = Callable[[], Awaitable[Any]]
CASES: dict[str, Case] = {}
SENTENCE = "コメントはこのくらいの長さで、質問にも感想にも足ります。" * 3
TARGET = comment(1).comment_id
COMMENTS = [replace(comment(number, SENTENCE[:60]), nickname="通りすがり") for number in range(1, 100)]


def add_get_case(name: str, key: Key[Any], *items: Entity) -> None:
    """Add the read of one of these items."""

    async def case(store: Store) -> Call:
        await store.write_many(put=items)
        return lambda: store.get(key)

    CASES[name] = case


def add_page_case(name: str, query: Query[Any], items: list[Any], limit: int | None = None) -> None:
    """Add a page of these items, or all pages when there is no limit."""

    async def case(store: Store) -> Call:
        await store.write_many(put=items)
        return (lambda: read_all(store, query)) if limit is None else (lambda: store.page(query, limit=limit))

    CASES[name] = case


def add_write_case(plan: Plan[Any], *earlier: Callable[[int], Plan[Any]] | Entity) -> None:
    """Add a write to an open room of the first epoch, after earlier writes and items."""

    async def case(store: Store) -> Call:
        epoch = await open_room(store)
        for step in earlier:
            await (store.put(step) if isinstance(step, Entity) else store.write(step(epoch)))
        return lambda: store.write(plan)

    CASES[plan.label.rpartition(".")[2]] = case


def ids(count: int) -> list[CommentId]:
    """Ids of comments."""
    return [CommentId(uuid(5000 + number)) for number in range(count)]


ROOMS = list(rooms_of(Random(1), START, 60))
HIDDEN = [Mark(room_id=ROOM_ID, mark="HIDDEN", comment_id=it, at=instant_ms(START)) for it in ids(50)]
COUNTS = [Upvotes(room_id=ROOM_ID, comment_id=it, votes=12) for it in ids(30)]
BLOCKS = [Block(room_id=ROOM_ID, what="WORD", value=f"spam{number:02d}", at=instant_ms(START)) for number in range(30)]
VOTERS = [
    Upvote(room_id=ROOM_ID, comment_id=TARGET, sender_id=SenderId(f"guest:{number:012x}"), at=instant_ms(START))
    for number in range(60)
]
UPVOTED = [Upvote(room_id=ROOM_ID, comment_id=it, sender_id=SORA, at=instant_ms(START)) for it in ids(500)]
LOG = [
    LogEntry(room_id=ROOM_ID, at=instant_ms(START + n), log_id=LogId(uuid(n)), action="HIDE", subject=TARGET)
    for n in range(60)
]
MINUTES = [Reactions(room_id=ROOM_ID, minute=instant_ms(START + 60 * n), clap=120, aha=40, lol=7) for n in range(60)]
NUMBERED = [AnonymousSender(room_id=ROOM_ID, sender_id=SenderId(uuid(n)), number=n + 1) for n in range(100)]
SOCKETS = [socket(number) for number in range(99)]
CROWD = [SenderId(f"guest:{number:012x}") for number in range(97)]
AUDIENCE = list(audience(Random(1), START, ROOM_ID, WEB, 1000))

add_get_case("room", design.room(ROOM_ID), room())
add_get_case("room_now", design.room_now(ROOM_ID), room())
add_page_case("rooms_by_code", design.rooms_by_code("482159"), [room(code="482159")])
add_page_case("newest_rooms_of", design.newest_rooms_of(MIDORI), ROOMS, 50)
add_get_case("comment", design.comment(ROOM_ID, TARGET), COMMENTS[0])
add_page_case("comments_of", design.comments_of(ROOM_ID), COMMENTS, 50)
add_page_case("comments_after", design.comments_after(ROOM_ID, SEQ_START), COMMENTS, 50)
add_page_case("comments_before", design.comments_before(ROOM_ID, seq_of(1, 99)), COMMENTS, 50)
add_page_case("latest_comments", design.latest_comments(ROOM_ID), COMMENTS, 50)
add_page_case("comments_by", design.comments_by(SORA), [replace(comment(n), sender_id=SORA) for n in range(1, 501)])
add_get_case("connection", design.connection(AUDIENCE[0].connection_id), AUDIENCE[0])
add_page_case("connections_in", design.connections_in(ROOM_ID), AUDIENCE)
add_page_case("left_behind", design.left_behind(WEB, instant_ms(START + 999)), AUDIENCE)
add_page_case(
    "moderation_of", moderation.moderation_of(ROOM_ID), [*LOG[:20], *HIDDEN[:20], *COUNTS, *BLOCKS[:10], *VOTERS]
)
add_page_case("log_of", moderation.log_of(ROOM_ID), LOG, 50)
add_page_case("marks_of", moderation.marks_of(ROOM_ID), HIDDEN)
add_page_case("reactions_in", moderation.reactions_in(ROOM_ID), MINUTES)
add_page_case("marked", moderation.marked(ROOM_ID, "HIDDEN"), HIDDEN)
add_page_case("blocks_of", moderation.blocks_of(ROOM_ID), BLOCKS)
add_page_case("upvotes_in", moderation.upvotes_in(ROOM_ID), COUNTS)
add_page_case("anonymous_senders_in", moderation.anonymous_senders_in(ROOM_ID), NUMBERED)
add_get_case("host_names_in", moderation.host_names_in(ROOM_ID), HostNames(room_id=ROOM_ID, names=("みどり",) * 8))
add_get_case("upvotes_on", moderation.upvotes_on(ROOM_ID, ids(1)[0]), COUNTS[0])
add_page_case("upvoters_of", moderation.upvoters_of(ROOM_ID, TARGET), VOTERS, 50)
add_page_case("entries_about", moderation.entries_about(SORA), UPVOTED)

add_write_case(create_room(room(ROOMS[0].room_id)))
add_write_case(close_room(ROOM_ID, MIDORI, START, 1))
add_write_case(take_room(ROOM_ID))
add_write_case(release_code(ROOM_ID, "482159"), room(status="CLOSED"))
add_write_case(post_comments(COMMENTS, 1))
add_write_case(remove_own_comment(ROOM_ID, TARGET, SORA, START, 1), COMMENTS[0])
add_write_case(join(ROOM_ID, WEB, SOCKETS, START))
add_write_case(leave(SOCKETS[0]), lambda _: join(ROOM_ID, WEB, SOCKETS[:1], START))
add_write_case(
    sweep_connection(WEB, OwnedConnection(connection_id=SOCKETS[0], timestamp=NOW)),
    lambda _: join(ROOM_ID, WEB, SOCKETS[:1], START),
)
add_write_case(mark_comment(host_action(1), "PINNED", TARGET, 1), COMMENTS[0])
add_write_case(
    unmark_comment(host_action(2), "PINNED", TARGET, 1),
    COMMENTS[0],
    lambda _: mark_comment(host_action(1), "PINNED", TARGET, 1),
)
add_write_case(delete_comment(host_action(1), TARGET, 1), COMMENTS[0])
add_write_case(block_word(host_action(1), 1, "spam"))
add_write_case(unblock_word(host_action(2), 1, "spam"), lambda epoch: block_word(host_action(1), epoch, "spam"))
add_write_case(count_reactions(Reactions(room_id=ROOM_ID, minute=instant_ms(START), clap=1200, aha=40, lol=7), 1))
add_write_case(block_sender(host_action(1), 1, SORA, TARGET))
add_write_case(
    unblock_sender(host_action(2), 1, SORA, comment(1).comment_id),
    lambda epoch: block_sender(host_action(1), epoch, SORA, comment(1).comment_id),
)
add_write_case(pause_room(host_action(1), 1, True))
add_write_case(slow_room(host_action(1), 1, 30))
add_write_case(upvote_first(ROOM_ID, TARGET, CROWD, START, 1), COMMENTS[0])
add_write_case(
    upvote(ROOM_ID, TARGET, CROWD, START, 1), COMMENTS[0], lambda _: upvote_first(ROOM_ID, TARGET, [YUNA], START, 1)
)
add_write_case(
    withdraw_upvotes(ROOM_ID, TARGET, CROWD, len(CROWD), 1),
    COMMENTS[0],
    lambda _: upvote_first(ROOM_ID, TARGET, CROWD, START, 1),
)
