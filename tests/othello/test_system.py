"""The card of Othello by vote on the home page, and its demo data."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec
import pytest

from tests.support.app_context import FailingStore, StoreFailed, all_items, app_context, user_identity
from tests.support.manual_clock import ManualClock
from tests.support.stores import START
from zataku.othello.demo import A_GAME, TURNS
from zataku.othello.design import Game, Vote, ballot_of, board_game, commentary_of, game, moves_of
from zataku.othello.samples import running_game
from zataku.othello.system import OthelloHome, plug
from zataku.othello.writes import cast_vote
from zataku.system import Plugin
from zataku.table import Store, format_instant, parse_instant

TOKYO = ZoneInfo("Asia/Tokyo")


async def fill_demo(store: Store, clock: ManualClock) -> Plugin:
    plugin = plug(app_context(store, clock))
    assert plugin.demo is not None
    await plugin.demo()
    return plugin


async def test_without_a_game_every_field_of_the_card_is_null(embedded: Store, clock: ManualClock):
    home = await plug(app_context(embedded, clock)).home(user_identity())
    assert msgspec.to_builtins(home) == {"gameId": None, "turn": None, "endsAt": None, "votes": None}


@pytest.mark.parametrize("hour", [9, 14.5, 15])
async def test_the_demo_turn_ends_at_the_next_midnight_in_tokyo(embedded: Store, hour: float):
    clock = ManualClock(START + hour * 3600)
    plugin = await fill_demo(embedded, clock)
    home = await plugin.home(user_identity())
    assert isinstance(home, OthelloHome)
    assert home.ends_at is not None
    ends = datetime.fromtimestamp(parse_instant(home.ends_at), TOKYO)
    now = datetime.fromtimestamp(clock.now(), TOKYO)
    assert (ends.hour, ends.minute, ends.second) == (0, 0, 0)
    assert timedelta(hours=1) <= ends - now <= timedelta(hours=25)
    assert (home.game_id, home.turn, home.votes) == (A_GAME, TURNS, 4)


async def test_any_user_can_vote_in_the_demo_turn(embedded: Store, clock: ManualClock):
    plugin = await fill_demo(embedded, clock)
    ballot = [candidate async for candidate in embedded.each(ballot_of(A_GAME, TURNS))]
    user_id = user_identity().account_id
    await embedded.write(cast_vote(A_GAME, TURNS, user_id, ballot[0].candidate_id, format_instant(clock.now())))
    home = await plugin.home(user_identity())
    assert isinstance(home, OthelloHome)
    assert home.votes == 5


async def test_the_demo_moves_are_in_the_past(embedded: Store, clock: ManualClock):
    await fill_demo(embedded, clock)
    moves = [move async for move in embedded.each(moves_of(A_GAME))]
    assert [move.turn_number for move in moves] == list(range(TURNS))
    assert all(move.created_at <= format_instant(clock.now()) for move in moves)
    votes = [item async for item in embedded.scan(board_game) if isinstance(item, Vote)]
    assert len(votes) == 9 * 3 + 4


async def test_the_demo_commentary_names_the_move_of_its_turn(embedded: Store, clock: ManualClock):
    await fill_demo(embedded, clock)
    moves = [move async for move in embedded.each(moves_of(A_GAME))]
    commentary = [entry async for entry in embedded.each(commentary_of(A_GAME))]
    assert [entry.turn_number for entry in commentary] == [move.turn_number for move in moves]
    assert all(move.position in entry.content for move, entry in zip(moves, commentary, strict=True))


async def test_a_second_run_of_the_demo_changes_nothing(strict: Store, clock: ManualClock):
    plugin = await fill_demo(strict, clock)
    assert plugin.demo is not None
    before = await all_items(strict, [board_game])
    await clock.advance(5 * 86_400)
    await plugin.demo()
    assert await all_items(strict, [board_game]) == before


async def test_the_demo_adds_no_game_to_a_store_with_games(embedded: Store, clock: ManualClock):
    context = app_context(embedded, clock)
    await embedded.write_many(put=list(running_game(context.random, int(START) - 86_400, [])))
    before = await all_items(embedded, [board_game])
    await fill_demo(embedded, clock)
    assert await all_items(embedded, [board_game]) == before


async def test_an_interrupted_demo_is_resumed(strict: Store, clock: ManualClock):
    with pytest.raises(StoreFailed):
        await fill_demo(FailingStore(strict, 40), clock)  # type: ignore[arg-type]  delegates to a store
    await fill_demo(strict, clock)
    stored_game = await strict.get(game(A_GAME), strong=True)
    assert isinstance(stored_game, Game)
    assert (stored_game.current_turn, stored_game.opened_turn) == (TURNS, TURNS)


async def test_a_turn_after_its_deadline_shows_no_end(embedded: Store, clock: ManualClock):
    plugin = await fill_demo(embedded, clock)
    await clock.advance(2 * 86_400)
    home = await plugin.home(user_identity())
    assert (home.turn, home.ends_at, home.votes) == (TURNS, None, None)


async def test_a_closed_turn_shows_no_end(embedded: Store, clock: ManualClock):
    plugin = await fill_demo(embedded, clock)
    stored_game = await embedded.get(game(A_GAME), strong=True)
    assert stored_game is not None
    await embedded.write_many(put=[msgspec.structs.replace(stored_game, closed_turn=TURNS)])
    home = await plugin.home(user_identity())
    assert (home.turn, home.ends_at, home.votes) == (TURNS, None, None)
