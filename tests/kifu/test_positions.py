"""Positions of a record are written in parts, and only for its current moves."""

import pytest
from msgspec.structs import replace

from tests.kifu.records import ME, NOW, a_record, add_records, claim_of, create_users, kid, write_attempts
from tests.support.concurrency import race
from zataku.kifu import design
from zataku.kifu.cleanup import clean_up_user
from zataku.kifu.entities import Position, PositionList, SlugClaim
from zataku.kifu.errors import TooManyItems
from zataku.kifu.limits import PositionHash
from zataku.kifu.writes import change_moves, delete_positions, keep_positions
from zataku.kifu.writes.positions import position_parts
from zataku.table import Store, TransactionCancelled, add_seconds


def hashes(*numbers: int) -> list[PositionHash]:
    return [PositionHash(f"{at:016x}") for at in numbers]


async def stored_lists(store: Store) -> list[PositionList]:
    return [position_list async for position_list in store.each(design.positions_of(ME, kid(0)))]


async def stored_positions(store: Store, claim: SlugClaim, *numbers: int) -> list[PositionHash]:
    """The given positions by which this text of the record is found."""
    keys = [Position.key(username=ME, position=at, kifu_id=kid(0), text=claim.text) for at in hashes(*numbers)]
    return [position.position for position in await store.get_many(keys, strong=True) if position is not None]


async def test_positions_are_written_and_deleted_in_parts(store: Store):
    await create_users(store)
    (record,) = await add_records(store, a_record())
    claim = await claim_of(store, record)
    # The game returns to its first position, as in a repetition.
    parts = position_parts(hashes(*(at % 120 for at in range(150))))
    assert [len(part) for part in parts] == [98, 22]
    for number, part in enumerate(parts):
        await store.write(keep_positions(claim, number, part))
    with pytest.raises(TransactionCancelled):
        await store.write(keep_positions(claim, 0, parts[0]))
    lists = await stored_lists(store)
    assert [position_list.hashes for position_list in lists] == parts
    for position_list in (*lists, lists[0]):
        await store.write(delete_positions(position_list))
    assert await stored_lists(store) == []
    assert await stored_positions(store, claim, *range(120)) == []
    with pytest.raises(TooManyItems):
        keep_positions(claim, 0, hashes(*range(99)))


async def test_no_position_is_in_two_parts(store: Store):
    """Otherwise deleting one part would remove a position of the other."""
    await create_users(store)
    (record,) = await add_records(store, a_record())
    claim = await claim_of(store, record)
    await store.write(keep_positions(claim, 0, hashes(1, 2)))
    with pytest.raises(TransactionCancelled):
        await store.write(keep_positions(claim, 1, hashes(2, 3)))
    assert await stored_positions(store, claim, 1, 2, 3) == hashes(1, 2)


async def test_a_late_job_neither_adds_to_nor_deletes_from_the_positions_of_new_moves(store: Store):
    await create_users(store)
    (record,) = await add_records(store, a_record())
    old = await claim_of(store, record)
    await store.write(keep_positions(old, 0, hashes(1, 2)))
    (before,) = await stored_lists(store)
    await store.write(change_moves(replace(record, kifu="x"), record, old, add_seconds(NOW, 1)))
    new = await claim_of(store, record)
    await store.write(keep_positions(new, 0, hashes(1, 3)))
    with pytest.raises(TransactionCancelled):
        await store.write(keep_positions(old, 1, hashes(4)))
    await store.write(delete_positions(before))
    assert [position_list.hashes for position_list in await stored_lists(store)] == [hashes(1, 3)]
    assert await stored_positions(store, new, 1, 2, 3, 4) == hashes(1, 3)
    assert await stored_positions(store, old, 1, 2, 3, 4) == []


async def test_jobs_for_old_moves_racing_with_new_moves_leave_no_old_positions(contested: Store):
    await create_users(contested)
    (record,) = await add_records(contested, a_record())
    old = await claim_of(contested, record)
    new = replace(old, text=old.text + 1)
    result = await race(
        *write_attempts(
            contested,
            *(keep_positions(old, part, hashes(part)) for part in range(4)),
            *(change_moves(replace(record, kifu=moves), record, old, add_seconds(NOW, 1)) for moves in ("x", "y")),
            *(keep_positions(new, part, hashes(part)) for part in range(4)),
        )
    )
    assert not result.unknown
    assert await claim_of(contested, record) == new
    late = await race(*write_attempts(contested, *(keep_positions(old, part, hashes(part)) for part in range(4, 8))))
    assert late.won == []
    await race(*write_attempts(contested, *(keep_positions(new, part, hashes(part)) for part in range(4))))
    await clean_up_all(contested)
    assert [(position_list.text, position_list.hashes) for position_list in await stored_lists(contested)] == [
        (1, hashes(part)) for part in range(4)
    ]
    assert await stored_positions(contested, new, *range(8)) == hashes(*range(4))
    assert await stored_positions(contested, old, *range(8)) == []


async def clean_up_all(store: Store) -> None:
    """Clean up until no marker is left, repeating after lost replies."""
    while not (await race(clean_up_user(store, ME))).won:
        pass
    assert [marker async for marker in store.each(design.cleanup_markers_of(ME))] == []
