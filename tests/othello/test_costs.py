"""Access patterns cost their budgets, and items have the sizes stated in the departures."""

from msgspec.structs import replace

from tests.othello.costs import (
    AI_CHANGE,
    AI_VOTE,
    CASES,
    COMMENTARY_TEXTS,
    ENGINE_CANDIDATES,
    EXPIRY,
    MOVES,
    SHORT_COMMENT,
)
from tests.othello.games import C3, DEADLINE, GAME, NOW, candidate, full_game, user_id_of, vote, voted_game
from tests.support.cost_assertions import budget_mismatches, measure_cost
from zataku.othello.design import Commentary
from zataku.othello.limits import Contents, Descriptions
from zataku.othello.writes import set_game_expiry, set_item_expiry
from zataku.othello.writes.game_end import MAX_STAMPED_ITEMS
from zataku.table import Budget, Entity, Store
from zataku.table.backend.values import item_size
from zataku.table.schema.entity import binding_of

WIDE = "𠮷"


async def test_every_access_pattern_costs_its_budget(priced: Store):
    assert await budget_mismatches(priced, CASES) == {}


async def test_a_vote_for_a_candidate_of_the_ai_costs_seven_units(priced: Store):
    assert await measure_cost(priced, AI_VOTE) == Budget(writes=7)


async def test_changing_a_vote_between_candidates_of_the_ai_costs_nine_units(priced: Store):
    assert await measure_cost(priced, AI_CHANGE) == Budget(writes=9)


async def test_commentary_in_one_language_costs_four_units(priced: Store):
    assert await measure_cost(priced, SHORT_COMMENT) == Budget(writes=4)


async def test_setting_the_expiry_of_a_whole_game_costs_the_figure_of_the_departure(embedded: Store):
    finished = replace(full_game, status="FINISHED", winner="AI")
    commentary = Commentary(
        game_id=GAME, turn_number=0, content=COMMENTARY_TEXTS.ja, content_i18n=COMMENTARY_TEXTS, created_at=NOW
    )
    items: list[Entity] = [*MOVES, *(replace(commentary, turn_number=turn) for turn in range(60))]
    for turn in range(1, 60, 2):
        items += [replace(proposed, turn_number=turn) for proposed in ENGINE_CANDIDATES]
        items.append(candidate("C5", turn_number=turn, created_by=f"USER#{user_id_of(0)}"))
        items += [vote(at, C3.candidate_id, turn) for at in range(100)]
    await embedded.write_many(put=[finished, *items])
    calls = [
        set_item_expiry(GAME, items[at : at + MAX_STAMPED_ITEMS], EXPIRY, NOW)
        for at in range(0, len(items), MAX_STAMPED_ITEMS)
    ]
    with embedded.measured("marking") as consumed:
        for call in (*calls, set_game_expiry(GAME, EXPIRY, NOW)):
            await embedded.write(call)
    assert (len(calls) + 1, consumed.writes) == (34, 9578)


def _size(entity: Entity) -> int:
    return item_size(binding_of(type(entity)).encode(entity))


def test_items_have_the_sizes_stated_in_the_departures():
    texts = Contents(ja=WIDE * 500, ko=WIDE * 500, en=WIDE * 500)
    commentary = Commentary(game_id=GAME, turn_number=120, content=texts.ja, content_i18n=texts, created_at=NOW)
    assert _size(replace(commentary, expires_at=253_402_300_799)) == 8222
    short = Descriptions(ja=WIDE * 40, ko=WIDE * 40, en=WIDE * 40)
    largest = candidate("C3", turn_number=119, description=short.ja, description_i18n=short, vote_count=999_999_999)
    assert _size(largest) == 1010
    turn_fields = {"voting_deadline": DEADLINE, "closed_turn": 119, "opened_turn": 119}
    bare = replace(voted_game, **dict.fromkeys(turn_fields))
    assert _size(replace(bare, **turn_fields)) - _size(bare) == 60
