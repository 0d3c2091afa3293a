"""Writes of a room before the game begins, and of its seats at any time."""

from msgspec.structs import replace

from zataku.drawing.design import Connection, Game, Seat, esiritori
from zataku.drawing.errors import NoSeat, NotNow
from zataku.drawing.limits import (
    CONNECTION_SECONDS,
    KEPT_SECONDS,
    WAITING_SECONDS,
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
from zataku.drawing.writes.game_update import changed, demand_host, demand_status, seated, with_player
from zataku.table import Budget, Plan, Step, delete, put

_BY_HOST = {"game": ROOM, "epoch": ROOM.epoch, "host_id": HOST.id, "now": ROOM.updated_at + 1}
_BY_GUEST = {"game": ROOM, "epoch": ROOM.epoch, "player_id": GUEST.id, "now": ROOM.updated_at + 1}


def _chair(game_id: GameId, player: Player) -> list[Step[Seat] | Step[Connection]]:
    """The seat of a player, and the connection that came with it."""
    at = player.joined_at
    seat = Seat(
        game_id=game_id,
        player_id=player.id,
        player_name=player.name,
        joined_at=at,
        ttl=seconds_after(at, KEPT_SECONDS),
    )
    steps: list[Step[Seat] | Step[Connection]] = [put(seat, if_absent=True)]
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


def _newcomer(player_id: PlayerId, name: PlayerName, connection_id: ConnectionId | None, now: Moment) -> Player:
    """A player who has just sat down: not ready, without points."""
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
    """Open a room, with its host in the first seat. It stays for a day unless the game begins."""
    host = _newcomer(host_id, name, connection_id, now)
    game = Game(
        game_id=game_id,
        created_at=now,
        updated_at=now,
        settings=settings,
        players=(host,),
        host_id=host_id,
        ttl=seconds_after(now, WAITING_SECONDS),
    )
    return Plan(put(game, if_absent=True), *_chair(game_id, host))


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
    """Sit down at a table that waits and has a free seat. Of many who want the last seat at once, one gets it.

    Whoever comes into an empty room is its host.
    """
    demand_status(game, "waiting")
    if any(other.id == player_id for other in game.players):
        raise NoSeat("This player sits at the table already.")
    if len(game.players) >= game.settings.player_count:
        raise NoSeat("Every seat is taken.")
    player = _newcomer(player_id, name, connection_id, now)
    step = changed(game, epoch, now, players=(*game.players, player), host_id=game.host_id or player_id)
    return Plan(step, *_chair(game.game_id, player))


@esiritori.write(
    budget=Budget(writes=7, of="one of 10 players who wait"),
    example=_BY_GUEST,
)
def leave_seat(game: Game, epoch: Epoch, player_id: PlayerId, now: Moment) -> Plan[Game]:
    """Get up. While the game waits, the seat becomes free; a game under way keeps the name and the points.

    A host who leaves hands over to whoever has been at the table longest. Where the player can be reached is taken away
    afterwards, by `part_connection`: it may be of another game by now, and that must not keep anybody from leaving.
    """
    player = seated(game, player_id)
    stay = [other for other in game.players if other.id != player_id and other.left_at is None]
    host = game.host_id if game.host_id != player_id else min(stay, key=_seniority).id if stay else None
    if game.status == "waiting":
        others = tuple(other for other in game.players if other.id != player_id)
        seat = Seat.key(game_id=game.game_id, player_id=player_id)
        return Plan(changed(game, epoch, now, players=others, host_id=host), delete(seat))
    demand_status(game, "playing")
    gone = replace(player, left_at=now, connection_id=None)
    return Plan(changed(game, epoch, now, players=with_player(game, gone), host_id=host))


@esiritori.write(budget=Budget(writes=7, of="one of 10 players who wait"), example={**_BY_HOST, "player_id": GUEST.id})
def kick(game: Game, epoch: Epoch, host_id: PlayerId, player_id: PlayerId, now: Moment) -> Plan[Game]:
    """The host sends somebody away, who leaves as if by their own will."""
    demand_host(game, host_id)
    if player_id == host_id:
        raise NotNow("A host does not kick themselves; they leave.")
    return leave_seat(game, epoch, player_id, now)


@esiritori.write(
    budget=Budget(writes=2, of="one of 10 players"),
    example=_BY_GUEST,
)
def set_ready(game: Game, epoch: Epoch, player_id: PlayerId, status: ReadyStatus, now: Moment) -> Plan[Game]:
    """Say that one is ready to begin, or take it back."""
    demand_status(game, "waiting")
    player = replace(seated(game, player_id), status=status)
    return Plan(changed(game, epoch, now, players=with_player(game, player)))


@esiritori.write(budget=Budget(writes=3, of="a room of 10 that becomes public"), example=_BY_HOST)
def change_settings(game: Game, epoch: Epoch, host_id: PlayerId, settings: Settings, now: Moment) -> Plan[Game]:
    """The host changes how the game will be, with no fewer seats than are taken."""
    demand_status(game, "waiting")
    demand_host(game, host_id)
    if settings.player_count < len(game.players):
        raise NoSeat("More players sit at the table than it would have seats.")
    return Plan(changed(game, epoch, now, settings=settings))


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
    """The host begins, when two or more are at the table and all are ready. The first who sat down draws first.

    Shiritori begins with a kana that chance has chosen.
    """
    demand_status(game, "waiting")
    demand_host(game, host_id)
    if len(game.players) < 2:
        raise NotNow("Two players are needed to begin.")
    if any(player.status != "ready" for player in game.players):
        raise NotNow("Somebody is not ready yet.")
    if (game.settings.mode == "shiritori") != (next_kana is not None):
        raise NotNow("Shiritori begins with a kana, a free game without one.")
    turn = new_turn(game, turn_id, 1, game.players[0].id, suggestions, now)
    first = CurrentRound(id=round_id, round_number=1, started_at=now, current_turn=turn)
    until = seconds_after(now, KEPT_SECONDS)
    return Plan(changed(game, epoch, now, status="playing", current_round=first, next_kana=next_kana, ttl=until))


@esiritori.write(
    budget=Budget(writes=2, of="one of 10 players in a fresh turn"),
    example={**_BY_GUEST, "game": DRAWING},
)
def note_presence(
    game: Game, epoch: Epoch, player_id: PlayerId, connection_id: ConnectionId, now: Moment
) -> Plan[Game]:
    """A player is back under a connection, which takes the place of any earlier one."""
    there = replace(seated(game, player_id), connection_id=connection_id, away_since=None)
    return Plan(changed(game, epoch, now, players=with_player(game, there)))


@esiritori.write(
    budget=Budget(writes=2, of="one of 10 players in a fresh turn"),
    example={**_BY_GUEST, "game": DRAWING, "lost": GUEST.connection_id},
)
def note_absence(game: Game, epoch: Epoch, player_id: PlayerId, lost: ConnectionId | None, now: Moment) -> Plan[Game]:
    """A player has lost this connection and is away from now on. The seat is kept.

    An old connection that closes late says nothing of a player who is back under a new one. None is for a player who
    never had a connection.
    """
    player = seated(game, player_id)
    if player.connection_id != lost:
        raise NotNow("The player is not reached under this connection any more.")
    gone = replace(player, connection_id=None, away_since=player.away_since or now)
    return Plan(changed(game, epoch, now, players=with_player(game, gone)))


def _seniority(player: Player) -> Moment:
    return player.joined_at
