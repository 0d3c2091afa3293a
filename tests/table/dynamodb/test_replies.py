"""Lost responses and throttling: which calls are retried, and which outcomes stay unknown."""

import asyncio
import secrets
from collections.abc import AsyncIterator

import pytest

from tests.support.dynamodb_servers import shared_server
from tests.table.dynamodb.fault_proxy import FaultProxy, error_response, first_only, garbled, lost_after, lost_before
from zataku.table import (
    ConditionFailed,
    Entity,
    NotGranted,
    ResultUnknown,
    Span,
    Store,
    StoreClosed,
    StoreUnreachable,
    Table,
    Throttled,
    TransactionCancelled,
    open_dynamodb,
    path,
)

tallies = Table("TalliesOfReplies", pk="pk", transactions=True)


@tallies.entity(pk="TALLY#{name}")
class Tally(Entity, frozen=True, kw_only=True):
    """A named counter."""

    name: str
    count: int = 0


@tallies.query(returns=Tally)
def tally_of(name: str) -> Span:
    """The tally of a name, as a page."""
    return tallies.partition(f"TALLY#{name}")


count = path(Tally, lambda it: it.count)
A, B = Tally.key(name="a"), Tally.key(name="b")
CONFLICT = error_response(
    "TransactionCanceledException",
    CancellationReasons=[{"Code": "TransactionConflict", "Message": "Another transaction."}, {"Code": "None"}],
)
BUSY = error_response("ProvisionedThroughputExceededException")


@pytest.fixture
async def proxy() -> AsyncIterator[FaultProxy]:
    async with FaultProxy(shared_server("dynoxide").endpoint) as proxy:
        yield proxy


@pytest.fixture
async def store(proxy: FaultProxy) -> AsyncIterator[Store]:
    async with await open_dynamodb([tallies], endpoint=proxy.endpoint, env=secrets.token_hex(5)) as store:
        await store.write_many(put=[Tally(name="a"), Tally(name="b")])
        proxy.seen.clear()
        yield store


async def counts(store: Store) -> list[int]:
    return [tally.count for tally in await store.snapshot(A, B) if tally is not None]


async def add_one_to_both(store: Store, token: str | None = None) -> None:
    async with store.transact(token) as tx:
        tx.update(A, count.add(1))
        tx.update(B, count.add(1))


@pytest.mark.parametrize(
    ("fault", "stored"), [(lost_before, 0), (lost_after, 7), (garbled, 7)], ids=["before", "after", "garbled"]
)
async def test_a_put_whose_reply_is_lost_is_unknown_and_not_retried(
    proxy: FaultProxy, store: Store, fault, stored: int
):
    proxy.faults["PutItem"] = [fault]
    with pytest.raises(ResultUnknown):
        await store.put(Tally(name="a", count=7))
    assert proxy.seen.count("PutItem") == 1
    tally = await store.get(A, strong=True)
    assert tally is not None
    assert tally.count == stored


@pytest.mark.parametrize("fault", [lost_before, lost_after], ids=["before", "after"])
async def test_an_update_or_delete_whose_reply_is_lost_is_unknown_and_not_retried(
    proxy: FaultProxy, store: Store, fault
):
    proxy.faults |= {"UpdateItem": [fault], "DeleteItem": [fault]}
    with pytest.raises(ResultUnknown):
        await store.update(A, count.add(1))
    with pytest.raises(ResultUnknown):
        await store.delete(B)
    assert (proxy.seen.count("UpdateItem"), proxy.seen.count("DeleteItem")) == (1, 1)


@pytest.mark.parametrize("fault", [lost_before, lost_after, garbled], ids=["before", "after", "garbled"])
@pytest.mark.parametrize("token", [None, "my-token"], ids=["without a token", "with a token"])
async def test_a_transaction_whose_reply_is_lost_happens_exactly_once(proxy: FaultProxy, store: Store, fault, token):
    proxy.faults["TransactWriteItems"] = [fault, fault, fault]
    await add_one_to_both(store, token)
    assert await counts(store) == [1, 1]
    assert proxy.seen.count("TransactWriteItems") == 4


async def test_a_transaction_still_in_progress_is_retried_until_it_is_done(proxy: FaultProxy, store: Store):
    """The first attempt is still being carried out when it is sent again."""
    in_progress = error_response("TransactionInProgressException")
    proxy.faults["TransactWriteItems"] = [lost_after, in_progress, CONFLICT, BUSY]
    await add_one_to_both(store)
    assert await counts(store) == [1, 1]


async def test_a_transaction_cancelled_in_a_lost_reply_is_reported_as_cancelled(proxy: FaultProxy, store: Store):
    proxy.faults["TransactWriteItems"] = [lost_after]
    with pytest.raises(TransactionCancelled) as cancelled:
        async with store.transact() as tx:
            tx.put(Tally(name="a", count=9), if_absent=True)
            tx.put(Tally(name="c"))
    assert [reason.code for reason in cancelled.value.reasons] == ["condition_failed", None]
    assert await counts(store) == [0, 0]


async def test_a_transaction_that_never_gets_a_reply_is_unknown(proxy: FaultProxy, store: Store):
    proxy.always["TransactWriteItems"] = lost_before
    with pytest.raises(ResultUnknown):
        await add_one_to_both(store)
    assert await counts(store) == [0, 0]
    assert 3 <= proxy.seen.count("TransactWriteItems") <= 20


async def test_failed_reads_are_retried(proxy: FaultProxy, store: Store):
    proxy.faults |= {
        "GetItem": [lost_before, lost_after, error_response("InternalServerError", 500)],
        "Query": [lost_after, garbled],
        "Scan": [lost_before],
        "BatchGetItem": [lost_after],
        "TransactGetItems": [lost_before],
    }
    assert await store.get(A, strong=True) == Tally(name="a")
    assert await store.first(tally_of("a")) == Tally(name="a")
    assert len([tally async for tally in store.scan(tallies)]) == 2
    assert await store.get_many([A, B]) == [Tally(name="a"), Tally(name="b")]
    assert await counts(store) == [0, 0]


async def test_a_batch_whose_reply_is_lost_is_retried(proxy: FaultProxy, store: Store):
    """Batch writes are idempotent."""
    proxy.faults["BatchWriteItem"] = [lost_after, lost_before]
    await store.write_many(put=[Tally(name="a", count=3), Tally(name="b", count=4)])
    assert await counts(store) == [3, 4]


async def test_unprocessed_items_are_sent_again(proxy: FaultProxy, store: Store):
    proxy.faults |= {"BatchWriteItem": [first_only, first_only], "BatchGetItem": [first_only, first_only]}
    tallies_put = [Tally(name=f"t{at}", count=at) for at in range(5)]
    await store.write_many(put=tallies_put, delete=[A])
    assert await store.get_many([Tally.key(name=tally.name) for tally in tallies_put], strong=True) == tallies_put
    assert await store.get(A, strong=True) is None
    assert (proxy.seen.count("BatchWriteItem"), proxy.seen.count("BatchGetItem")) == (3, 3)


@pytest.mark.parametrize("code", ["ThrottlingException", "ProvisionedThroughputExceededException"])
async def test_throttled_calls_are_retried(proxy: FaultProxy, store: Store, code: str):
    busy = error_response(code)
    proxy.faults |= {operation: [busy] * 3 for operation in ("PutItem", "GetItem", "BatchWriteItem")}
    proxy.faults["TransactWriteItems"] = [busy] * 3
    await store.put(Tally(name="a", count=1))
    await store.write_many(put=[Tally(name="b", count=1)])
    await add_one_to_both(store)
    assert await counts(store) == [2, 2]
    assert await store.get(A, strong=True) == Tally(name="a", count=2)


async def test_endless_throttling_reaches_the_caller(proxy: FaultProxy, store: Store):
    proxy.always["PutItem"] = BUSY
    with pytest.raises(Throttled):
        await store.put(Tally(name="a", count=1))
    assert await counts(store) == [0, 0]


async def test_conflicts_with_other_transactions_are_retried(proxy: FaultProxy, store: Store):
    proxy.faults |= {
        "TransactWriteItems": [CONFLICT] * 4,
        "TransactGetItems": [CONFLICT],
        "PutItem": [error_response("TransactionConflictException")] * 2,
    }
    await add_one_to_both(store)
    assert await counts(store) == [1, 1]
    await store.put(Tally(name="a", count=5))
    assert await counts(store) == [5, 1]


async def test_a_write_answered_with_a_server_error_is_unknown(proxy: FaultProxy, store: Store):
    proxy.faults["PutItem"] = [error_response("InternalServerError", 500)]
    with pytest.raises(ResultUnknown):
        await store.put(Tally(name="a", count=7))


async def test_a_missing_permission_is_reported_without_a_retry(proxy: FaultProxy, store: Store):
    proxy.faults["PutItem"] = [error_response("AccessDeniedException")]
    with pytest.raises(NotGranted):
        await store.put(Tally(name="a", count=7))
    assert proxy.seen.count("PutItem") == 1


async def test_a_failed_write_is_charged_by_the_stored_item(proxy: FaultProxy, store: Store):
    with store.measured("refused") as consumed, pytest.raises(ConditionFailed):
        await store.put(Tally(name="a"), if_absent=True)
    assert (consumed.reads, consumed.writes) == (0, 1)


async def test_accepted_calls_finish_before_the_store_closes(proxy: FaultProxy, store: Store):
    """Closing waits for a call that the server is still handling, and later calls are refused."""
    arrived, released = asyncio.Event(), asyncio.Event()

    async def slow(proxy: FaultProxy, request) -> bytes | None:
        arrived.set()
        await released.wait()
        return await proxy.forward(request)

    proxy.faults["PutItem"] = [slow]
    putting = asyncio.create_task(store.put(Tally(name="a", count=8)))
    await arrived.wait()
    closing = asyncio.create_task(store.close())
    await asyncio.sleep(0)
    with pytest.raises(StoreClosed):
        while True:
            await store.get(A)
    assert not closing.done()
    released.set()
    assert await putting == Tally(name="a", count=8)
    await closing
    with pytest.raises(StoreClosed):
        await store.put(Tally(name="a"))


async def test_an_address_without_a_server_is_unreachable():
    async with FaultProxy(shared_server("dynoxide").endpoint) as stopped:
        endpoint = stopped.endpoint
    with pytest.raises(StoreUnreachable):
        await open_dynamodb([tallies], endpoint=endpoint, env="nowhere")
