"""Games for the tests, at the points where they are needed."""

from random import Random
from typing import Any

from msgspec.structs import replace

from tests.opened import START
from zataku.drawing.design import ChatMessage, Game, game
from zataku.drawing.parts import Player, Settings
from zataku.drawing.samples import Measure, a_message, an_id, settled_room
from zataku.table import Entity, Store

NOW = int(START) * 1000
TEN = Measure(players=10, rounds=10)


def chance() -> Random:
    return Random(20260221)


def room(players: int = 3, seats: int = 4, **changes: Any) -> Game:
    """A public room of some players who are ready."""
    made = settled_room(chance(), NOW, Measure(players=players))
    settings = replace(made.settings, player_count=max(seats, players))
    return replace(made, settings=settings, **changes)


def settings(**changes: Any) -> Settings:
    return replace(Settings(), **changes)


def newcomer(random: Random, name: str = "あたらしい人", after: int = 60_000) -> Player:
    return Player(id=an_id(random), name=name, joined_at=NOW + after, connection_id="L0SM9cOFvHcCIhw=")


def right_guess(of: Game, player: Player, now: int, number: int = 1) -> ChatMessage:
    made = a_message(Random(now + number), of, player, number, "りんご", now)
    return replace(made, type="correct", is_correct=True)


async def loaded(store: Store, of: Game) -> Game:
    """The game as it is right now."""
    found = await store.get(game(of.game_id))
    assert found is not None
    return found


async def kept(store: Store, *items: Entity) -> None:
    await store.write_many(put=items)
