"""The machine compares and evens out what the two stores hold, and nothing else."""

from collections.abc import Iterator

import pytest

from tests.table.differential.departures import differ_by_padding
from tests.table.differential.state_machine import DifferentialMachine
from tests.table.strategies import exactly
from zataku.table.backend.expression import Assign, Literally
from zataku.table.backend.port import GetItem, PutItem, ScanItems, UpdateItem

KEY = ("p", "a")


@pytest.fixture
def machine() -> Iterator[DifferentialMachine]:
    started = DifferentialMachine()
    put = PutItem(started.table, {"PK": KEY[0], "SK": KEY[1], "list": [1]})
    started.both(put, lambda store, consumed: store.write(put, consumed))
    yield started
    started.teardown()


def _set_past_the_end(machine: DifferentialMachine) -> UpdateItem:
    return UpdateItem(machine.table, KEY, (Assign(("list", 5), Literally(2)),))


def test_the_stores_are_equal_after_a_single_write_past_the_end_of_a_list(machine: DifferentialMachine):
    update = _set_past_the_end(machine)
    machine.both(update, lambda store, consumed: store.write(update, consumed))
    scan = ScanItems(machine.table)
    machine.both(scan, lambda store, consumed: store.scan(scan, consumed))


def test_the_stores_are_equal_after_a_transaction_past_the_end_of_a_list(machine: DifferentialMachine):
    update = _set_past_the_end(machine)
    machine.both([update], lambda store, consumed: store.transact([update], None, consumed))
    read = GetItem(machine.table, KEY, strong=True)
    machine.both(read, lambda store, consumed: store.get(read, consumed))


def test_a_difference_beside_the_padding_is_not_evened_out(machine: DifferentialMachine):
    other = PutItem(machine.table, {"PK": KEY[0], "SK": KEY[1], "list": [7]})
    machine.run(machine.theirs.write(other))
    update = _set_past_the_end(machine)
    with pytest.raises(AssertionError, match="theirs"):
        machine.both(update, lambda store, consumed: store.write(update, consumed))
    machine.run(machine.theirs.write(PutItem(machine.table, {"PK": KEY[0], "SK": KEY[1], "list": [1, 2]})))


@pytest.mark.parametrize(
    ("theirs", "is_padding"),
    [
        ({"list": [1, 2]}, True),
        ({"list": [1, None, None, 2]}, True),
        ({"list": [1, None, 3]}, False),
        ({"list": [2, None, 1]}, False),
        ({"list": [1, None, 2], "more": 1}, False),
    ],
)
def test_only_nulls_in_lists_are_padding(theirs: dict[str, object], is_padding: bool):
    assert differ_by_padding(exactly({"list": [1, 2]}), exactly(theirs)) is is_padding  # pyright: ignore[reportArgumentType]
