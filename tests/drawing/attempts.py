"""How somebody tries until it works, and how a table looks afterwards."""

from collections.abc import Awaitable, Callable
from random import Random
from typing import TypeVar

from tests.drawing.games import load_game, new_player
from zataku.drawing.design import Game, seats_of
from zataku.drawing.errors import RuleViolation
from zataku.drawing.values import Player
from zataku.table import ConditionFailed, Entity, Plan, Query, ResultUnknown, Store, TransactionCancelled

T = TypeVar("T", bound=Entity)


async def write_with_retry(store: Store, of: Game, move: Callable[[Game], Plan[Game]]) -> Game:
    """Try a move on the newest state until it happens or the rules refuse it."""
    while True:
        try:
            return await store.write(move(await load_game(store, of)))
        except (ConditionFailed, TransactionCancelled, ResultUnknown):
            continue


async def write_until_answered(store: Store, plan: Plan[T]) -> T:
    """Send a write that may happen twice until the reply comes."""
    while True:
        try:
            return await store.write(plan)
        except ResultUnknown:
            continue


async def outcome_code(attempt: Awaitable[Game]) -> str:
    try:
        await attempt
    except RuleViolation as refused:
        return refused.code
    return "done"


def new_players(count: int) -> list[Player]:
    random = Random(count)
    return [new_player(random, f"客{number}", 60_000 + number) for number in range(count)]


def strong_query(query: Query[T]) -> Query[T]:
    """The query, seeing every write before it."""
    query.strong = True
    return query


async def assert_seats_match(store: Store, of: Game) -> Game:
    """The list of players and the seat items tell the same."""
    table = await load_game(store, of)
    keys = [seat async for seat in store.each(strong_query(seats_of(of.game_id)))]
    assert sorted(seat.player_id for seat in keys) == sorted(player.id for player in table.players)
    return table
