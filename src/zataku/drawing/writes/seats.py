"""Writes of a waiting room, and of its seats at any time."""

from msgspec.structs import replace

from zataku.drawing.design import Connection, Game, Seat, esiritori
from zataku.drawing.errors import SeatUnavailable, WrongState
from zataku.drawing.limits import (
    CONNECTION_SECONDS,
    RETENTION_SECONDS,
    WAITING_ROOM_SECONDS,
    ConnectionId,
    Epoch,
    GameId,
    Kana,
    Moment,
    PlayerId,
    PlayerName,
    ReadyStatus,
    RoundId,
    TurnId,
    seconds_after,
)
from zataku.drawing.rules.turns import new_turn
from zataku.drawing.values import CurrentRound, Player, Settings, Suggestions
from zataku.drawing.writes.examples import DRAWING, GUEST, HOST, ROOM, WORDS
from zataku.drawing.writes.game_update import replace_player, require_host, require_seated, require_status, update_game
from zataku.table import Budget, Plan, Step, path, put

_BY_HOST = {"game": ROOM, "epoch": ROOM.epoch, "host_id": HOST.id, "now": ROOM.updated_at + 1}
_BY_GUEST = {"game": ROOM, "epoch": ROOM.epoch, "player_id": GUEST.id, "now": ROOM.updated_at + 1}

_seat_joined_at = path(Seat, lambda seat: seat.joined_at)
_seat_left_at = path(Seat, lambda seat: seat.left_at)


def _seat_steps(game_id: GameId, player: Player) -> list[Step[Seat] | Step[Connection]]:
    """Steps that put a player's seat and connection."""
    at = player.joined_at
    seat = Seat(
        game_id=game_id,
        player_id=player.id,
        player_name=player.name,
        joined_at=at,
        ttl=seconds_after(at, RETENTION_SECONDS),
    )
    is_free = _seat_joined_at.missing() | _seat_left_at.exists()
    steps: list[Step[Seat] | Step[Connection]] = [put(seat, when=is_free)]
    if player.connection_id is not None:
        connection = Connection(
            player_id=player.id,
            player_name=player.name,
            game_id=game_id,
            connection_id=player.connection_id,
            connected_at=at,
            last_active_at=at,
            ttl=seconds_after(at, CONNECTION_SECONDS),
        )
        steps.append(put(connection))
    return steps


def _new_player(player_id: PlayerId, name: PlayerName, connection_id: ConnectionId | None, now: Moment) -> Player:
    """A player who has just joined: not ready, without points."""
    return Player(id=player_id, name=name, joined_at=now, connection_id=connection_id)


@esiritori.write(budget=Budget(writes=8, of="a public room"), example={"connection_id": HOST.connection_id})
def create_game(
    game_id: GameId,
    host_id: PlayerId,
    name: PlayerName,
    connection_id: ConnectionId | None,
    settings: Settings,
    now: Moment,
) -> Plan[Game]:
    """Create a room, with its host in the first seat. It expires after a day unless the game starts."""
    host = _new_player(host_id, name, connection_id, now)
    game = Game(
        game_id=game_id,
        created_at=now,
        updated_at=now,
        settings=settings,
        players=(host,),
        host_id=host_id,
        ttl=seconds_after(now, WAITING_ROOM_SECONDS),
    )
    return Plan(put(game, if_absent=True), *_seat_steps(game_id, host))


@esiritori.write(
    budget=Budget(writes=9, of="the last of 10 seats"),
    example={**_BY_GUEST, "game": replace(ROOM, players=(HOST,)), "connection_id": GUEST.connection_id},
)
def take_seat(
    game: Game,
    epoch: Epoch,
    player_id: PlayerId,
    name: PlayerName,
    connection_id: ConnectionId | None,
    now: Moment,
) -> Plan[Game]:
    """Seat a player in a waiting room with a free seat. Of several who take the last seat at once, one gets it.

    The first player in an empty room becomes its host.
    """
    require_status(game, "waiting")
    if any(other.id == player_id for other in game.players):
        raise SeatUnavailable("This player has a seat already.")
    if len(game.players) >= game.settings.player_count:
        raise SeatUnavailable("Every seat is taken.")
    player = _new_player(player_id, name, connection_id, now)
    step = update_game(game, epoch, now, players=(*game.players, player), host_id=game.host_id or player_id)
    return Plan(step, *_seat_steps(game.game_id, player))


@esiritori.write(
    budget=Budget(writes=7, of="one of 10 players who wait"),
    example=_BY_GUEST,
)
def leave_seat(game: Game, epoch: Epoch, player_id: PlayerId, now: Moment) -> Plan[Game]:
    """Remove a player from their seat. In a waiting room the seat becomes free; a game in play keeps name and points.

    When the host leaves, the player who joined first becomes host. The connection is deleted afterwards, by
    `release_connection`: it may belong to another game by now, which must not prevent the player from leaving.
    """
    player = require_seated(game, player_id)
    remaining = [other for other in game.players if other.id != player_id and other.left_at is None]
    host = game.host_id if game.host_id != player_id else min(remaining, key=_joined_at).id if remaining else None
    if game.status == "waiting":
        others = tuple(other for other in game.players if other.id != player_id)
        left = Seat(
            game_id=game.game_id,
            player_id=player_id,
            player_name=player.name,
            joined_at=player.joined_at,
            left_at=now,
            ttl=seconds_after(now, RETENTION_SECONDS),
        )
        return Plan(update_game(game, epoch, now, players=others, host_id=host), put(left))
    require_status(game, "playing")
    departed = replace(player, left_at=now, connection_id=None)
    return Plan(update_game(game, epoch, now, players=replace_player(game, departed), host_id=host))


@esiritori.write(budget=Budget(writes=7, of="one of 10 players who wait"), example={**_BY_HOST, "player_id": GUEST.id})
def kick(game: Game, epoch: Epoch, host_id: PlayerId, player_id: PlayerId, now: Moment) -> Plan[Game]:
    """Remove a player on behalf of the host, with the effect of `leave_seat`."""
    require_host(game, host_id)
    if player_id == host_id:
        raise WrongState("The host cannot kick themselves. Leave the room instead.")
    return leave_seat(game, epoch, player_id, now)


@esiritori.write(
    budget=Budget(writes=2, of="one of 10 players"),
    example=_BY_GUEST,
)
def set_ready(game: Game, epoch: Epoch, player_id: PlayerId, status: ReadyStatus, now: Moment) -> Plan[Game]:
    """Mark a seated player as ready to start, or as not ready."""
    require_status(game, "waiting")
    player = replace(require_seated(game, player_id), status=status)
    return Plan(update_game(game, epoch, now, players=replace_player(game, player)))


@esiritori.write(budget=Budget(writes=3, of="a room of 10 that becomes public"), example=_BY_HOST)
def change_settings(game: Game, epoch: Epoch, host_id: PlayerId, settings: Settings, now: Moment) -> Plan[Game]:
    """Change the settings of a waiting room on behalf of the host, with no fewer seats than players."""
    require_status(game, "waiting")
    require_host(game, host_id)
    if settings.player_count < len(game.players):
        raise SeatUnavailable("More players are seated than these settings allow. Choose more seats.")
    return Plan(update_game(game, epoch, now, settings=settings))


@esiritori.write(
    budget=Budget(writes=4, of="a public room of 10"),
    example={**_BY_HOST, "suggestions": WORDS, "next_kana": None},
)
def start_game(
    game: Game,
    epoch: Epoch,
    host_id: PlayerId,
    round_id: RoundId,
    turn_id: TurnId,
    suggestions: Suggestions,
    next_kana: Kana | None,
    now: Moment,
) -> Plan[Game]:
    """Start the game on behalf of the host, when two or more players are seated and all are ready.

    The player in the first seat draws first. Shiritori starts with a random kana.
    """
    require_status(game, "waiting")
    require_host(game, host_id)
    if len(game.players) < 2:
        raise WrongState("At least two players are needed to start.")
    if any(player.status != "ready" for player in game.players):
        raise WrongState("Not every player is ready.")
    if (game.settings.mode == "shiritori") != (next_kana is not None):
        raise WrongState("Shiritori needs a first kana; a free game has none.")
    turn = new_turn(game, turn_id, 1, game.players[0].id, suggestions, now)
    first = CurrentRound(id=round_id, round_number=1, started_at=now, current_turn=turn)
    until = seconds_after(now, RETENTION_SECONDS)
    return Plan(update_game(game, epoch, now, status="playing", current_round=first, next_kana=next_kana, ttl=until))


@esiritori.write(
    budget=Budget(writes=2, of="one of 10 players in a fresh turn"),
    example={**_BY_GUEST, "game": DRAWING},
)
def mark_present(game: Game, epoch: Epoch, player_id: PlayerId, connection_id: ConnectionId, now: Moment) -> Plan[Game]:
    """Mark a player as present under a connection, which replaces any earlier one."""
    present = replace(require_seated(game, player_id), connection_id=connection_id, away_since=None)
    return Plan(update_game(game, epoch, now, players=replace_player(game, present)))


@esiritori.write(
    budget=Budget(writes=2, of="one of 10 players in a fresh turn"),
    example={**_BY_GUEST, "game": DRAWING, "lost": GUEST.connection_id},
)
def mark_away(game: Game, epoch: Epoch, player_id: PlayerId, lost: ConnectionId | None, now: Moment) -> Plan[Game]:
    """Mark a player as away, because their connection was lost. The seat is kept.

    The late close of an old connection does not affect a player who is back under a new one. `lost` is None for a
    player who never had a connection.
    """
    player = require_seated(game, player_id)
    if player.connection_id != lost:
        raise WrongState("The player has a newer connection.")
    away = replace(player, connection_id=None, away_since=player.away_since or now)
    return Plan(update_game(game, epoch, now, players=replace_player(game, away)))


def _joined_at(player: Player) -> Moment:
    return player.joined_at
