"""Writes that are retried until they succeed, and checks of the stored game afterwards."""

from collections.abc import Awaitable, Callable
from random import Random
from typing import TypeVar

from tests.drawing.games import load_game, new_player
from zataku.drawing.design import Game, seats_of
from zataku.drawing.errors import RuleViolation
from zataku.drawing.values import Player
from zataku.table import ConditionFailed, Entity, Plan, Query, ResultUnknown, Store, TransactionCancelled

T = TypeVar("T", bound=Entity)


async def write_with_retry(store: Store, game: Game, make_plan: Callable[[Game], Plan[Game]]) -> Game:
    """Write a plan on the newest state until it succeeds or the rules reject it."""
    while True:
        try:
            return await store.write(make_plan(await load_game(store, game)))
        except (ConditionFailed, TransactionCancelled, ResultUnknown):
            continue


async def write_until_answered(store: Store, plan: Plan[T]) -> T:
    """Repeat an idempotent write until its reply arrives."""
    while True:
        try:
            return await store.write(plan)
        except ResultUnknown:
            continue


async def outcome_code(attempt: Awaitable[Game]) -> str:
    try:
        await attempt
    except RuleViolation as error:
        return error.code
    return "done"


def new_players(count: int) -> list[Player]:
    random = Random(count)
    return [new_player(random, f"客{number}", 60_000 + number) for number in range(count)]


def strong_query(query: Query[T]) -> Query[T]:
    """The query with a strongly consistent read."""
    query.strong = True
    return query


async def assert_seats_match(store: Store, game: Game) -> Game:
    """Assert that the list of players and the seat items agree; returns the stored game."""
    stored = await load_game(store, game)
    seats = [seat async for seat in store.each(strong_query(seats_of(game.game_id))) if seat.left_at is None]
    assert sorted(seat.player_id for seat in seats) == sorted(player.id for player in stored.players)
    return stored
