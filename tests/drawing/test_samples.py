"""The sample games, and the sizes of the largest."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from tests.drawing.conftest import TABLES
from tests.drawing.games import NOW, seeded_random, turn_id_of
from tests.support.manual_clock import ManualClock
from tests.support.stores import METERED_STORES, StoreName, temporary_store
from zataku.drawing.design import ChatMessage, Game, Picture, Round, latest_chat, picture_of, rounds_of
from zataku.drawing.design import game as game_key
from zataku.drawing.limits import MAX_CHAT_MESSAGES, GameId
from zataku.drawing.samples import (
    MAXIMAL,
    SampleSize,
    a_picture,
    in_play,
    maximal_game,
    minimal_game,
    ongoing_game,
    ready_room,
)
from zataku.drawing.writes import finish_round, finish_turn
from zataku.table import Entity, Plan
from zataku.table.backend.limits import ITEM_BYTES
from zataku.table.backend.values import size_of
from zataku.table.schema.entity import binding_of


def size(entity: Entity) -> int:
    return sum(size_of(name) + size_of(value) for name, value in binding_of(type(entity)).encode(entity).items())


LARGEST = {
    "Seat": 344,
    "Connection": 379,
    "Round": 21_153,
    "Picture": 102_598,
    "ChatMessage": 2_368,
    "Game": 3_801,
}


def count_kinds(items: list[Entity]) -> Counter[str]:
    return Counter(type(item).__name__ for item in items)


@pytest.mark.parametrize("make", [minimal_game, ongoing_game])
def test_the_same_arguments_give_the_same_items(make):
    first, same_seed, other_seed = (list(make(Random(seed), NOW)) for seed in (1, 1, 2))
    assert first == same_seed
    assert first != other_seed


def test_the_minimal_game_has_2_players_1_round_and_60_seconds():
    items = list(minimal_game(Random(1), NOW))
    game = items[-1]
    assert isinstance(game, Game)
    assert (len(game.players), game.settings.round_count, game.settings.time_limit) == (2, 1, 60)
    assert count_kinds(items) == {"Seat": 2, "Connection": 2, "Round": 1, "Picture": 2, "ChatMessage": 4, "Game": 1}


def test_the_ongoing_game_is_in_round_2_turn_3_with_50_messages_and_20_entries():
    items = list(ongoing_game(Random(1), NOW))
    game = items[-1]
    assert isinstance(game, Game)
    assert game.current_round is not None
    assert game.status == "playing"
    assert (game.current_round.round_number, game.current_round.current_turn.turn_number) == (2, 3)
    assert len(game.score_histories) == 20
    assert count_kinds(items) == {"Seat": 10, "Connection": 10, "Round": 1, "Strokes": 20, "ChatMessage": 50, "Game": 1}
    # The points of both rounds add up to each player's total.
    (first,) = (item for item in items if isinstance(item, Round))
    for player, score in zip(game.players, first.round_scores, strict=True):
        current_points = sum(entry.signed for entry in game.score_histories if entry.player_id == player.id)
        assert player.total == score.points + current_points


def test_points_of_the_samples_are_the_seconds_that_remained_at_each_guess():
    (played,) = (item for item in minimal_game(Random(1), NOW) if isinstance(item, Round))
    for turn in played.turns:
        guess, drawer_entry = (entry for entry in played.score_histories or () if entry.turn_number == turn.turn_number)
        assert (guess.player_id, drawer_entry.player_id) == (*turn.correct_player_ids, turn.drawer_id)
        assert guess.points == drawer_entry.points == turn.time_limit - (guess.timestamp - turn.started_at) // 1000
        assert turn.ended_at == guess.timestamp


@pytest.mark.parametrize("name", METERED_STORES)
async def test_the_maximal_game_is_stored_completely_and_every_item_fits(
    name: StoreName, tmp_path: Path, clock: ManualClock
):
    sizes: dict[str, int] = {}
    async with temporary_store(name, tmp_path, TABLES, clock) as store:
        batch: list[Entity] = []
        game_id, counts = None, Counter[str]()
        for item in maximal_game(Random(1), NOW):
            kind = type(item).__name__
            counts[kind] += 1
            sizes[kind] = max(size(item), sizes.get(kind, 0))
            game_id = item.game_id  # pyright: ignore[reportAttributeAccessIssue]
            batch.append(item)
            if len(batch) == 25:
                await store.write_many(put=batch)
                batch = []
        await store.write_many(put=batch)
        assert counts == {
            "Seat": 10,
            "Connection": 10,
            "Round": 10,
            "Picture": 100,
            "ChatMessage": MAX_CHAT_MESSAGES,
            "Game": 1,
        }
        assert max(sizes.values()) < ITEM_BYTES
        assert sizes == LARGEST
        await assert_maximal_game_stored(store, GameId(game_id))


async def assert_maximal_game_stored(store, game_id: GameId) -> None:
    """Assert that the store has every item of the maximal game, generated a second time."""
    items = list(maximal_game(Random(1), NOW))
    assert await store.get(game_key(game_id)) == items[-1]
    chat_messages = [message async for message in store.each(latest_chat(game_id))]
    assert chat_messages == [item for item in items if isinstance(item, ChatMessage)][::-1]
    rounds = [played async for played in store.each(rounds_of(game_id))]
    assert rounds == [item for item in items if isinstance(item, Round)]
    keys = [picture_of(game_id, played.round_number, turn.turn_number) for played in rounds for turn in played.turns]
    assert await store.get_many(keys) == [item for item in items if isinstance(item, Picture)]


def test_the_sizes_of_games_are_those_of_the_departures():
    room = ready_room(seeded_random(), NOW, SampleSize(players=4))
    fresh, full = in_play(seeded_random(), room, 1, 1), in_play(seeded_random(), room, 1, 4, "finished")
    assert (size(fresh), size(full)) == (1_181, 4_608)
    item = binding_of(Game).encode(fresh)
    added = {name: item[name] for name in ("hostId", "epoch", "version", "ttl")}
    added_settings = {name: item["settings"][name] for name in ("public", "mode", "hints")}
    added_deadline = {"deadline": item["currentRound"]["currentTurn"]["deadline"]}
    # A member of a map takes a byte more than an attribute.
    members = [*added_settings.items(), *added_deadline.items()]
    assert sum(size_of(name) + size_of(value) for name, value in (*added.items(), *members)) + len(members) == 106


def test_the_largest_transactions_are_far_below_100_items_and_4_mb():
    random = Random(1)
    game = ready_room(random, NOW, MAXIMAL)
    last, full = in_play(random, game, 10, 10), in_play(random, game, 10, 10, "finished")
    picture = a_picture(random, last, 10, 10, last.players[9].id, last.updated_at, MAXIMAL.picture)
    plans: list[Plan[Game]] = [
        finish_turn(last, 1, turn_id_of(last), picture.data, 150, last.updated_at),
        finish_round(full, 1, turn_id_of(full), full.updated_at),
    ]
    sizes = [
        sum(
            size(entity)
            for step in plan.steps
            for entity in (getattr(step, "entity", None), getattr(step, "was", None))
            if entity
        )
        for plan in plans
    ]
    assert max(sizes) < 150_000
    assert size(full) == 23_590
    assert [len(plan.steps) for plan in plans] == [2, 2]
