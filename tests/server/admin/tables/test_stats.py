"""What lies in the tables, what was used of them, and what a month of it would cost."""

import asyncio

import pytest
from msgspec.structs import replace

from tests.platform.items import HANA, numbered, stored_user
from tests.server.admin.conftest import AdminApp
from zataku.errors import InvalidRequest
from zataku.platform.design import account
from zataku.server.admin.tables.prices import PRICES, month_cost, read_prices
from zataku.table.backend.port import Size

TABLE = "Zataku-Platform"


async def test_every_table_says_what_lies_in_it(admin_app: AdminApp) -> None:
    await stored_user(admin_app.store)
    told = await admin_app.get("tables")
    names = {table["name"]: table for table in told["tables"]}
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
    assert told["sizedAt"] == round(admin_app.clock.now() * 1000)


async def test_sizes_are_counted_anew_after_a_while_and_not_at_every_look(admin_app: AdminApp) -> None:
    assert (await admin_app.get(f"tables/{TABLE}"))["figures"]["items"] == 0
    await stored_user(admin_app.store)
    assert (await admin_app.get(f"tables/{TABLE}"))["figures"]["items"] == 0
    await admin_app.clock.advance(20)
    assert (await admin_app.get(f"tables/{TABLE}"))["figures"]["items"] == 2


async def test_a_count_outlives_whoever_lost_patience(admin_app: AdminApp, monkeypatch: pytest.MonkeyPatch) -> None:
    counts, go_on = 0, asyncio.Event()
    count = admin_app.store.backend.sizes

    async def slow() -> list[Size]:
        nonlocal counts
        counts += 1
        await go_on.wait()
        return await count()

    monkeypatch.setattr(admin_app.store.backend, "sizes", slow)
    impatient = asyncio.create_task(admin_app.services.tables.sizes.read())
    await asyncio.sleep(0)
    impatient.cancel()
    with pytest.raises(asyncio.CancelledError):
        await impatient
    patient = [asyncio.create_task(admin_app.services.tables.sizes.read()) for _ in range(3)]
    go_on.set()
    assert all((TABLE, None) in found for found in await asyncio.gather(*patient))
    assert counts == 1


async def test_units_become_dollars(any_admin_app: AdminApp) -> None:
    admin_app = any_admin_app
    await stored_user(admin_app.store)
    for _ in range(10):
        await admin_app.store.get(account(HANA.account_id))
    await admin_app.clock.advance(100)
    told = await admin_app.get("tables")
    table = next(table for table in told["tables"] if table["name"] == admin_app.platform)
    pattern = next(pattern for pattern in table["patterns"] if pattern["name"] == "account")
    assert pattern["kind"] == "item"
    assert pattern["says"] == "One account, read strongly."
    assert pattern["run"]["calls"] == pattern["ever"]["calls"] == 10
    assert pattern["run"]["readUnits"] >= 10
    # As many reads in a month of 730 hours as in these 100 seconds.
    wanted = pattern["run"]["readUnits"] / 100 * 730 * 3600 / 1_000_000 * 0.125
    assert pattern["month"] == pytest.approx(wanted)
    assert told["measuredSeconds"] == 100
    assert table["month"]["reads"] >= wanted
    assert told["month"]["total"] >= table["month"]["total"] > 0
    assert told["prices"]["region"] == "us-east-1"


async def test_what_was_used_in_earlier_runs_is_told_apart(admin_app: AdminApp) -> None:
    await admin_app.store.get(account(HANA.account_id))
    await admin_app.store.flush_usage()
    # As after a restart: what is kept lies in the store, and this run has used nothing yet.
    admin_app.store.meter.totals.clear()
    patterns = (await admin_app.get(f"tables/{TABLE}"))["figures"]["patterns"]
    told = next(pattern for pattern in patterns if pattern["name"] == "account")
    assert (told["run"]["calls"], told["ever"]["calls"], told["month"]) == (0, 1, 0)


async def test_calls_that_no_pattern_stands_for_are_not_lost(admin_app: AdminApp) -> None:
    await stored_user(admin_app.store, replace(HANA, account_id=numbered(7)))
    with admin_app.store.measured("an evening") as consumed:
        await admin_app.store.get(account(numbered(7)))
    told = await admin_app.get("tables")
    assert [(each["name"], each["run"]["readUnits"]) for each in told["others"]] == [("an evening", consumed.reads)]
    table = next(table for table in told["tables"] if table["name"] == TABLE)
    other = [pattern["name"] for pattern in table["patterns"] if pattern["kind"] == "other"]
    assert other == ["write_many Account + NameClaim"]


async def test_a_table_shows_its_design(admin_app: AdminApp) -> None:
    told = await admin_app.get(f"tables/{TABLE}")
    assert (told["pk"], told["sk"]) == ({"name": "PK", "type": "S"}, {"name": "SK", "type": "S"})
    assert told["ttl"] == "expiresAt"
    session = next(entity for entity in told["entities"] if entity["name"] == "Session")
    assert session["keys"] == {"PK": "ACCOUNT#<accountId>", "SK": "SESSION#<tokenHash>"}
    fields = {field["name"]: field for field in session["fields"]}
    assert fields["tokenHash"]["secret"]
    assert not fields["userAgent"]["secret"]
    assert fields["userAgent"]["type"] == "String"
    assert told["indexes"][0]["projection"] == "INCLUDE"
    assert "dueAt" in told["indexes"][0]["attributes"]


async def test_a_table_that_is_not_there_is_not_found(admin_app: AdminApp) -> None:
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
def test_prices_that_cannot_be_are_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match="us-east-1 2024-11-01"):
        read_prices(text)
