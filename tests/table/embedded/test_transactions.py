"""Transactions and their tokens."""

import pytest

from tests.table.embedded.tables import GAMES, PLAIN, TableClient, game, opened
from zataku.clock import ManualClock
from zataku.table.backend import errors
from zataku.table.backend import expression as ex
from zataku.table.backend.port import CheckItem, DeleteItem, PutItem, UpdateItem
from zataku.table.embedded import EmbeddedBackend

THERE = ex.Exists(("PK",))
ABSENT = ex.Missing(("PK",))


def added(pk: str, by: int = 1) -> UpdateItem:
    return UpdateItem(PLAIN, (pk, "META"), (ex.Increase(("n",), by),))


async def test_all_of_a_transaction_happens(store: EmbeddedBackend, plain: TableClient, games: TableClient) -> None:
    await plain.put(game("gone"))
    await plain.put(game("kept"))
    await store.transact(
        [
            PutItem(GAMES, game("new"), ABSENT),
            DeleteItem(PLAIN, ("gone", "META"), THERE),
            added("counter", 5),
            CheckItem(PLAIN, ("kept", "META"), THERE),
        ]
    )
    assert [item["PK"] for item in await plain.every()] == ["counter", "kept"]
    assert await games.get("new") == game("new")


async def test_one_failed_item_cancels_all_and_every_item_has_a_reason(
    store: EmbeddedBackend, plain: TableClient
) -> None:
    await plain.put(game("a", n=1))
    await plain.put(game("text", n="one"))
    with pytest.raises(errors.TransactionCancelled) as cancelled:
        await store.transact(
            [
                PutItem(PLAIN, game("b")),
                PutItem(PLAIN, game("a"), ABSENT),
                added("text"),
                CheckItem(PLAIN, ("z", "META"), THERE),
            ]
        )
    assert [reason.code for reason in cancelled.value.reasons] == [
        None,
        "condition_failed",
        "invalid",
        "condition_failed",
    ]
    assert opened(cancelled.value.reasons[1].current) == game("a", n=1)
    assert cancelled.value.reasons[3].current is None
    assert "number" in cancelled.value.reasons[2].message
    assert await plain.get("b") is None


async def test_an_update_that_makes_an_item_too_large_is_a_reason(store: EmbeddedBackend, plain: TableClient) -> None:
    await plain.put(game("a", body="x" * 400_000))
    with pytest.raises(errors.TransactionCancelled) as cancelled:
        await store.transact([UpdateItem(PLAIN, ("a", "META"), (ex.Assign(("more",), ex.Literally("y" * 20_000)),))])
    assert cancelled.value.reasons[0].code == "invalid"
    assert not cancelled.value.conflict


async def test_a_transaction_has_its_limits(store: EmbeddedBackend, plain: TableClient) -> None:
    with pytest.raises(errors.TooManyItems):
        await store.transact([added(f"n{n}") for n in range(101)])
    with pytest.raises(errors.SameItemTwice):
        await store.transact([added("a"), CheckItem(PLAIN, ("a", "META"), ABSENT)])
    with pytest.raises(errors.TransactionTooLarge):
        await store.transact([PutItem(PLAIN, game(f"n{n}", body="x" * 400_000)) for n in range(11)])
    with pytest.raises(errors.ItemTooLarge):
        await store.transact([added("a"), PutItem(PLAIN, game("b", body="x" * 410_000))])
    with pytest.raises(errors.BadInput):
        await store.transact([])
    assert await plain.every() == []
    await store.transact([added(f"n{n}") for n in range(100)])


async def test_large_items_that_are_only_updated_count_too(store: EmbeddedBackend, plain: TableClient) -> None:
    for n in range(11):
        await plain.put(game(f"n{n}", body="x" * 400_000))
    with pytest.raises(errors.TransactionTooLarge):
        await store.transact([added(f"n{n}") for n in range(11)])
    assert "n" not in (await plain.get("n0") or {})


async def test_the_same_token_does_nothing_again_for_ten_minutes(
    store: EmbeddedBackend, plain: TableClient, clock: ManualClock
) -> None:
    writes = [added("a"), UpdateItem(PLAIN, ("b", "META"), (ex.Include(("s",), frozenset({"x", "y"})),))]
    await store.transact(writes, "token")
    await clock.advance(599)
    await store.transact(writes, "token")
    assert await plain.get("a") == game("a", n=1)
    with pytest.raises(errors.TokenReused):
        await store.transact([added("a", 2)], "token")
    await clock.advance(2)
    await store.transact(writes, "token")
    assert await plain.get("a") == game("a", n=2)


async def test_a_cancelled_transaction_does_not_use_up_its_token(store: EmbeddedBackend, plain: TableClient) -> None:
    writes = [PutItem(PLAIN, game("new")), CheckItem(PLAIN, ("a", "META"), THERE)]
    with pytest.raises(errors.TransactionCancelled):
        await store.transact(writes, "token")
    await plain.put(game("a"))
    await store.transact(writes, "token")
    assert await plain.get("new") == game("new")


async def test_a_token_outlives_a_restart(store: EmbeddedBackend, plain: TableClient) -> None:
    writes = [UpdateItem(PLAIN, ("a", "META"), (ex.Increase(("n",), 1), ex.Include(("s",), frozenset("abcdef"))))]
    await store.transact(writes, "token")
    await store.close()
    await store.start([PLAIN, GAMES])
    await store.transact(writes, "token")
    assert (await plain.get("a") or {})["n"] == 1


async def test_a_token_is_short(store: EmbeddedBackend) -> None:
    with pytest.raises(errors.BadInput, match="36"):
        await store.transact([added("a")], "t" * 37)
