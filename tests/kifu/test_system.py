"""The record library on the home page."""

import msgspec

from tests.kifu.records import FRIEND, a_record, add_records, create_users
from tests.support.app_context import app_context, user_identity
from tests.support.manual_clock import ManualClock
from zataku.kifu.ids import library_of_account
from zataku.kifu.system import plug
from zataku.table import Store

ME = library_of_account(user_identity().account_id)


async def test_the_three_records_that_changed_last_are_shown_by_their_names(embedded: Store, clock: ManualClock):
    await create_users(embedded, ME, FRIEND)
    records = [
        a_record(at, username=ME, slug=f"社団戦/2025/対局{at}", latest_update=f"2100-01-01T00:00:0{at}Z")
        for at in range(5)
    ]
    await add_records(embedded, *records, a_record(9, username=FRIEND))
    home = await plug(app_context(embedded, clock)).home(user_identity())
    latest = [{"id": records[at].kifu_id, "title": f"対局{at}"} for at in (4, 3, 2)]
    assert msgspec.to_builtins(home) == {"count": 5, "latest": latest}


async def test_the_card_of_a_user_without_records_costs_nothing(embedded: Store, clock: ManualClock):
    home = plug(app_context(embedded, clock)).home
    with embedded.measured("guest") as consumed:
        assert msgspec.to_builtins(await home(user_identity(role="guest", is_stored=False))) == {
            "count": 0,
            "latest": [],
        }
    assert consumed.reads == 0
    assert msgspec.to_builtins(await home(user_identity())) == {"count": 0, "latest": []}


async def test_the_home_page_costs_a_few_read_units(embedded: Store, clock: ManualClock):
    await create_users(embedded, ME)
    await add_records(embedded, *(a_record(at, username=ME) for at in range(30)))
    with embedded.measured("home") as consumed:
        await plug(app_context(embedded, clock)).home(user_identity())
    assert consumed.reads <= 2
