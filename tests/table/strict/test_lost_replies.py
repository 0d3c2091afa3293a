"""Lost replies and repeated stream records of the strict backend."""

import pytest

from tests.table.strict.room_fixtures import (  # noqa: F401 - pytest finds the fixtures among the names of this module
    ROOM,
    StrictFactory,
    fill,
    get,
    item,
    key,
    put,
    room_backend,
    seat,
    stored_seats,
    strict_backend_factory,
)
from zataku.table.backend import expression as ex
from zataku.table.backend.errors import ConditionFailed, ResultUnknown
from zataku.table.backend.port import Backend, DeleteItem, RawChange, UpdateItem
from zataku.table.strict.strict_backend import StrictBackend


async def drain(backend: StrictBackend, limit: int, acknowledge: bool = True) -> list[list[RawChange]]:
    """The batches that a consumer receives; without acknowledgement only the first one."""
    batches: list[list[RawChange]] = []
    while records := await backend.changes(ROOM, "mirror", limit):
        batches.append(records)
        if not acknowledge:
            break
        await backend.acknowledge(ROOM, "mirror", records[-1].position)
    return batches


@pytest.mark.parametrize("limit", [1, 2, 5, 50])
async def test_a_stream_may_repeat_acknowledged_records_but_loses_none(strict: StrictFactory, limit: int) -> None:
    backend = strict(duplicate=1)
    await backend.changes(ROOM, "mirror", limit)
    batches: list[list[RawChange]] = []
    for number in range(20):
        await backend.write(put(number % 4, version=number))
        if number % 3 == 0:
            batches += await drain(backend, limit)
    batches += await drain(backend, limit)
    assert all(len(batch) <= limit for batch in batches)
    received = [record for batch in batches for record in batch]
    first_seen = list({record.position: record for record in received}.values())
    versions = [image["version"] for record in first_seen if (image := item(record.new))]
    assert versions == list(range(20))
    assert (len(received) > 20) == (backend.injected["duplicate"] > 0) == (limit > 1)


async def test_unacknowledged_records_are_delivered_in_order(strict: StrictFactory) -> None:
    backend = strict(duplicate=1)
    await fill(backend, 6)
    await drain(backend, 2)
    for version in range(6):
        await backend.write(put(1, version=version))
    for _ in range(10):
        (batch,) = await drain(backend, 9, acknowledge=False)
        fresh = [image["version"] for record in batch if (image := item(record.new)) and "version" in image]
        assert fresh == list(range(len(fresh)))
        assert fresh


async def test_no_record_is_repeated_for_a_forgotten_consumer(strict: StrictFactory) -> None:
    backend = strict(duplicate=1)
    await fill(backend, 3)
    await drain(backend, 5)
    await backend.forget(ROOM, "mirror")
    await drain(backend, 50)
    assert backend.injected["duplicate"] == 0


async def test_a_write_without_a_reply_may_or_may_not_have_happened(inner: Backend, strict: StrictFactory) -> None:
    backend = strict(lost_reply=1)
    for number in range(30):
        with pytest.raises(ResultUnknown):
            await backend.write(put(number))
    assert backend.injected == {"lost_reply": 30}
    assert 5 < len(await stored_seats(inner)) < 25


async def test_a_transaction_without_a_reply_has_happened_completely_or_not_at_all(
    inner: Backend, strict: StrictFactory
) -> None:
    backend, committed = strict(lost_reply=1), 0
    for number in range(0, 30, 2):
        with pytest.raises(ResultUnknown):
            await backend.transact([put(number), put(number + 1)])
        stored = await stored_seats(inner) & {number, number + 1}
        assert stored in (set(), {number, number + 1})
        committed += bool(stored)
    assert 0 < committed < 15


async def test_a_transaction_with_a_token_can_be_repeated_until_a_reply_arrives(
    inner: Backend, strict: StrictFactory
) -> None:
    backend = strict(lost_reply=0.6)
    await inner.write(put(1, votes=0))
    for vote in range(20):
        while True:
            try:
                await backend.transact([UpdateItem(ROOM, key(1), (ex.Increase(("votes",), 1),))], token=f"vote-{vote}")
                break
            except ResultUnknown:
                continue
    assert backend.injected["lost_reply"] > 10
    assert item(await inner.get(get(1))) == seat(1, votes=20)


async def test_the_reply_of_a_refused_write_can_be_lost(inner: Backend, strict: StrictFactory) -> None:
    await inner.write(put(1))
    free = ex.Missing(("PK",))
    for seed in range(10):
        with pytest.raises(ResultUnknown):
            await strict(seed, lost_reply=1).write(put(1, free, version=2))
        with pytest.raises(ResultUnknown):
            await strict(seed, lost_reply=1).transact([put(1, free, version=2), put(2)])
    with pytest.raises(ConditionFailed):
        await strict().write(put(1, free))
    assert item(await inner.get(get(1))) == seat(1)
    assert await stored_seats(inner) == {1}


async def test_a_batch_without_a_reply_has_happened_completely_or_not_at_all(
    inner: Backend, strict: StrictFactory
) -> None:
    backend, outcomes = strict(lost_reply=1), set[frozenset[int]]()
    for _ in range(20):
        with pytest.raises(ResultUnknown):
            await backend.batch_write([put(1), put(2)])
        outcomes.add(frozenset(await stored_seats(inner)))
        await inner.batch_write([DeleteItem(ROOM, key(1)), DeleteItem(ROOM, key(2))])
    assert outcomes == {frozenset(), frozenset({1, 2})}
