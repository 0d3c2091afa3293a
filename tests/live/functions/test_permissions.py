"""The document's table of permissions row by row, its departures, and the patterns that each function can use."""

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

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
)
from tests.support.store_reads import contents
from tests.support.stores import START
from zataku.clock import instant_ms
from zataku.live import design
from zataku.live.design import DEPARTURES, MATRIX, TABLES, OwnedConnection, comments, connections, moderation, rooms
from zataku.live.limits import SEQ_START, RoomId
from zataku.live.moderation import design as moderated
from zataku.live.moderation.design import AnonymousSender, Reactions
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
    release_code,
    remove_own_comment,
    sweep_connection,
    take_room,
    upvote,
    upvote_first,
    withdraw_upvotes,
)
from zataku.table import READ, READ_WRITE, ConditionFailed, NotGranted, Store, Table, TransactionCancelled
from zataku.table.export.cloudformation.policies import template_policy
from zataku.table.store.permissions import Action

TARGET = comment(1).comment_id
NEW, ENDED = RoomId("456e7890-e89b-42d3-a456-426614174001"), RoomId("456e7890-e89b-42d3-a456-426614174002")

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
# Rights of the document's functions beyond its rows.
ADDED: dict[tuple[str, Table], set[Action]] = {
    ("PostCommentFunction", rooms): {"ConditionCheckItem"},
    ("PostCommentFunction", moderation): {"PutItem"},
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


def write_call(plan: Any) -> Call:
    return lambda store: store.write(plan)


def get_call(key: Any) -> Call:
    return lambda store: store.get(key)


def query_call(query: Any) -> Call:
    return lambda store: read_all(store, query)


# Functions that may put items into the moderation table on a condition of the room.
MODERATION_WRITERS = {"ModerateRoom", "RemoveComment", "Upvote", "React", "PostComment"}
# Functions that may delete items there, too.
MODERATION_CLEANERS = {"ModerateRoom", "RemoveComment", "Upvote"}

# Every access pattern, with the functions that have the right to it. The room is open, in its first epoch.
CALLS: dict[str, tuple[Call, set[str]]] = {
    "room": (get_call(design.room(ROOM_ID)), {"CreateRoom", "CloseRoom", "GetUserRooms", "JoinRoom"}),
    "room_now": (get_call(design.room_now(ROOM_ID)), {"CreateRoom", "CloseRoom", "GetUserRooms", "JoinRoom"}),
    "rooms_by_code": (
        query_call(design.rooms_by_code("482159")),
        {"CreateRoom", "CloseRoom", "GetUserRooms", "JoinRoom"},
    ),
    "newest_rooms_of": (
        query_call(design.newest_rooms_of(MIDORI)),
        {"CreateRoom", "CloseRoom", "GetUserRooms", "JoinRoom"},
    ),
    "comment": (get_call(design.comment(ROOM_ID, TARGET)), {"PostComment", "GetRoomComments"}),
    "comments_of": (query_call(design.comments_of(ROOM_ID)), {"PostComment", "GetRoomComments"}),
    "comments_after": (query_call(design.comments_after(ROOM_ID, SEQ_START)), {"PostComment", "GetRoomComments"}),
    "comments_before": (query_call(design.comments_before(ROOM_ID, SEQ_START)), {"PostComment", "GetRoomComments"}),
    "latest_comments": (query_call(design.latest_comments(ROOM_ID)), {"PostComment", "GetRoomComments"}),
    "comments_by": (query_call(design.comments_by(SORA)), {"PostComment", "GetRoomComments"}),
    "connection": (get_call(design.connection(socket(1))), {"PostComment", "Disconnect", "JoinRoom"}),
    "connections_in": (
        query_call(design.connections_in(ROOM_ID)),
        {"PostComment", "Disconnect", "JoinRoom", "SweepConnections"},
    ),
    "left_behind": (
        query_call(design.left_behind(WEB, instant_ms(START))),
        {"PostComment", "Disconnect", "JoinRoom", "SweepConnections"},
    ),
    "moderation_of": (query_call(moderated.moderation_of(ROOM_ID)), {"OwnRoom", "GetRoomModeration"}),
    "log_of": (query_call(moderated.log_of(ROOM_ID)), {"OwnRoom", "GetRoomModeration"}),
    "marks_of": (query_call(moderated.marks_of(ROOM_ID)), {"OwnRoom", "GetRoomModeration"}),
    "reactions_in": (query_call(moderated.reactions_in(ROOM_ID)), {"OwnRoom", "GetRoomModeration"}),
    "marked": (query_call(moderated.marked(ROOM_ID, "PINNED")), {"OwnRoom", "GetRoomModeration"}),
    "blocks_of": (query_call(moderated.blocks_of(ROOM_ID)), {"OwnRoom", "GetRoomModeration"}),
    "upvotes_in": (query_call(moderated.upvotes_in(ROOM_ID)), {"OwnRoom", "GetRoomModeration"}),
    "anonymous_senders_in": (query_call(moderated.anonymous_senders_in(ROOM_ID)), {"OwnRoom", "GetRoomModeration"}),
    "host_names_in": (get_call(moderated.host_names_in(ROOM_ID)), {"OwnRoom", "GetRoomModeration"}),
    "upvotes_on": (get_call(moderated.upvotes_on(ROOM_ID, TARGET)), {"OwnRoom", "GetRoomModeration"}),
    "upvoters_of": (query_call(moderated.upvoters_of(ROOM_ID, TARGET)), {"OwnRoom", "GetRoomModeration"}),
    "entries_about": (query_call(moderated.entries_about(SORA)), {"OwnRoom", "GetRoomModeration"}),
    "create_room": (write_call(create_room(room(NEW))), {"CreateRoom", "CloseRoom"}),
    "post_comments": (
        write_call(post_comments([comment(3)], 1, [AnonymousSender(room_id=ROOM_ID, sender_id=SORA, number=1)])),
        {"PostComment"},
    ),
    "join": (write_call(join(ROOM_ID, WEB, [socket(2)], START)), {"JoinRoom"}),
    "sweep_connection": (
        write_call(sweep_connection(WEB, OwnedConnection(connection_id=socket(1), timestamp=NOW))),
        {"Disconnect", "JoinRoom", "SweepConnections"},
    ),
    "leave": (write_call(leave(socket(2))), {"Disconnect", "JoinRoom", "SweepConnections"}),
    "mark_comment": (
        write_call(mark_comment(host_action(11), "HIDDEN", TARGET, 1)),
        {"ModerateRoom", "Upvote", "PostComment"},
    ),
    "unmark_comment": (
        write_call(unmark_comment(host_action(12), "PINNED", TARGET, 1)),
        MODERATION_CLEANERS,
    ),
    "block_word": (write_call(block_word(host_action(13), 1, "spam")), MODERATION_WRITERS),
    "unblock_word": (write_call(unblock_word(host_action(14), 1, "spam")), MODERATION_CLEANERS),
    "block_sender": (write_call(block_sender(host_action(18), 1, SORA, TARGET)), MODERATION_WRITERS),
    "unblock_sender": (write_call(unblock_sender(host_action(19), 1, YUNA, TARGET)), MODERATION_CLEANERS),
    "count_reactions": (
        write_call(count_reactions(Reactions(room_id=ROOM_ID, minute=NOW, clap=1), 1)),
        MODERATION_WRITERS,
    ),
    "pause_room": (write_call(pause_room(host_action(15), 1, True)), {"ModerateRoom"}),
    "slow_room": (write_call(slow_room(host_action(16), 1, 9)), {"ModerateRoom"}),
    "upvote_first": (
        write_call(upvote_first(ROOM_ID, TARGET, [YUNA], START, 1)),
        {"ModerateRoom", "Upvote", "PostComment"},
    ),
    "upvote": (write_call(upvote(ROOM_ID, TARGET, [SORA], START, 1)), {"Upvote"}),
    "withdraw_upvotes": (write_call(withdraw_upvotes(ROOM_ID, TARGET, [SORA], 2, 1)), {"Upvote"}),
    "remove_own_comment": (
        write_call(remove_own_comment(ROOM_ID, TARGET, SORA, START, 1)),
        {"RemoveComment", "ModerateRoom"},
    ),
    "delete_comment": (
        write_call(delete_comment(host_action(17), comment(2).comment_id, 1)),
        {"ModerateRoom", "RemoveComment"},
    ),
    "release_code": (
        write_call(release_code(ENDED, "482160")),
        {"CreateRoom", "CloseRoom", "OwnRoom", "ModerateRoom"},
    ),
    "take_room": (write_call(take_room(ROOM_ID)), {"CreateRoom", "CloseRoom", "OwnRoom", "ModerateRoom"}),
    "close_room": (
        write_call(close_room(ROOM_ID, MIDORI, START, 5)),
        {"CreateRoom", "CloseRoom", "OwnRoom", "ModerateRoom"},
    ),
}


async def fill_room(store: Store) -> None:
    epoch = await open_room(store)
    await store.put(room(ENDED, status="CLOSED", code="482160"))
    for plan in (
        post_comments([comment(1), comment(2)], epoch),
        join(ROOM_ID, WEB, [socket(1)], START),
        block_sender(host_action(1), epoch, YUNA, comment(1).comment_id),
        mark_comment(host_action(2), "PINNED", TARGET, 1),
    ):
        await store.write(plan)


def test_the_rows_of_the_document_are_granted_and_what_is_added_is_listed() -> None:
    granted = {(rights.function, grant.table): set(grant.actions) for rights in MATRIX for grant in rights.grants}
    documented = {row: actions for row, actions in granted.items() if row[0] not in OWN_ROWS}
    expected = {(function, table): set(actions) for function, table, actions in DOCUMENT}
    for row, actions in ADDED.items():
        expected[row] = expected.get(row, set()) | actions
    assert documented == expected
    assert {rights.function for rights in MATRIX} == OWN_ROWS | {function for function, _, _ in DOCUMENT}


def test_every_right_beyond_the_document_is_listed_as_a_departure() -> None:
    differences = " ".join(departure.difference for departure in DEPARTURES)
    assert [name for name in {function for function, _ in ADDED} | OWN_ROWS if f"`{name}`" not in differences] == []
    assert all(departure.reason and departure.figure for departure in DEPARTURES)


def test_the_departures_count_rows_grants_and_unused_actions() -> None:
    own_rows = [rights for rights in MATRIX if rights.function in OWN_ROWS]
    figures = [departure.figure for departure in DEPARTURES]
    assert f"{len(own_rows)} rows, {sum(len(rights.grants) for rights in own_rows)} grants." in figures
    assert f"{len(READ)} actions, none of which writes." in figures


def test_every_access_pattern_has_a_call() -> None:
    assert set(CALLS) == {name for table in TABLES for name in (*table.patterns, *table.writes)}


async def test_each_pattern_is_carried_out_with_the_rights_and_refused_without(priced: Store) -> None:
    await fill_room(priced)
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
            # A condition may refuse a repetition; a missing right raises `NotGranted` before that.
            with suppress(ConditionFailed, TransactionCancelled):
                await call(priced.restricted(MATRIX[f"{function}Function"]))


def test_the_policies_of_functions_name_the_tables_of_their_environment() -> None:
    for rights in MATRIX:
        text = json.dumps(template_policy(rights, "prod"))
        for grant in rights.grants:
            assert all(f"dynamodb:{action}" in text for action in grant.actions)
    sweep_policy = template_policy(MATRIX["SweepConnectionsFunction"], "prod")
    assert "PutItem" not in json.dumps(sweep_policy)
    # A comment is stored with the number of its sender, and changes nothing else of the moderation.
    documented = [grant for function in sorted({row[0] for row in DOCUMENT}) for grant in MATRIX[function].grants]
    assert [grant.actions for grant in documented if grant.table is moderation] == [{"PutItem"}]
