"""A removed account is anonymous; counts and moves stay."""

from collections import Counter
from random import Random

import pytest

from tests.support.app_context import all_items, app_context, items_containing
from tests.support.manual_clock import ManualClock
from tests.support.stores import START
from zataku.othello.design import Candidate, Move, Vote, board_game
from zataku.othello.removal import removal
from zataku.othello.samples import running_game, users
from zataku.platform.limits import AccountId
from zataku.table import Store

TABLES = [board_game]


@pytest.fixture
async def account_id(strict: Store) -> str:
    """The id of a user who voted and proposed in a running game."""
    random = Random(7)
    voters = users(random, int(START))
    items = [*voters, *running_game(random, int(START) - 6 * 86_400, voters)]
    await strict.write_many(put=items)
    proposed = next(item.created_by for item in items if isinstance(item, Candidate) and item.created_by != "AI")
    return proposed.removeprefix("USER#")


async def remove_account(store: Store, clock: ManualClock, user_id: str) -> None:
    # The index read is eventually consistent, so removal jobs run again.
    for _ in range(2):
        await removal(app_context(store, clock))(AccountId(user_id))


async def test_no_item_contains_the_id_of_a_removed_account(strict: Store, clock: ManualClock, account_id: str):
    assert len(await items_containing(strict, TABLES, account_id)) > 3
    await remove_account(strict, clock, account_id)
    assert await items_containing(strict, TABLES, account_id) == []


async def test_counts_stay_equal_to_votes_and_moves_stay(strict: Store, clock: ManualClock, account_id: str):
    before = [item async for item in strict.scan(board_game)]
    await remove_account(strict, clock, account_id)
    after = [item async for item in strict.scan(board_game)]
    for kind in (Move, Candidate, Vote):
        assert sum(isinstance(item, kind) for item in before) == sum(isinstance(item, kind) for item in after)
    votes = Counter((vote.turn_number, vote.candidate_id) for vote in after if isinstance(vote, Vote))
    counts = {
        (candidate.turn_number, candidate.candidate_id): candidate.vote_count
        for candidate in after
        if isinstance(candidate, Candidate)
    }
    assert {key: count for key, count in counts.items() if count} == votes
    moves = sorted(repr(item) for item in before if isinstance(item, Move))
    assert sorted(repr(item) for item in after if isinstance(item, Move)) == moves


async def test_a_second_removal_changes_nothing(strict: Store, clock: ManualClock, account_id: str):
    await remove_account(strict, clock, account_id)
    after = await all_items(strict, TABLES)
    await remove_account(strict, clock, account_id)
    assert await all_items(strict, TABLES) == after


async def test_each_vote_of_a_removed_account_gets_a_different_id(strict: Store, clock: ManualClock, account_id: str):
    others = {item.user_id async for item in strict.scan(board_game) if isinstance(item, Vote)}
    await remove_account(strict, clock, account_id)
    new = [
        item.user_id async for item in strict.scan(board_game) if isinstance(item, Vote) and item.user_id not in others
    ]
    assert len(new) == len(set(new)) > 1
