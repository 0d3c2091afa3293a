"""Statistics of the tables: sizes, units used, and the cost of a month."""

import asyncio

import pytest
from msgspec.structs import replace

from tests.platform.items import HANA, nth_account_id, stored_user
from tests.server.admin.conftest import AdminApp
from zataku.errors import InvalidRequest
from zataku.platform.design import account
from zataku.server.admin.tables.prices import PRICES, month_cost, read_prices
from zataku.table.backend.port import Size

TABLE = "Zataku-Platform"


async def test_every_table_shows_its_size_entities_and_indexes(admin_app: AdminApp) -> None:
    await stored_user(admin_app.store)
    stats = await admin_app.get("tables")
    names = {table["name"]: table for table in stats["tables"]}
    assert {name: table["system"] for name, table in names.items()} == {
        TABLE: "platform",
        "LiveComment-Rooms-prod": "live",
        "LiveComment-Comments-prod": "live",
        "LiveComment-Connections-prod": "live",
        "LiveComment-Moderation-prod": "live",
    }
    assert names[TABLE]["items"] == 2
    assert 300 < names[TABLE]["bytes"] < 800
    assert {"Account", "NameClaim", "Job"} <= set(names[TABLE]["kinds"])
    assert [index["name"] for index in names[TABLE]["indexes"]] == ["GSI1", "GSI2"]
    assert {index["state"] for index in names[TABLE]["indexes"]} == {"active"}
    assert stats["sizedAt"] == round(admin_app.clock.now() * 1000)


async def test_sizes_are_cached_for_some_seconds(admin_app: AdminApp) -> None:
    assert (await admin_app.get(f"tables/{TABLE}"))["figures"]["items"] == 0
    await stored_user(admin_app.store)
    assert (await admin_app.get(f"tables/{TABLE}"))["figures"]["items"] == 0
    await admin_app.clock.advance(20)
    assert (await admin_app.get(f"tables/{TABLE}"))["figures"]["items"] == 2


async def test_sizes_are_counted_again_when_the_clock_is_set_back(admin_app: AdminApp) -> None:
    assert (await admin_app.get(f"tables/{TABLE}"))["figures"]["items"] == 0
    await stored_user(admin_app.store)
    admin_app.clock.set_back(7200)
    assert (await admin_app.get(f"tables/{TABLE}"))["figures"]["items"] == 2


async def test_a_cancelled_reader_does_not_cancel_the_count(
    admin_app: AdminApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts, released = 0, asyncio.Event()
    count = admin_app.store.backend.sizes

    async def blocked_sizes() -> list[Size]:
        nonlocal counts
        counts += 1
        await released.wait()
        return await count()

    monkeypatch.setattr(admin_app.store.backend, "sizes", blocked_sizes)
    cancelled = asyncio.create_task(admin_app.services.tables.sizes.read())
    await asyncio.sleep(0)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    readers = [asyncio.create_task(admin_app.services.tables.sizes.read()) for _ in range(3)]
    released.set()
    assert all((TABLE, None) in sizes for sizes in await asyncio.gather(*readers))
    assert counts == 1


async def test_the_cost_of_a_month_follows_from_the_units_used(any_admin_app: AdminApp) -> None:
    admin_app = any_admin_app
    await stored_user(admin_app.store)
    for _ in range(10):
        await admin_app.store.get(account(HANA.account_id))
    await admin_app.clock.advance(100)
    stats = await admin_app.get("tables")
    table = next(table for table in stats["tables"] if table["name"] == admin_app.platform)
    pattern = next(pattern for pattern in table["patterns"] if pattern["name"] == "account")
    assert pattern["kind"] == "item"
    assert pattern["says"] == "One account, read strongly."
    assert pattern["run"]["calls"] == pattern["ever"]["calls"] == 10
    assert pattern["run"]["readUnits"] >= 10
    # A month of 730 hours at the rate of these 100 seconds.
    expected = pattern["run"]["readUnits"] / 100 * 730 * 3600 / 1_000_000 * 0.125
    assert pattern["month"] == pytest.approx(expected)
    assert stats["measuredSeconds"] == 100
    assert table["month"]["reads"] >= expected
    assert stats["month"]["total"] >= table["month"]["total"] > 0
    assert stats["prices"]["region"] == "us-east-1"


async def test_usage_of_earlier_runs_is_shown_separately(admin_app: AdminApp) -> None:
    await admin_app.store.get(account(HANA.account_id))
    await admin_app.store.flush_usage()
    # As after a restart: the stored usage remains, and this run has used nothing yet.
    admin_app.store.meter.totals.clear()
    patterns = (await admin_app.get(f"tables/{TABLE}"))["figures"]["patterns"]
    pattern = next(pattern for pattern in patterns if pattern["name"] == "account")
    assert (pattern["run"]["calls"], pattern["ever"]["calls"], pattern["month"]) == (0, 1, 0)


async def test_calls_without_a_declared_pattern_are_shown(admin_app: AdminApp) -> None:
    await stored_user(admin_app.store, replace(HANA, account_id=nth_account_id(7)))
    with admin_app.store.measured("an evening") as consumed:
        await admin_app.store.get(account(nth_account_id(7)))
    stats = await admin_app.get("tables")
    assert [(usage["name"], usage["run"]["readUnits"]) for usage in stats["others"]] == [("an evening", consumed.reads)]
    table = next(table for table in stats["tables"] if table["name"] == TABLE)
    other = [pattern["name"] for pattern in table["patterns"] if pattern["kind"] == "other"]
    assert other == ["write_many Account + NameClaim"]


async def test_a_table_shows_its_design(admin_app: AdminApp) -> None:
    detail = await admin_app.get(f"tables/{TABLE}")
    assert (detail["pk"], detail["sk"]) == ({"name": "PK", "type": "S"}, {"name": "SK", "type": "S"})
    assert detail["ttl"] == "expiresAt"
    session = next(entity for entity in detail["entities"] if entity["name"] == "Session")
    assert session["keys"] == {"PK": "ACCOUNT#<accountId>", "SK": "SESSION#<tokenHash>"}
    fields = {field["name"]: field for field in session["fields"]}
    assert fields["tokenHash"]["secret"]
    assert not fields["userAgent"]["secret"]
    assert fields["userAgent"]["type"] == "String"
    assert detail["indexes"][0]["projection"] == "INCLUDE"
    assert "dueAt" in detail["indexes"][0]["attributes"]


async def test_a_missing_table_is_reported_as_not_found(admin_app: AdminApp) -> None:
    assert await admin_app.refusal("GET", "tables/ZatakuStore") == (404, "not_found")
    assert await admin_app.refusal("GET", "tables/ZatakuStore/items") == (404, "not_found")


def test_prices_can_be_set() -> None:
    tokyo = read_prices("ap-northeast-1 2026-01-31 0.1425 0.715 0.285")
    assert (tokyo.region, tokyo.million_writes) == ("ap-northeast-1", 0.715)
    assert month_cost(tokyo, 0, 1_000_000, 730 * 3600, 2**30).total == pytest.approx(0.715 + 0.285)
    assert month_cost(PRICES, 0, 0, 0, 0).total == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tokyo",
        "eu-west-1 2026-01-01 1 2",
        "eu-west-1 today 1 2 3",
        "eu-west-1 2026-01-01 1 2 -3",
        "eu-west-1 2026-01-01 1 nan 3",
    ],
)
def test_invalid_prices_are_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match="us-east-1 2024-11-01"):
        read_prices(text)
