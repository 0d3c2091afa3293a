"""Permission matrices: their wording, and the errors of invalid ones."""

import pytest

from tests.support.designs import live
from zataku.table import CHECK, DELETE, READ, READ_WRITE, STREAM, WRITE, DesignError, Grant, PermissionMatrix
from zataku.table.export import design_document
from zataku.table.schema.design_notes import Departure


def test_every_row_of_the_documented_matrix_has_its_wording() -> None:
    rows = [(rights.function, grant.table.name, grant.description) for rights in live.matrix for grant in rights.grants]
    rooms, comments, sockets = (table.name for table in live.TABLES)
    assert rows == [
        ("CreateRoomFunction", rooms, "read and write"),
        ("PostCommentFunction", comments, "read and write"),
        ("PostCommentFunction", sockets, "read, delete"),
        ("PostCommentFunction", rooms, "condition check"),
        ("GetRoomCommentsFunction", comments, "read"),
        ("CloseRoomFunction", rooms, "read and write"),
        ("CloseRoomFunction", sockets, "read"),
        ("GetUserRoomsFunction", rooms, "read"),
        ("DisconnectFunction", sockets, "read and write"),
        ("JoinRoomFunction", sockets, "read and write"),
        ("JoinRoomFunction", rooms, "read"),
        ("CountCommentsFunction", comments, "read the stream"),
    ]


def test_sets_of_actions_are_described_in_words() -> None:
    def description(actions: frozenset[str]) -> str:
        return Grant(live.comments, actions).description  # pyright: ignore[reportArgumentType]

    assert description(READ | STREAM) == "read, read the stream"
    assert description(WRITE | CHECK) == "write, condition check"
    assert description(READ_WRITE - {"Scan"}) == "write, condition check, GetItem, BatchGetItem, Query"
    assert description(DELETE | {"PutItem"}) == "delete, PutItem"


def test_two_grants_on_one_table_are_refused() -> None:
    with pytest.raises(DesignError, match="Poster has two grants on LiveComment-Rooms-{env}. Combine their actions"):
        PermissionMatrix({"Poster": [Grant(live.rooms, READ), Grant(live.rooms, WRITE)]})


def test_a_function_without_grants_is_refused() -> None:
    with pytest.raises(DesignError, match="Idler has no grants"):
        PermissionMatrix({"Idler": []})


def test_a_matrix_without_functions_is_refused() -> None:
    with pytest.raises(DesignError, match="has no functions"):
        PermissionMatrix({})


def test_a_function_name_that_is_not_valid_in_iam_is_refused() -> None:
    with pytest.raises(DesignError, match="letters, digits, hyphens"):
        PermissionMatrix({"Post Comment": [Grant(live.rooms, READ)]})


def test_an_unknown_function_is_refused_with_the_known_ones() -> None:
    with pytest.raises(DesignError, match="has no function 'PostComment'. It has: CreateRoomFunction,"):
        live.matrix["PostComment"]


def test_invalid_grants_are_refused() -> None:
    with pytest.raises(DesignError, match="names no action. It takes: GetItem,"):
        Grant(live.rooms, frozenset())
    with pytest.raises(DesignError, match="names DropTable"):
        Grant(live.rooms, frozenset({"DropTable"}))  # pyright: ignore[reportArgumentType]
    with pytest.raises(DesignError, match="has no stream to read"):
        Grant(live.rooms, STREAM)
    with pytest.raises(DesignError, match="an index of another table"):
        Grant(live.rooms, READ, (live.by_room,))


def test_the_document_shows_the_matrix_and_its_departures() -> None:
    departures = [Departure("PostComment checks the room", "A closed room takes no comment.", "1 unit each")]
    text = design_document(live.TABLES, title="Live", env="dev", rights=live.matrix, departures=departures)
    assert "| `PostCommentFunction`     | LiveComment-Rooms       | condition check | –       |" in text
    assert "| PostComment checks the room | A closed room takes no comment. | 1 unit each |" in text
    assert "(#permissions)" in text
    assert "(#departures)" in text
