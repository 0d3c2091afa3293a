"""Items with exactly the attributes of the document are decoded and encoded without a change."""

import pytest

from zataku.live.design import Comment, Connection, Room
from zataku.table import Entity
from zataku.table.schema.entity import binding_of

ROOM = {
    "roomId": "456e7890-e89b-42d3-a456-426614174001",
    "name": "技術発表会 2026",
    "hostId": "host-123",
    "status": "OPEN",
    "createdAt": "2026-02-21T10:30:00.000Z",
    "updatedAt": "2026-02-21T10:30:00.000Z",
}
COMMENT = {
    "roomId": "456e7890-e89b-42d3-a456-426614174001",
    "commentId": "0c2f1c9e-5a44-4d0b-9d53-2f6f0a4c7a11",
    "content": "とても分かりやすいです！",
    "nickname": "Anonymous",
    "createdAt": "2026-02-21T10:31:12.345Z",
}
CONNECTION = {
    "connectionId": "L0SM9cOFvHcCIhw=",
    "roomId": "456e7890-e89b-42d3-a456-426614174001",
    "timestamp": "2026-02-21T10:30:30.000Z",
}


@pytest.mark.parametrize(("kind", "item"), [(Room, ROOM), (Comment, COMMENT), (Connection, CONNECTION)])
def test_an_item_of_the_document_survives_a_round_trip(kind: type[Entity], item: dict[str, str]) -> None:
    binding = binding_of(kind)
    assert binding.encode(binding.decode(item)) == item  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(("kind", "item"), [(Room, ROOM), (Comment, COMMENT), (Connection, CONNECTION)])
def test_every_attribute_of_the_document_is_required(kind: type[Entity], item: dict[str, str]) -> None:
    required = {field.attribute for field in binding_of(kind).stored if field.required}
    assert required | ({"nickname"} if kind is Comment else set()) == set(item)
