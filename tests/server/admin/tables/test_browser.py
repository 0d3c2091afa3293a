"""Browsing the items of a table."""

import base64
from decimal import Decimal
from typing import Any

import pytest

from tests.platform.items import HANA, PASSWORD, a_job, a_session, nth_hash, stored_user
from tests.server.admin.conftest import AdminApp
from zataku.errors import InvalidRequest
from zataku.platform.design import platform
from zataku.server.admin.tables.browser import MASK, read_key
from zataku.table import BadInput, KeyAttribute
from zataku.table.backend.port import PutItem
from zataku.table.schema.entity import binding_of

ITEMS = "tables/Zataku-Platform/items"
PK = f"ACCOUNT#{HANA.account_id}"


async def fill_store(admin_app: AdminApp, sessions: int = 5) -> None:
    await stored_user(admin_app.store)
    # A masked key shows the first letters of a hash.
    session_items = [a_session(HANA, number * 16**60 + number) for number in range(1, sessions + 1)]
    await admin_app.store.write_many(put=[*session_items, *(a_job(subject=f"turn{number}") for number in range(3))])


async def test_a_partition_is_listed_in_the_order_of_its_sort_key(any_admin_app: AdminApp) -> None:
    await fill_store(any_admin_app)
    path = f"tables/{any_admin_app.platform}/items"
    page = await any_admin_app.get(path, pk=PK, limit=100)
    items = list(page["items"])
    while page["next"]:
        page = await any_admin_app.get(path, pk=PK, limit=100, after=page["next"])
        items += page["items"]
    assert [item["kind"] for item in items] == ["Account", *["Session"] * 5]
    assert [item["key"]["SK"]["S"] for item in items] == sorted(item["key"]["SK"]["S"] for item in items)
    assert list(items[0]["attributes"])[:2] == ["PK", "SK"]
    assert items[0]["attributes"]["version"] == {"N": "1"}
    assert items[0]["attributes"]["name"] == {"S": "はなこ"}
    assert page["readUnits"] > 0


async def test_no_secret_is_shown_anywhere(admin_app: AdminApp) -> None:
    await fill_store(admin_app)
    responses = [await admin_app.http.get(f"/api/admin/{ITEMS}", params=query) for query in ({"pk": PK}, {})]
    for response in responses:
        assert PASSWORD not in response.text
        assert not any(nth_hash(number * 16**60 + number) in response.text for number in range(1, 6))
    shown = responses[0].json()["items"]
    assert shown[0]["masked"] == ["password"]
    assert shown[0]["attributes"]["password"] == {"S": MASK}
    assert shown[1]["masked"] == ["tokenHash"]
    assert [item["key"]["SK"]["S"] for item in shown[1:]] == [f"SESSION#000{number}0000…" for number in range(1, 6)]


async def test_a_cursor_reveals_nothing_that_the_page_masks(admin_app: AdminApp) -> None:
    await fill_store(admin_app)
    cursors = [(await admin_app.get(ITEMS, pk=PK, limit=limit))["next"] for limit in range(1, 6)]
    cursors += [(await admin_app.get(ITEMS, limit=limit))["next"] for limit in range(1, 8)]
    hashes = [nth_hash(number * 16**60 + number) for number in range(1, 6)]
    for cursor in cursors:
        content = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        assert [word for word in (*hashes, "SESSION#", "ACCOUNT#") if word.encode() in content] == []


CONDITIONS = [
    ({"sk": "ACCOUNT"}, 1),
    ({"sk": "ACCOUNT", "op": "eq"}, 1),
    ({"sk": "SESSION#", "op": "begins_with"}, 5),
    ({"sk": "SESSION#0003", "op": "lt"}, 3),
    ({"sk": "SESSION#0003", "op": "gt"}, 3),
    ({"sk": "ACCOUNT", "op": "le"}, 1),
    ({"sk": "ACCOUNT", "op": "ge"}, 6),
    ({"sk": "SESSION#0002", "sk2": "SESSION#0004", "op": "between"}, 2),
    ({"sk": "NOTHING"}, 0),
]


async def test_a_partition_is_narrowed_by_a_condition_on_the_sort_key(admin_app: AdminApp) -> None:
    await fill_store(admin_app)
    counts = [(query, len((await admin_app.get(ITEMS, pk=PK, **query))["items"])) for query, _ in CONDITIONS]
    assert counts == CONDITIONS


async def test_the_newest_items_come_first_when_requested(admin_app: AdminApp) -> None:
    await fill_store(admin_app)
    page = await admin_app.get(ITEMS, pk=PK, newest=True, limit=1)
    assert page["items"][0]["key"]["SK"]["S"] == "SESSION#00050000…"


async def test_an_index_shows_its_projected_attributes(admin_app: AdminApp) -> None:
    await fill_store(admin_app)
    pages = [await admin_app.get(ITEMS, index="GSI1", pk=f"DUE#{shard}") for shard in range(4)]
    items = [item for page in pages for item in page["items"]]
    assert {item["key"]["PK"]["S"] for item in items} == {f"JOB#othello#close_turn#turn{n}" for n in range(3)}
    assert {item["kind"] for item in items} == {"Job"}
    assert "payload" not in items[0]["attributes"]
    everything = await admin_app.get(ITEMS, index="GSI1")
    assert len(everything["items"]) == 3


async def test_the_pages_of_a_table_show_every_item_once(any_admin_app: AdminApp) -> None:
    await fill_store(any_admin_app)
    keys, after = [], None
    while True:
        page = await any_admin_app.get(
            f"tables/{any_admin_app.platform}/items", limit=2, **({"after": after} if after else {})
        )
        assert len(page["items"]) <= 2
        keys += [(item["key"]["PK"]["S"], item["key"]["SK"]["S"]) for item in page["items"]]
        after = page["next"]
        if after is None:
            break
    assert len(keys) == len(set(keys)) == 10


async def test_an_item_of_any_shape_is_shown(admin_app: AdminApp) -> None:
    item = {
        "PK": "STRANGE",
        "SK": "1",
        "bytes": b"hi",
        "deep": {"list": [1, None, True]},
        "exact": Decimal("0.12345678901234567890123456789012345678"),
        "names": frozenset({"b", "a"}),
    }
    await admin_app.store.backend.write(PutItem(admin_app.store.schema(platform), item))
    (shown,) = (await admin_app.get(ITEMS, pk="STRANGE"))["items"]
    assert shown["kind"] is None
    assert shown["attributes"] == {
        "PK": {"S": "STRANGE"},
        "SK": {"S": "1"},
        "bytes": {"B": "aGk="},
        "deep": {"M": {"list": {"L": [{"N": "1"}, {"NULL": True}, {"BOOL": True}]}}},
        "exact": {"N": "0.12345678901234567890123456789012345678"},
        "names": {"SS": ["a", "b"]},
    }


async def test_browsing_is_metered_under_its_own_label(admin_app: AdminApp) -> None:
    page = await admin_app.get(ITEMS, pk=PK)
    used = admin_app.store.meter.totals["Zataku-Platform.browse"]
    assert (used.calls, used.reads) == (1, page["readUnits"])


INVALID_QUERIES = [
    {"sk": "ACCOUNT"},
    {"op": "eq"},
    {"newest": "true"},
    {"pk": PK, "op": "eq"},
    {"pk": PK, "sk2": "B"},
    {"pk": PK, "sk": "A", "op": "between"},
    {"pk": PK, "sk": "A", "sk2": "B"},
    {"pk": PK, "sk": "B", "sk2": "A", "op": "between"},
    {"pk": PK, "sk": "A", "op": "like"},
    {"pk": "x" * 3000},
    {"pk": "x" * 5000},
    {"pk": PK, "sk": "x" * 1100},
    {"limit": 0},
    {"limit": 101},
    {"limit": "all"},
    {"after": "rubbish"},
    {"after": "é"},
    {"newest": "perhaps", "pk": PK},
]


async def test_an_invalid_query_is_refused(admin_app: AdminApp) -> None:
    statuses = [(query, (await admin_app.refusal("GET", ITEMS, params=query))[0]) for query in INVALID_QUERIES]
    assert statuses == [(query, 400) for query in INVALID_QUERIES]


async def test_a_cursor_of_another_query_is_refused(admin_app: AdminApp) -> None:
    await fill_store(admin_app)
    after = (await admin_app.get(ITEMS, pk=PK, limit=1))["next"]
    assert await admin_app.refusal("GET", ITEMS, params={"after": after}) == (400, "bad_cursor")
    assert await admin_app.refusal("GET", ITEMS, params={"pk": "ACCOUNT#x", "after": after}) == (400, "bad_cursor")


async def test_a_missing_index_is_reported_as_not_found(admin_app: AdminApp) -> None:
    assert await admin_app.refusal("GET", f"{ITEMS}?index=GSI9") == (404, "not_found")


async def test_a_sort_key_is_refused_on_a_table_without_one(admin_app: AdminApp) -> None:
    rooms = "tables/LiveComment-Rooms-prod/items"
    assert await admin_app.refusal("GET", rooms, params={"pk": "x", "sk": "y"}) == (400, "invalid")
    assert (await admin_app.get(rooms, pk="x"))["items"] == []


def test_keys_are_parsed_by_their_type() -> None:
    assert read_key(KeyAttribute("n", "N"), "12.50", 1024) == Decimal("12.5")
    assert read_key(KeyAttribute("b", "B"), "aGk=", 1024) == b"hi"
    for kind, text in (("N", "twelve"), ("N", "NaN"), ("B", "%%")):
        with pytest.raises((InvalidRequest, BadInput)):
            read_key(KeyAttribute("k", kind), text, 1024)  # type: ignore[arg-type]  the parameter is a literal


async def put_raw(admin_app: AdminApp, item: dict[str, object]) -> None:
    """Write an item as another program would."""
    schema = admin_app.store.schema(platform)
    await admin_app.store.calls("raw", lambda used: admin_app.store.backend.write(PutItem(schema, item), used))


def damaged_session(number: int) -> dict[str, object]:
    session = a_session(HANA, number * 16**60 + number)
    return {**binding_of(type(session)).encode(session), "generation": 0}


async def test_items_that_do_not_fit_are_marked_with_the_reason(any_admin_app: AdminApp) -> None:
    await fill_store(any_admin_app)
    await put_raw(any_admin_app, damaged_session(3))
    await put_raw(any_admin_app, {"PK": PK, "SK": "UNKNOWN"})
    path = f"tables/{any_admin_app.platform}/items"
    items: list[Any] = []
    after: dict[str, str] = {}
    while True:
        page = await any_admin_app.get(path, pk=PK, limit=100, **after)
        items += page["items"]
        if not page["next"]:
            break
        after = {"after": page["next"]}
    problems = [(item["kind"], item["problem"]) for item in items if item["problem"]]
    assert [kind for kind, _ in problems] == ["Session", None]
    assert "generation" in problems[0][1]
    assert "It is none of" in problems[1][1]


async def test_only_the_items_that_do_not_fit_are_listed_on_request(any_admin_app: AdminApp) -> None:
    await fill_store(any_admin_app, sessions=40)
    await put_raw(any_admin_app, damaged_session(7))
    path = f"tables/{any_admin_app.platform}/items"
    items: list[Any] = []
    after: dict[str, str] = {}
    scanned = 0
    while True:
        page = await any_admin_app.get(path, unreadable=True, limit=5, **after)
        items += page["items"]
        scanned += page["scanned"]
        if not page["next"]:
            break
        after = {"after": page["next"]}
    assert [item["kind"] for item in items] == ["Session"]
    assert scanned >= 44
    partition = await any_admin_app.get(path, unreadable=True, pk="ACCOUNT#nobody")
    assert partition["items"] == []


async def test_no_secret_is_shown_in_the_reason_of_an_item_that_does_not_fit(admin_app: AdminApp) -> None:
    await put_raw(admin_app, damaged_session(3))
    response = await admin_app.http.get(f"/api/admin/{ITEMS}", params={"unreadable": True})
    (item,) = response.json()["items"]
    assert item["problem"]
    assert nth_hash(3 * 16**60 + 3) not in response.text


async def test_an_index_is_not_searched_for_items_that_do_not_fit(admin_app: AdminApp) -> None:
    index = platform.schema().indexes[0].name
    response = await admin_app.http.get(f"/api/admin/{ITEMS}", params={"unreadable": True, "index": index})
    assert response.status_code == 400


async def test_a_cursor_of_the_search_belongs_to_the_search(admin_app: AdminApp) -> None:
    await fill_store(admin_app)
    page = await admin_app.get(ITEMS, limit=2)
    response = await admin_app.http.get(f"/api/admin/{ITEMS}", params={"unreadable": True, "after": page["next"]})
    assert response.json()["error"]["code"] == "bad_cursor"
