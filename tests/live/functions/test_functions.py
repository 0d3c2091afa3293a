"""The functions of the permission matrix: each has the rights of its row, and uses those beyond the document."""

from collections import defaultdict
from typing import Any

import pytest
from msgspec.structs import replace

from tests.live.entities import ROOM_ID, SORA, comment, room, socket, uuid
from tests.live.functions.test_permissions import DOCUMENT as DOCUMENT_ROWS
from tests.live.room.room_commands import MIDORI as HOST
from tests.live.room.room_commands import ROOM_ID as ROOM
from tests.live.room.room_commands import SORA as SENDER
from tests.live.room.room_commands import command_of, execute_all, guest, open_live_room, post_comment
from tests.support.stores import START
from zataku.clock import instant_ms
from zataku.live.design import MATRIX, TABLES, Comment, Connection, Room
from zataku.live.functions import Function, comments, connections, moderation, ownership, rooms
from zataku.live.functions import post_comment as post_comment_module
from zataku.live.limits import CommentId, ProcessName
from zataku.live.messages import DeleteComment, MarkComment, PauseRoom, React, RetractComment, Upvote
from zataku.live.moderation.design import Upvotes
from zataku.live.rules.moderation_state import ModerationState
from zataku.table import Entity, Key, NotGranted, Store
from zataku.table.store.restricted_backend import RestrictedBackend

DOCUMENT = {(function, table): actions for function, table, actions in DOCUMENT_ROWS}
FUNCTIONS = {it.__name__: it for it in Function.__subclasses__()}
KEYS: dict[str, Key[Entity]] = {
    "Rooms": Room.key(room_id=ROOM_ID),
    "Comments": Comment.key(room_id=ROOM_ID, comment_id=comment(1).comment_id),
    "Connections": Connection.key(connection_id=socket(1)),
    "Moderation": Upvotes.key(room_id=ROOM_ID, comment_id=CommentId(comment(1).comment_id)),
}


def test_every_row_of_the_matrix_is_a_use_case_and_every_use_case_a_row() -> None:
    assert set(FUNCTIONS) == {rights.function for rights in MATRIX}
    assert {it.__module__ for it in FUNCTIONS.values()} == {
        it.__name__ for it in (comments, connections, moderation, ownership, post_comment_module, rooms)
    }


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
async def test_a_function_reads_and_deletes_what_its_row_grants_and_nothing_else(embedded: Store, name: str) -> None:
    await embedded.write_many(put=[room(), comment(1)])
    limited = FUNCTIONS[name](embedded)._store
    granted = {grant.table.name: grant.actions for grant in MATRIX[name].grants}
    for table in TABLES:
        key = KEYS[table.name.split("-")[1]]
        actions = granted.get(table.name, frozenset())
        for action, call in (("GetItem", limited.get), ("DeleteItem", limited.delete)):
            if action not in actions:
                with pytest.raises(NotGranted):
                    await call(key)
            elif action == "GetItem":
                await call(key)
    assert await embedded.get(KEYS["Comments"]) == comment(1)
    assert comment(1).sender_id == SORA


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], set[str]]:
    """The actions that functions perform during the test, by function and table."""
    performed: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    require = RestrictedBackend._require

    def record(self: Any, action: str, table: Any, *index: Any) -> None:
        require(self, action, table, *index)  # pyright: ignore[reportArgumentType]
        performed[self._function, table.name].add(action)

    monkeypatch.setattr(RestrictedBackend, "_require", record)
    return performed


async def test_a_function_uses_every_right_that_it_has_beyond_the_document(
    embedded: Store, used: dict[tuple[str, str], set[str]]
) -> None:
    live_room = await open_live_room(embedded)
    first, second = CommentId(uuid(1)), CommentId(uuid(2))
    commands = [
        post_comment("question", id=first),
        post_comment("mistake", id=second),
        post_comment("welcome", HOST, nickname="みどり"),
        command_of(Upvote(comment_id=first), guest(1)),
        command_of(Upvote(comment_id=first), guest(2)),
        command_of(Upvote(comment_id=first, on=False), guest(2)),
        command_of(RetractComment(comment_id=second), SENDER),
        command_of(MarkComment(comment_id=first, mark="PINNED")),
        command_of(MarkComment(comment_id=first, mark="PINNED", on=False)),
        command_of(PauseRoom()),
        command_of(PauseRoom(on=False)),
        command_of(DeleteComment(comment_id=first)),
    ]
    state = await live_room.acquire(ROOM)
    for command in commands:
        state = (await execute_all(live_room, state, [command])).state
    state = live_room.handle_transient(state, command_of(React(reaction="clap")), START).state
    await live_room.flush(state)
    # A retry of a deleted comment looks for its mark.
    retry = replace(post_comment("mistake", id=second), is_retry=True)
    await execute_all(live_room, replace(state, moderation=ModerationState()), [retry])
    await moderation.GetRoomModerationFunction(embedded).log(ROOM)
    await moderation.GetRoomModerationFunction(embedded).votes(ROOM, [first])
    await connections.JoinRoomFunction(embedded)(ROOM, ProcessName("web-1"), [socket(1)], START)
    assert await connections.SweepConnectionsFunction(embedded)(ProcessName("web-1"), instant_ms(START + 1)) == 1

    for permissions in MATRIX:
        for grant in permissions.grants:
            documented = DOCUMENT.get((permissions.function, grant.table), frozenset())
            unused = grant.actions - documented - used[permissions.function, embedded.schema(grant.table).name]
            assert not unused, f"{permissions.function} on {grant.table.name}"
