"""Open sockets: a table and an index without sort keys, keyed by plain attributes."""

from zataku.table import Entity, Span, Table

connections = Table("LiveComment-Connections", pk="connectionId")
by_room = connections.index("roomId-index", pk="roomId")


@connections.entity(pk="{connection_id}", index={"roomId": "{room_id}"})
class Connection(Entity, frozen=True, kw_only=True, rename="camel"):
    """An open socket, which is in the index while it is in a room."""

    connection_id: str
    room_id: str | None = None
    timestamp: str = "2025-02-19T10:00:00Z"


@connections.query(returns=Connection)
def connections_in(room_id: str) -> Span:
    """The open sockets in a room."""
    return by_room.partition(room_id)
