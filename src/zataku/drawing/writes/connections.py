"""Writes of a player's connection: opened, kept alive, closed."""

from zataku.drawing.design import Connection, esiritori
from zataku.drawing.limits import CONNECTION_SECONDS, ConnectionId, GameId, Moment, PlayerId, seconds_after
from zataku.table import Budget, Plan, delete, path, put, update

_connection_id = path(Connection, lambda connection: connection.connection_id)
_connected_at = path(Connection, lambda connection: connection.connected_at)
_connected_game = path(Connection, lambda connection: connection.game_id)
_last_active = path(Connection, lambda connection: connection.last_active_at)
_connection_ttl = path(Connection, lambda connection: connection.ttl)


@esiritori.write(budget=Budget(writes=1, of="any connection"))
def connect(connection: Connection) -> Plan[Connection]:
    """Store a player's new connection, in place of any earlier one."""
    return Plan(put(connection))


@esiritori.write(budget=Budget(writes=1, of="any connection"))
def touch_connection(player_id: PlayerId, connection_id: ConnectionId, now: Moment) -> Plan[Connection]:
    """Extend a connection by another 24 hours, if it is still the player's current one."""
    until = seconds_after(now, CONNECTION_SECONDS)
    key = Connection.key(player_id=player_id)
    return Plan(
        update(key, _last_active.set(now), _connection_ttl.set(until), when=_connection_id.equals(connection_id))
    )


@esiritori.write(budget=Budget(writes=1, of="any connection"))
def disconnect(player_id: PlayerId, connection_id: ConnectionId) -> Plan[Connection]:
    """Delete a closed connection; a newer one of the same player stays."""
    return Plan(delete(Connection.key(player_id=player_id), when=_connection_id.equals(connection_id)))


@esiritori.write(budget=Budget(writes=1, of="any connection"))
def release_connection(game_id: GameId, player_id: PlayerId, left_at: Moment) -> Plan[Connection]:
    """Delete the connection of a player who left a game or was kicked.

    The connection of a player who has joined another game, or has come back, stays. Should a server stop before this
    write, the connection expires after 24 hours; only the game's list of players decides who is seated.
    """
    outdated = _connected_game.equals(game_id) & _connected_at.below(left_at)
    return Plan(delete(Connection.key(player_id=player_id), when=outdated))
