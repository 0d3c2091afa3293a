"""Plans: writes as values, carried out completely or not at all."""

import pytest
from msgspec.structs import replace

from tests.support.designs.board import Candidate, Game, Move, Vote
from tests.support.manual_clock import ManualClock
from zataku.table import (
    BadInput,
    ConditionFailed,
    Plan,
    Step,
    Store,
    TransactionCancelled,
    check,
    check_absent,
    delete,
    path,
    put,
    save,
    update,
)

GAME = Game(game_id="g1")
KEY = Game.key(game_id="g1")
turn = path(Game, lambda it: it.current_turn)
status = path(Game, lambda it: it.status)
votes = path(Candidate, lambda it: it.vote_count)
CANDIDATE = Candidate(game_id="g1", turn_number=0, candidate_id="c1", vote_count=0)
CANDIDATE_KEY = Candidate.key(game_id="g1", turn_number=0, candidate_id="c1")


def vote(user: str) -> Plan[Vote]:
    """A vote, counted on its candidate, while the game is active."""
    new = Vote(game_id="g1", turn_number=0, user_id=user, candidate_id="c1")
    return Plan(put(new, if_absent=True), update(CANDIDATE_KEY, votes.add(1)), check(KEY, status.equals("ACTIVE")))


async def test_a_plan_of_one_put_returns_the_written_item(store: Store):
    assert await store.write(Plan(put(GAME))) == GAME
    assert await store.get(KEY, strong=True) == GAME


async def test_a_plan_of_one_update_returns_the_new_state(store: Store):
    await store.put(GAME)
    written = await store.write(Plan(update(KEY, turn.add(3))))
    assert written is not None
    assert (written.current_turn, written.version) == (3, 1)


async def test_a_plan_of_one_save_increments_the_version(store: Store):
    await store.put(GAME)
    saved = await store.write(Plan(save(replace(GAME, note="on"), was=GAME)))
    assert saved == replace(GAME, note="on", version=1) == await store.get(KEY, strong=True)


async def test_a_plan_of_one_delete_returns_the_deleted_item(store: Store):
    await store.put(GAME)
    assert await store.write(Plan(delete(KEY))) == GAME
    assert await store.write(Plan(delete(KEY))) is None


async def test_a_plan_of_several_steps_carries_out_all_of_them(store: Store):
    await store.write_many(put=[GAME, CANDIDATE])
    written = await store.write(vote("u1"))
    assert written is not None
    assert written.user_id == "u1"
    counted = await store.get(CANDIDATE_KEY, strong=True)
    assert counted is not None
    assert counted.vote_count == 1


async def test_a_plan_with_one_refused_step_changes_nothing(store: Store):
    await store.write_many(put=[replace(GAME, status="FINISHED"), CANDIDATE])
    with pytest.raises(TransactionCancelled) as refused:
        await store.write(vote("u1"))
    assert [reason.code for reason in refused.value.reasons] == [None, None, "condition_failed"]
    assert await store.get(Vote.key(game_id="g1", turn_number=0, user_id="u1"), strong=True) is None
    assert await store.get(CANDIDATE_KEY, strong=True) == CANDIDATE


async def test_the_refusal_of_a_single_step_shows_the_current_item(store: Store):
    await store.put(GAME)
    with pytest.raises(ConditionFailed) as refused:
        await store.write(Plan(put(replace(GAME, note="again"), if_absent=True)))
    assert refused.value.current == GAME


async def test_a_save_in_a_plan_of_several_steps_returns_the_new_state(store: Store):
    await store.put(GAME)
    move = Move(game_id="g1", turn_number=0)
    saved = await store.write(Plan(save(replace(GAME, current_turn=1), was=GAME), put(move, if_absent=True)))
    assert saved == replace(GAME, current_turn=1, version=1) == await store.get(KEY, strong=True)
    with pytest.raises(TransactionCancelled):
        await store.write(Plan(save(replace(GAME, current_turn=1), was=GAME), put(move)))


async def test_an_update_in_a_plan_of_several_steps_returns_none(store: Store):
    await store.put(GAME)
    absent = check_absent(Move.key(game_id="g1", turn_number=9))
    assert await store.write(Plan(update(KEY, turn.add(1)), absent)) is None


async def test_a_plan_that_requires_absence_is_refused_when_the_item_exists(store: Store):
    move = Move(game_id="g1", turn_number=9)
    await store.write_many(put=[GAME, move])
    with pytest.raises(TransactionCancelled):
        await store.write(Plan(update(KEY, turn.add(1)), check_absent(Move.key(game_id="g1", turn_number=9))))
    assert await store.get(KEY, strong=True) == GAME


async def test_a_plan_with_a_token_is_carried_out_once(store: Store):
    await store.write_many(put=[GAME, CANDIDATE])
    plan = Plan(update(KEY, turn.add(1)), update(CANDIDATE_KEY, votes.add(1)))
    await store.write(plan, token="once")
    await store.write(plan, token="once")
    stored = await store.get(KEY, strong=True)
    assert stored is not None
    assert stored.current_turn == 1


async def test_a_plan_of_one_step_with_a_token_is_carried_out_once(store: Store):
    await store.put(GAME)
    for _ in range(2):
        await store.write(Plan(update(KEY, turn.add(1))), token="one step")
    stored = await store.get(KEY, strong=True)
    assert stored is not None
    assert stored.current_turn == 1


async def test_a_plan_repeated_later_with_the_time_of_its_first_attempt_is_carried_out_once(
    store: Store, clock: ManualClock
):
    await store.write_many(put=[GAME, CANDIDATE])
    plan, first = Plan(update(KEY, turn.add(1)), update(CANDIDATE_KEY, votes.add(1))), clock.now()
    await store.write(plan, token="again", at=first)
    await clock.advance(2)
    await store.write(plan, token="again", at=first)
    stored = await store.get(KEY, strong=True)
    assert stored is not None
    assert stored.current_turn == 1


@pytest.mark.parametrize("steps", [[check(KEY)], [check_absent(KEY)], [check(KEY), check_absent(CANDIDATE_KEY)]])
def test_a_plan_of_checks_alone_is_refused(steps: list[Step[Game]]):
    with pytest.raises(BadInput, match="writes nothing"):
        Plan(*steps)


async def test_units_are_summed_under_the_name_of_the_plan(store: Store):
    await store.write_many(put=[GAME, CANDIDATE])
    await store.write(Plan(update(KEY, turn.add(1))))
    assert "VoteBoardGame.update Game" in store.meter.totals
    with store.measured("around") as consumed:
        await store.write(vote("u1"))
    total = store.meter.totals["VoteBoardGame.put Vote + update Candidate + check Game"]
    assert total.calls == 1
    assert total.writes == consumed.writes > 0
