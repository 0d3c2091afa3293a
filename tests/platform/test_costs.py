"""Every access pattern costs what its budget says."""

from tests.platform.costs import CASES, FURTHER_CASES, ME, SESSIONS, USER
from tests.platform.items import nth_hash
from tests.support.cost_assertions import budget_mismatches, measure_cost
from zataku.platform.design import account, platform, session
from zataku.table import Store
from zataku.table.schema.entity import binding_of


async def test_every_access_pattern_costs_its_budget(priced: Store):
    assert await budget_mismatches(priced, CASES) == {}


async def test_every_further_case_that_a_budget_mentions_costs_as_declared(priced: Store):
    for name, (case, reads, writes) in FURTHER_CASES.items():
        used = await measure_cost(priced, case)
        assert (used.reads, used.writes) == (reads, writes), name
        keys = [binding_of(type(item)).key_of(item) async for item in priced.scan(platform)]
        await priced.write_many(delete=keys)


async def test_authenticating_a_session_costs_one_call_and_two_units(priced: Store):
    await priced.write_many(put=[USER, SESSIONS[1]])
    with priced.measured("authenticate") as consumed:
        items = await priced.get_many([session(ME, nth_hash(1)), account(ME)])
    assert items == [SESSIONS[1], USER]
    assert (consumed.reads, consumed.writes) == (2, 0)
