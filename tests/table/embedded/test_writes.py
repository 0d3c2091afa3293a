"""Single writes and batches: what they store and what they refuse."""

import asyncio
from decimal import Decimal

import pytest

from tests.table.embedded.tables import NUMBERED, PLAIN, SINGLE, TableClient, game, unpacked
from zataku.table.backend import errors
from zataku.table.backend import expression as ex
from zataku.table.backend.port import DeleteItem, PutItem, UpdateItem
from zataku.table.backend.table_schema import KeyAttribute, TableSchema
from zataku.table.embedded import EmbeddedBackend, writes

ABSENT = ex.Missing(("PK",))


async def test_a_put_replaces_the_whole_item(plain: TableClient) -> None:
    first = await plain.put(game("a", one=1, two=2))
    second = await plain.put(game("a", one=3))
    assert (first.old, unpacked(first.new)) == (None, game("a", one=1, two=2))
    assert unpacked(second.old) == game("a", one=1, two=2)
    assert await plain.get("a") == game("a", one=3)


async def test_numbers_are_returned_in_canonical_form(plain: TableClient) -> None:
    await plain.put(game("a", whole=Decimal("1.00"), part=Decimal("1.50"), floating=0.1, large=10**30))
    item = await plain.get("a")
    assert item == game("a", whole=1, part=Decimal("1.5"), floating=Decimal("0.1"), large=10**30)
    assert type(item["whole"]) is int


async def test_a_failed_condition_returns_the_stored_item(plain: TableClient) -> None:
    await plain.put(game("a", n=1))
    with pytest.raises(errors.ConditionFailed) as failed:
        await plain.put(game("a", n=2), ABSENT)
    assert unpacked(failed.value.current) == game("a", n=1)
    with pytest.raises(errors.ConditionFailed) as failed:
        await plain.delete("b", condition=ex.Exists(("PK",)))
    assert failed.value.current is None
    assert await plain.get("a") == game("a", n=1)


async def test_an_update_creates_a_missing_item(plain: TableClient) -> None:
    written = await plain.update("a", "META", ex.Increase(("n",), 2))
    assert written.old is None
    assert await plain.get("a") == game("a", n=2)


async def test_an_update_of_a_key_is_refused(plain: TableClient) -> None:
    with pytest.raises(errors.BadUpdate, match="SK is a key"):
        await plain.update("a", "META", ex.Assign(("SK",), ex.Literally("other")))
    assert await plain.get("a") is None


async def test_deleting_a_missing_item_is_not_an_error(plain: TableClient) -> None:
    written = await plain.delete("absent")
    assert (written.old, written.new) == (None, None)


@pytest.mark.parametrize(
    ("item", "error"),
    [
        (game(""), errors.BadKey),
        (game("a", ""), errors.BadKey),
        ({"PK": "a"}, errors.BadKey),
        ({"PK": 1, "SK": "x"}, errors.WrongType),
        (game("a" * 2049), errors.BadKey),
        (game("あ" * 683), errors.BadKey),
        (game("a", "b" * 1025), errors.BadKey),
        (game("a", body="x" * 410_000), errors.ItemTooLarge),
        (game("a", n=int("1" * 39)), errors.BadNumber),
        (game("a", n=float("nan")), errors.BadNumber),
        (game("a", thing=object()), errors.WrongType),
        (game("a", mixed={1, "a"}), errors.WrongType),
        (game("a", none=frozenset()), errors.WrongType),
        (game("a", text="\ud800"), errors.WrongType),
        (game("\ud800"), errors.WrongType),
    ],
)
async def test_an_invalid_item_is_refused_and_not_stored(
    plain: TableClient, item: dict, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await plain.put(item)
    assert await plain.scan_all() == []


async def test_the_largest_item_and_keys_are_accepted(plain: TableClient) -> None:
    names = len("PKSKbody") + 2048 + 1024
    item = game("p" * 2048, "s" * 1024, body="x" * (400 * 1024 - names))
    await plain.put(item)
    assert await plain.get("p" * 2048, "s" * 1024) == item
    with pytest.raises(errors.ItemTooLarge):
        await plain.update("p" * 2048, "s" * 1024, ex.Assign(("n",), ex.Literally(1)))
    assert await plain.get("p" * 2048, "s" * 1024) == item


@pytest.mark.parametrize(
    ("attributes", "error"),
    [
        ({"status": 1, "at": 1}, errors.WrongType),
        ({"status": "OPEN", "at": "now"}, errors.WrongType),
        ({"at": "now"}, errors.WrongType),
        ({"status": "", "at": 1}, errors.BadKey),
        ({"name": "n" * 2049}, errors.BadKey),
    ],
)
async def test_a_value_that_an_index_cannot_hold_is_refused(
    games: TableClient, attributes: dict, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await games.put(game("a", **attributes))
    with pytest.raises(error):
        await games.update("a", "META", *(ex.Assign((k,), ex.Literally(v)) for k, v in attributes.items()))
    assert await games.get("a") is None


async def test_items_are_found_by_keys_of_every_type(store: EmbeddedBackend) -> None:
    numbered, single = TableClient(store, NUMBERED), TableClient(store, SINGLE)
    for at in (10, -3, Decimal("0.5"), 2):
        await numbered.put({"id": Decimal("1.0"), "at": at})
    assert [item["at"] for item in await numbered.query(1)] == [-3, Decimal("0.5"), 2, 10]
    await single.put({"id": b"\x00\xff"})
    assert await single.get(b"\x00\xff", None) == {"id": b"\x00\xff"}
    with pytest.raises(errors.BadKey):
        await single.get(b"\x00", "sk")
    with pytest.raises(errors.BadKey):
        await numbered.get(1, None)


async def test_the_error_names_a_table_that_was_never_started(store: EmbeddedBackend) -> None:
    with pytest.raises(errors.BadInput, match="Elsewhere"):
        await TableClient(store, TableSchema("Elsewhere", KeyAttribute("PK"))).put({"PK": "a"})


async def test_a_batch_accepts_25_writes_and_each_item_once(store: EmbeddedBackend, plain: TableClient) -> None:
    puts = [PutItem(PLAIN, game(f"g{n}")) for n in range(26)]
    with pytest.raises(errors.TooManyItems):
        await store.batch_write(puts)
    with pytest.raises(errors.SameItemTwice):
        await store.batch_write([puts[0], DeleteItem(PLAIN, ("g0", "META"))])
    with pytest.raises(errors.BadInput):
        await store.batch_write([PutItem(PLAIN, game("x"), ABSENT)])
    assert await plain.scan_all() == []
    assert await store.batch_write(puts[:25]) == []
    assert await store.batch_write([DeleteItem(PLAIN, ("g0", "META")), PutItem(PLAIN, game("g1", n=1))]) == []
    assert len(await plain.scan_all()) == 24
    assert await plain.get("g1") == game("g1", n=1)


async def test_changing_an_item_after_the_call_does_not_change_the_store(plain: TableClient) -> None:
    item = game("a", inner={"list": [1]})
    await plain.put(item)
    item["inner"]["list"].append(2)
    await plain.put(game("a", inner={"list": [1, 2, 3]}))
    assert await plain.get("a") == game("a", inner={"list": [1, 2, 3]})


async def test_an_unexpected_error_fails_only_its_own_call(
    store: EmbeddedBackend, plain: TableClient, monkeypatch
) -> None:
    def fail(actions, item):
        raise RuntimeError("a bug")

    monkeypatch.setattr(writes, "apply_update", fail)
    results = await asyncio.gather(
        plain.put(game("a")),
        store.write(UpdateItem(PLAIN, ("b", "META"), (ex.Increase(("n",), 1),))),
        plain.put(game("c")),
        return_exceptions=True,
    )
    assert isinstance(results[1], RuntimeError)
    assert [item["PK"] for item in await plain.scan_all()] == ["a", "c"]
