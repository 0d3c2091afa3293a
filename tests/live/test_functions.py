"""The functions of the document's matrix, each a use case with a handle that can do what its row grants and no more."""

import pytest

from tests.live.entities import HALL, SORA, room, said, socket
from zataku.live.design import MATRIX, TABLES, Comment, Connection, Room
from zataku.live.functions import Function, comments, connections, moderation, ownership, post_comment, rooms
from zataku.live.limits import CommentId
from zataku.live.moderation.design import Upvotes
from zataku.table import Entity, Key, NotGranted, Store

FUNCTIONS = {it.__name__: it for it in Function.__subclasses__()}
KEYS: dict[str, Key[Entity]] = {
    "Rooms": Room.key(room_id=HALL),
    "Comments": Comment.key(room_id=HALL, comment_id=said(1).comment_id),
    "Connections": Connection.key(connection_id=socket(1)),
    "Moderation": Upvotes.key(room_id=HALL, comment_id=CommentId(said(1).comment_id)),
}


def test_every_row_of_the_matrix_is_a_use_case_and_every_use_case_a_row() -> None:
    assert set(FUNCTIONS) == {rights.function for rights in MATRIX}
    assert {it.__module__ for it in FUNCTIONS.values()} == {
        it.__name__ for it in (comments, connections, moderation, ownership, post_comment, rooms)
    }


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
async def test_a_function_reads_and_deletes_what_its_row_grants_and_nothing_else(embedded: Store, name: str) -> None:
    await embedded.write_many(put=[room(), said(1)])
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
    assert await embedded.get(KEYS["Comments"]) == said(1)
    assert said(1).sender_id == SORA
