"""The document's table of permissions row by row, what departs from it, and what each function can do."""

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from tests.live.entities import HALL, MIDORI, NOW, SORA, WEB, YUNA, act, all_of, opened_room, room, said, socket
from tests.support.store_reads import contents
from tests.support.stores import START
from zataku.clock import instant_ms
from zataku.live import design
from zataku.live.design import DEPARTURES, MATRIX, TABLES, OwnedConnection, comments, connections, moderation, rooms
from zataku.live.limits import SEQ_START, RoomId
from zataku.live.moderation import design as moderated
from zataku.live.moderation.design import Reactions
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
from zataku.table import READ, READ_WRITE, ConditionFailed, NotGranted, Store, Table, TransactionCancelled
from zataku.table.export.cloudformation.policies import template_policy
from zataku.table.store.permissions import Action

TARGET = said(1).comment_id
NEW = RoomId("456e7890-e89b-42d3-a456-426614174001")

# データアクセス権限
DOCUMENT: list[tuple[str, Table, frozenset[Action]]] = [
    ("CreateRoomFunction", rooms, READ_WRITE),
    ("PostCommentFunction", comments, READ_WRITE),
    ("PostCommentFunction", connections, READ),
    ("GetRoomCommentsFunction", comments, READ),
    ("CloseRoomFunction", rooms, READ_WRITE),
    ("GetUserRoomsFunction", rooms, READ),
    ("DisconnectFunction", connections, READ_WRITE),
    ("JoinRoomFunction", connections, READ_WRITE),
    ("JoinRoomFunction", rooms, READ),
]
# What a function of the document may do beyond its rows.
ADDED: dict[tuple[str, Table], set[Action]] = {
    ("PostCommentFunction", rooms): {"ConditionCheckItem"},
}
OWN_ROWS = {
    "OwnRoomFunction",
    "SweepConnectionsFunction",
    "ModerateRoomFunction",
    "RemoveCommentFunction",
    "UpvoteFunction",
    "ReactFunction",
    "GetRoomModerationFunction",
}

Call = Callable[[Store], Awaitable[Any]]


def written(plan: Any) -> Call:
    return lambda store: store.write(plan)


def got(key: Any) -> Call:
    return lambda store: store.get(key)


def asked(query: Any) -> Call:
    return lambda store: all_of(store, query)


# Whoever may put anything there on condition of the room.
WHO_PUTS = {"ModerateRoom", "RemoveComment", "Upvote", "React"}

# Every access pattern, with the functions that have the right to it. The room is open, in its first epoch.
CALLS: dict[str, tuple[Call, set[str]]] = {
    "room": (got(design.room(HALL)), {"CreateRoom", "CloseRoom", "GetUserRooms", "JoinRoom"}),
    "room_now": (got(design.room_now(HALL)), {"CreateRoom", "CloseRoom", "GetUserRooms", "JoinRoom"}),
    "rooms_by_code": (
        asked(design.rooms_by_code("482159")),
        {"CreateRoom", "CloseRoom", "GetUserRooms", "JoinRoom"},
    ),
    "newest_rooms_of": (
        asked(design.newest_rooms_of(MIDORI)),
        {"CreateRoom", "CloseRoom", "GetUserRooms", "JoinRoom"},
    ),
    "oldest_rooms_of": (
        asked(design.oldest_rooms_of(MIDORI)),
        {"CreateRoom", "CloseRoom", "GetUserRooms", "JoinRoom"},
    ),
    "comment": (got(design.comment(HALL, TARGET)), {"PostComment", "GetRoomComments"}),
    "comments_of": (asked(design.comments_of(HALL)), {"PostComment", "GetRoomComments"}),
    "comments_after": (asked(design.comments_after(HALL, SEQ_START)), {"PostComment", "GetRoomComments"}),
    "comments_before": (asked(design.comments_before(HALL, SEQ_START)), {"PostComment", "GetRoomComments"}),
    "latest_comments": (asked(design.latest_comments(HALL)), {"PostComment", "GetRoomComments"}),
    "connection": (got(design.connection(socket(1))), {"PostComment", "Disconnect", "JoinRoom"}),
    "connections_in": (
        asked(design.connections_in(HALL)),
        {"PostComment", "Disconnect", "JoinRoom", "SweepConnections"},
    ),
    "left_behind": (
        asked(design.left_behind(WEB, instant_ms(START))),
        {"PostComment", "Disconnect", "JoinRoom", "SweepConnections"},
    ),
    "moderation_of": (asked(moderated.moderation_of(HALL)), {"OwnRoom", "GetRoomModeration"}),
    "log_of": (asked(moderated.log_of(HALL)), {"OwnRoom", "GetRoomModeration"}),
    "marks_of": (asked(moderated.marks_of(HALL)), {"OwnRoom", "GetRoomModeration"}),
    "reactions_in": (asked(moderated.reactions_in(HALL)), {"OwnRoom", "GetRoomModeration"}),
    "marked": (asked(moderated.marked(HALL, "PINNED")), {"OwnRoom", "GetRoomModeration"}),
    "blocks_of": (asked(moderated.blocks_of(HALL)), {"OwnRoom", "GetRoomModeration"}),
    "upvotes_in": (asked(moderated.upvotes_in(HALL)), {"OwnRoom", "GetRoomModeration"}),
    "upvotes_on": (got(moderated.upvotes_on(HALL, TARGET)), {"GetRoomModeration"}),
    "upvoters_of": (asked(moderated.upvoters_of(HALL, TARGET)), {"OwnRoom", "GetRoomModeration"}),
    "create_room": (written(create_room(room(NEW))), {"CreateRoom", "CloseRoom"}),
    "post_comments": (written(post_comments([said(3)], 1)), {"PostComment"}),
    "join": (written(join(HALL, WEB, [socket(2)], START)), {"JoinRoom"}),
    "sweep_connection": (
        written(sweep_connection(WEB, OwnedConnection(connection_id=socket(1), timestamp=NOW))),
        {"Disconnect", "JoinRoom", "SweepConnections"},
    ),
    "leave": (written(leave(socket(2))), {"Disconnect", "JoinRoom", "SweepConnections"}),
    "mark_comment": (written(mark_comment(act(11), "HIDDEN", TARGET, 1)), {"ModerateRoom", "Upvote"}),
    "unmark_comment": (written(unmark_comment(act(12), "PINNED", TARGET, 1)), {"ModerateRoom", "RemoveComment"}),
    "block_word": (written(block_word(act(13), 1, "spam")), WHO_PUTS),
    "unblock_word": (written(unblock_word(act(14), 1, "spam")), {"ModerateRoom", "RemoveComment"}),
    "block_sender": (written(block_sender(act(18), 1, SORA, TARGET)), WHO_PUTS),
    "unblock_sender": (written(unblock_sender(act(19), 1, YUNA, TARGET)), {"ModerateRoom", "RemoveComment"}),
    "count_reactions": (
        written(count_reactions(Reactions(room_id=HALL, minute=NOW, clap=1), 1)),
        WHO_PUTS,
    ),
    "pause_room": (written(pause_room(act(15), 1, True)), {"ModerateRoom"}),
    "slow_room": (written(slow_room(act(16), 1, 9)), {"ModerateRoom"}),
    "upvote_first": (written(upvote_first(HALL, TARGET, [YUNA], START, 1)), {"ModerateRoom", "Upvote"}),
    "upvote": (written(upvote(HALL, TARGET, [SORA], START, 1)), {"Upvote"}),
    "remove_own_comment": (
        written(remove_own_comment(HALL, TARGET, SORA, START, 1)),
        {"RemoveComment", "ModerateRoom"},
    ),
    "delete_comment": (
        written(delete_comment(act(17), said(2).comment_id, 1)),
        {"ModerateRoom", "RemoveComment"},
    ),
    "take_room": (written(take_room(HALL)), {"CreateRoom", "CloseRoom", "OwnRoom", "ModerateRoom"}),
    "close_room": (
        written(close_room(HALL, MIDORI, START, 5)),
        {"CreateRoom", "CloseRoom", "OwnRoom", "ModerateRoom"},
    ),
}


async def a_room_in_use(store: Store) -> None:
    epoch = await opened_room(store)
    for plan in (
        post_comments([said(1), said(2)], epoch),
        join(HALL, WEB, [socket(1)], START),
        block_sender(act(1), epoch, YUNA, said(1).comment_id),
        mark_comment(act(2), "PINNED", TARGET, 1),
    ):
        await store.write(plan)


def test_the_rows_of_the_document_are_granted_and_what_is_added_is_listed() -> None:
    granted = {(rights.function, grant.table): set(grant.actions) for rights in MATRIX for grant in rights.grants}
    known = {place: actions for place, actions in granted.items() if place[0] not in OWN_ROWS}
    wanted = {(function, table): set(actions) for function, table, actions in DOCUMENT}
    for place, actions in ADDED.items():
        wanted[place] = wanted.get(place, set()) | actions
    assert known == wanted
    assert {rights.function for rights in MATRIX} == OWN_ROWS | {function for function, _, _ in DOCUMENT}


def test_every_right_beyond_the_document_is_a_departure() -> None:
    told = " ".join(departure.difference for departure in DEPARTURES)
    assert [name for name in {function for function, _ in ADDED} | OWN_ROWS if f"`{name}`" not in told] == []
    assert all(departure.reason and departure.figure for departure in DEPARTURES)


def test_every_access_pattern_is_tried() -> None:
    assert set(CALLS) == {name for table in TABLES for name in (*table.patterns, *table.writes)}


async def test_each_pattern_is_carried_out_with_the_rights_and_refused_without(priced: Store) -> None:
    await a_room_in_use(priced)
    for call, allowed in CALLS.values():
        before = await contents(priced)
        for rights in MATRIX:
            if rights.function.removesuffix("Function") not in allowed:
                with pytest.raises(NotGranted):
                    await call(priced.restricted(rights))
        assert await contents(priced) == before
        first, *others = sorted(allowed)
        await call(priced.restricted(MATRIX[f"{first}Function"]))
        for function in others:
            # What the first has done cannot always be done again; a missing right would be told all the same.
            with suppress(ConditionFailed, TransactionCancelled):
                await call(priced.restricted(MATRIX[f"{function}Function"]))


def test_the_policies_of_functions_name_the_tables_of_their_environment() -> None:
    for rights in MATRIX:
        text = json.dumps(template_policy(rights, "prod"))
        for grant in rights.grants:
            assert all(f"dynamodb:{action}" in text for action in grant.actions)
    sweeping = template_policy(MATRIX["SweepConnectionsFunction"], "prod")
    assert "PutItem" not in json.dumps(sweeping)
    assert moderation not in {grant.table for function, *_ in DOCUMENT for grant in MATRIX[function].grants}
