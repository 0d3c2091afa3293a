"""Somebody who deletes their account has voted for nobody's sake: counts and moves stay, the name goes."""

from collections import Counter
from random import Random

import pytest

from tests.support.app_context import all_items, app_context, items_containing
from tests.support.stores import START
from zataku.clock import ManualClock
from zataku.othello.design import Candidate, Move, Vote, board_game
from zataku.othello.removal import removal
from zataku.othello.samples import running_game, users
from zataku.platform.limits import AccountId
from zataku.table import Store

HERE = [board_game]


@pytest.fixture
async def store_account(strict: Store) -> str:
    """Somebody who voted and proposed in a game that is on."""
    random = Random(7)
    voters = users(random, int(START))
    items = [*voters, *running_game(random, int(START) - 6 * 86_400, voters)]
    await strict.write_many(put=items)
    proposed = next(it.created_by for it in items if isinstance(it, Candidate) and it.created_by != "AI")
    return proposed.removeprefix("USER#")


async def remove_account(store: Store, clock: ManualClock, user_id: str) -> None:
    # An index may be late; whoever removes comes again.
    for _ in range(2):
        await removal(app_context(store, clock))(AccountId(user_id))


async def test_nothing_names_the_account_any_more(strict: Store, clock: ManualClock, store_account: str):
    assert len(await items_containing(strict, HERE, store_account)) > 3
    await remove_account(strict, clock, store_account)
    assert await items_containing(strict, HERE, store_account) == []


async def test_counts_stay_equal_to_votes_and_moves_stay(strict: Store, clock: ManualClock, store_account: str):
    before = [each async for each in strict.scan(board_game)]
    await remove_account(strict, clock, store_account)
    after = [each async for each in strict.scan(board_game)]
    for kind in (Move, Candidate, Vote):
        assert sum(isinstance(it, kind) for it in before) == sum(isinstance(it, kind) for it in after)
    votes = Counter((it.turn_number, it.candidate_id) for it in after if isinstance(it, Vote))
    counts = {(it.turn_number, it.candidate_id): it.vote_count for it in after if isinstance(it, Candidate)}
    assert {key: count for key, count in counts.items() if count} == votes
    moves = sorted(repr(it) for it in before if isinstance(it, Move))
    assert sorted(repr(it) for it in after if isinstance(it, Move)) == moves


async def test_a_second_removal_changes_nothing(strict: Store, clock: ManualClock, store_account: str):
    await remove_account(strict, clock, store_account)
    after = await all_items(strict, HERE)
    await remove_account(strict, clock, store_account)
    assert await all_items(strict, HERE) == after


async def test_two_votes_of_one_account_become_those_of_two_nobodies(
    strict: Store, clock: ManualClock, store_account: str
):
    others = {it.user_id async for it in strict.scan(board_game) if isinstance(it, Vote)}
    await remove_account(strict, clock, store_account)
    new = [it.user_id async for it in strict.scan(board_game) if isinstance(it, Vote) and it.user_id not in others]
    assert len(new) == len(set(new)) > 1
