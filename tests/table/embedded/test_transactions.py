"""Transactions and their tokens."""

import pytest

from tests.support.manual_clock import ManualClock
from tests.table.embedded.tables import GAMES, PLAIN, TableClient, game, unpacked
from zataku.table.backend import errors
from zataku.table.backend import expression as ex
from zataku.table.backend.port import CheckItem, DeleteItem, PutItem, UpdateItem
from zataku.table.embedded import EmbeddedBackend

EXISTS = ex.Exists(("PK",))
ABSENT = ex.Missing(("PK",))


def increment(pk: str, by: int = 1) -> UpdateItem:
    return UpdateItem(PLAIN, (pk, "META"), (ex.Increase(("n",), by),))


async def test_a_transaction_carries_out_all_of_its_writes(
    store: EmbeddedBackend, plain: TableClient, games: TableClient
) -> None:
    await plain.put(game("gone"))
    await plain.put(game("kept"))
    await store.transact(
        [
            PutItem(GAMES, game("new"), ABSENT),
            DeleteItem(PLAIN, ("gone", "META"), EXISTS),
            increment("counter", 5),
            CheckItem(PLAIN, ("kept", "META"), EXISTS),
        ]
    )
    assert [item["PK"] for item in await plain.scan_all()] == ["counter", "kept"]
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
                increment("text"),
                CheckItem(PLAIN, ("z", "META"), EXISTS),
            ]
        )
    assert [reason.code for reason in cancelled.value.reasons] == [
        None,
        "condition_failed",
        "invalid",
        "condition_failed",
    ]
    assert unpacked(cancelled.value.reasons[1].current) == game("a", n=1)
    assert cancelled.value.reasons[3].current is None
    assert "number" in cancelled.value.reasons[2].message
    assert await plain.get("b") is None


async def test_an_update_that_makes_an_item_too_large_cancels_the_transaction(
    store: EmbeddedBackend, plain: TableClient
) -> None:
    await plain.put(game("a", body="x" * 400_000))
    with pytest.raises(errors.TransactionCancelled) as cancelled:
        await store.transact([UpdateItem(PLAIN, ("a", "META"), (ex.Assign(("more",), ex.Literally("y" * 20_000)),))])
    assert cancelled.value.reasons[0].code == "invalid"
    assert not cancelled.value.conflict


async def test_a_transaction_beyond_its_limits_is_refused(store: EmbeddedBackend, plain: TableClient) -> None:
    with pytest.raises(errors.TooManyItems):
        await store.transact([increment(f"n{n}") for n in range(101)])
    with pytest.raises(errors.SameItemTwice):
        await store.transact([increment("a"), CheckItem(PLAIN, ("a", "META"), ABSENT)])
    with pytest.raises(errors.TransactionTooLarge):
        await store.transact([PutItem(PLAIN, game(f"n{n}", body="x" * 400_000)) for n in range(11)])
    with pytest.raises(errors.ItemTooLarge):
        await store.transact([increment("a"), PutItem(PLAIN, game("b", body="x" * 410_000))])
    with pytest.raises(errors.BadInput):
        await store.transact([])
    assert await plain.scan_all() == []
    await store.transact([increment(f"n{n}") for n in range(100)])


async def test_updated_items_count_towards_the_size_of_a_transaction(
    store: EmbeddedBackend, plain: TableClient
) -> None:
    for n in range(11):
        await plain.put(game(f"n{n}", body="x" * 400_000))
    with pytest.raises(errors.TransactionTooLarge):
        await store.transact([increment(f"n{n}") for n in range(11)])
    assert "n" not in (await plain.get("n0") or {})


async def test_a_repeated_token_has_no_effect_for_ten_minutes(
    store: EmbeddedBackend, plain: TableClient, clock: ManualClock
) -> None:
    writes = [increment("a"), UpdateItem(PLAIN, ("b", "META"), (ex.Include(("s",), frozenset({"x", "y"})),))]
    await store.transact(writes, "token")
    await clock.advance(599)
    await store.transact(writes, "token")
    assert await plain.get("a") == game("a", n=1)
    with pytest.raises(errors.TokenReused):
        await store.transact([increment("a", 2)], "token")
    await clock.advance(2)
    await store.transact(writes, "token")
    assert await plain.get("a") == game("a", n=2)


async def test_a_cancelled_transaction_does_not_use_up_its_token(store: EmbeddedBackend, plain: TableClient) -> None:
    writes = [PutItem(PLAIN, game("new")), CheckItem(PLAIN, ("a", "META"), EXISTS)]
    with pytest.raises(errors.TransactionCancelled):
        await store.transact(writes, "token")
    await plain.put(game("a"))
    await store.transact(writes, "token")
    assert await plain.get("new") == game("new")


async def test_a_token_survives_a_restart(store: EmbeddedBackend, plain: TableClient) -> None:
    writes = [UpdateItem(PLAIN, ("a", "META"), (ex.Increase(("n",), 1), ex.Include(("s",), frozenset("abcdef"))))]
    await store.transact(writes, "token")
    await store.close()
    await store.start([PLAIN, GAMES])
    await store.transact(writes, "token")
    assert (await plain.get("a") or {})["n"] == 1


async def test_a_token_longer_than_36_characters_is_refused(store: EmbeddedBackend) -> None:
    with pytest.raises(errors.BadInput, match="36"):
        await store.transact([increment("a")], "t" * 37)
