"""Every access pattern costs its budget, and the largest record costs what the departures state."""

from msgspec.structs import replace

from tests.kifu.costs import CASES, CLAIM
from tests.kifu.records import ME, NOW, a_record_of, create_users, kid, settings
from tests.support.cost_assertions import budget_mismatches
from tests.support.stores import START
from zataku.kifu.design import slug_claim
from zataku.kifu.entities import kifu_table
from zataku.kifu.limits import KIFU_BYTES, PositionHash, ShareCode
from zataku.kifu.samples import largest_record
from zataku.kifu.writes import (
    add_record,
    change_moves,
    change_record,
    keep_positions,
    remove_record,
    share_record,
    touch_record,
)
from zataku.kifu.writes.positions import position_parts
from zataku.table import Store, add_seconds, format_instant
from zataku.table.backend.values import size_of
from zataku.table.schema.entity import binding_of


async def test_every_access_pattern_costs_its_budget(priced: Store):
    assert await budget_mismatches(priced, CASES) == {}


async def test_a_record_of_300_kilobytes_costs_what_the_departures_state(embedded: Store):
    await create_users(embedded)
    large = a_record_of(KIFU_BYTES)
    with embedded.measured("add") as adding:
        await embedded.write(add_record(large, await settings(embedded)))
    with embedded.measured("share") as sharing:
        shared = await embedded.write(share_record(large, ShareCode("lkihofkwif4tF")))
    with embedded.measured("change") as changing:
        await embedded.write(change_record(replace(shared, memo="x"), shared, shared.latest_update))
    with embedded.measured("touch") as touching:
        await embedded.write(touch_record(ME, ME, kid(0), add_seconds(format_instant(START), 3600)))
    assert (adding.writes, sharing.writes, changing.writes, touching.writes) == (913, 907, 903, 905)
    private = await embedded.put(large)
    claim = await embedded.get(slug_claim(ME, large.slug))
    with embedded.measured("moves") as moving:
        await embedded.write(change_moves(replace(private, kifu="b" * KIFU_BYTES), private, claim, add_seconds(NOW, 9)))
    with embedded.measured("remove") as removing:
        await embedded.write(remove_record(claim))
    assert (moving.writes, removing.writes) == (911, 916)


async def test_the_positions_of_a_game_of_120_moves_cost_what_the_departures_state(embedded: Store):
    claim = await embedded.put(CLAIM)
    parts = position_parts(PositionHash(f"{at:016x}") for at in range(121))
    with embedded.measured("positions") as consumed:
        for number, part in enumerate(parts):
            await embedded.write(keep_positions(claim, number, part))
    assert consumed.writes == 373
    assert consumed.by_resource["ShogiProject", "SwapIndex"] == (0, 123)


def test_the_largest_record_has_the_size_in_the_waiver():
    largest = largest_record("u" * 32, "k" * 32, START)
    item = binding_of(type(largest)).encode(largest)
    size = sum(size_of(name) + size_of(value) for name, value in item.items())
    (waiver,) = kifu_table.waivers
    assert waiver.limit.startswith(f"{size:,} bytes")
    assert size < 400 * 1024
