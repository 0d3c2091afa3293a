"""Games, players, messages and plans for the tests."""

from random import Random
from typing import Any

from msgspec.structs import replace

from tests.support.stores import START
from zataku.drawing import writes
from zataku.drawing.design import Game
from zataku.drawing.design import game as game_key
from zataku.drawing.limits import GameId, MessageId, RoundId, TurnId
from zataku.drawing.rules.chat import NewMessage
from zataku.drawing.samples import SampleSize, an_id, ready_room
from zataku.drawing.values import Player, Settings
from zataku.table import Entity, Plan, Store

NOW = int(START) * 1000
TEN = SampleSize(players=10, rounds=10)


def seeded_random() -> Random:
    return Random(20260221)


def room(players: int = 3, seats: int = 4, **changes: Any) -> Game:
    """A public room of that many ready players."""
    full = ready_room(seeded_random(), NOW, SampleSize(players=players))
    settings = replace(full.settings, player_count=max(seats, players))
    return replace(full, settings=settings, **changes)


def settings(**changes: Any) -> Settings:
    return replace(Settings(), **changes)


def new_player(random: Random, name: str = "あたらしい人", joined_after: int = 60_000) -> Player:
    return Player(id=an_id(random), name=name, joined_at=NOW + joined_after, connection_id="L0SM9cOFvHcCIhw=")


def join_plan(game: Game, player: Player) -> Plan[Game]:
    """The plan that seats a new player."""
    return writes.take_seat(game, 1, player.id, player.name, player.connection_id, player.joined_at)


def create_plan(game_id: GameId, host: Player, chosen: Settings) -> Plan[Game]:
    """The plan that creates a room with this host."""
    return writes.create_game(game_id, host.id, host.name, host.connection_id, chosen, host.joined_at)


def new_message(player: Player, number: int = 1, content: str = "りんご") -> NewMessage:
    return NewMessage(id=MessageId(an_id(Random(number))), number=number, player_id=player.id, content=content)


def turn_id_of(game: Game) -> TurnId:
    assert game.current_round is not None
    return game.current_round.current_turn.id


def round_id_of(game: Game) -> RoundId:
    assert game.current_round is not None
    return game.current_round.id


async def load_game(store: Store, game: Game) -> Game:
    """The stored game, read strongly."""
    stored = await store.get(game_key(game.game_id))
    assert stored is not None
    return stored


async def store_items(store: Store, *items: Entity) -> None:
    await store.write_many(put=items)
