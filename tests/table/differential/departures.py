"""Departures of dynoxide from AWS's documentation, each with its reason and the calls in which it occurs.

`test_departures` fails for a departure that no longer occurs, so that it is removed from the list.
"""

from collections.abc import Callable, Sequence
from types import UnionType
from typing import cast

from msgspec import Struct

from tests.table.differential.number_alignment import holds_other_sizes
from tests.table.differential.outcome import Outcome
from tests.table.strategies import exactly
from zataku.table.backend.expression import Assign, Drop, Exclude, Increase, Sum
from zataku.table.backend.port import GetItem, PutItem, QueryItems, ScanItems, UpdateItem

_NULL = exactly(None)


class Departure(Struct, frozen=True):
    """A departure of dynoxide from the documentation, and how to recognise it in two outcomes that differ."""

    name: str
    reason: str
    explains: Callable[[object, Outcome, Outcome], bool]


def _updates(request: object) -> list[UpdateItem]:
    writes = cast("Sequence[object]", request) if isinstance(request, list) else [request]
    return [write for write in writes if isinstance(write, UpdateItem)]


def _is_local_fetch(request: object, ours: Outcome, theirs: Outcome) -> bool:
    if not isinstance(request, QueryItems) or request.index is None or not request.index.local:
        return False
    held = request.table.projected(request.index)
    return held is not None and request.attributes is not None and not held.issuperset(request.attributes)


def _is_local_scan(request: object, ours: Outcome, theirs: Outcome) -> bool:
    if not isinstance(request, ScanItems) or request.index is None or not request.index.local:
        return False
    return ours.answer == theirs.answer and list(ours.units.values()) == list(theirs.units.values())


def _is_partial_get(request: object, ours: Outcome, theirs: Outcome) -> bool:
    return isinstance(request, GetItem) and request.attributes is not None and ours.answer == theirs.answer


def _is_nested_change_refused(request: object, ours: Outcome, theirs: Outcome, kinds: UnionType) -> bool:
    """True when only the embedded store refuses a change inside an attribute."""
    refused = ours.answer == "bad input" or "invalid" in str(ours.answer)
    nested = [
        action
        for update in _updates(request)
        for action in update.actions
        if isinstance(action, kinds) and len(action.route) > 1
    ]
    return refused and bool(nested) and theirs.answer != ours.answer


def _is_removal_below_missing(request: object, ours: Outcome, theirs: Outcome) -> bool:
    return _is_nested_change_refused(request, ours, theirs, Drop | Exclude)


def _is_assignment_below_null(request: object, ours: Outcome, theirs: Outcome) -> bool:
    return _is_nested_change_refused(request, ours, theirs, Assign | Increase)


def may_pad(request: object) -> bool:
    """True when an element of a list is set, which may be past its end."""
    return any(
        isinstance(action, Assign) and isinstance(action.route[-1], int)
        for update in _updates(request)
        for action in update.actions
    )


def differ_by_padding(ours: object, theirs: object) -> bool:
    """True when two answers are equal but for the nulls that dynoxide fills a list with; also when both are equal."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        mine, other = cast("dict[str, object]", ours), cast("dict[str, object]", theirs)
        return mine.keys() == other.keys() and all(differ_by_padding(mine[name], other[name]) for name in mine)
    if isinstance(ours, list) and isinstance(theirs, list):
        mine, other = (cast("list[object]", [part for part in side if part != _NULL]) for side in (ours, theirs))
        return len(mine) == len(other) and all(map(differ_by_padding, mine, other))
    if isinstance(ours, tuple) and isinstance(theirs, tuple):
        return len(ours) == len(theirs) and all(map(differ_by_padding, ours, theirs))
    return ours == theirs


def _is_past_the_end(request: object, ours: Outcome, theirs: Outcome) -> bool:
    return may_pad(request) and differ_by_padding(ours.answer, theirs.answer)


def _holds_other_sizes(request: object, ours: Outcome, theirs: Outcome) -> bool:
    return ours.answer == theirs.answer and isinstance(request, PutItem) and holds_other_sizes(request.item)


def sums_numbers(request: object) -> bool:
    """True when an update makes a number that is in neither the request nor the store."""
    return any(
        isinstance(action, Increase) or (isinstance(action, Assign) and isinstance(action.value, Sum))
        for update in _updates(request)
        for action in update.actions
    )


def _is_repeated_transaction(request: object, ours: Outcome, theirs: Outcome) -> bool:
    """True for a transaction repeated with its token, which is charged as reads."""
    if not isinstance(request, list) or ours.answer != theirs.answer or ours.units.keys() != theirs.units.keys():
        return False
    return all(ours.units[resource][1] == theirs.units[resource][1] == 0 for resource in ours.units)


DEPARTURES: tuple[Departure, ...] = (
    Departure(
        "local-index-fetch",
        "A query of a local index for attributes the index lacks fetches them from the table. dynoxide omits them; "
        "with ALL_ATTRIBUTES it fetches them, and charges for their sum instead of item by item.",
        _is_local_fetch,
    ),
    Departure(
        "local-index-scan",
        "The units of a scan of a local index are reported under the index. dynoxide reports them under the table.",
        _is_local_scan,
    ),
    Departure(
        "partial-get",
        "Reading some attributes of an item costs as much as all of it. dynoxide charges for what it returns.",
        _is_partial_get,
    ),
    Departure(
        "remove-below-missing",
        "REMOVE or DELETE with a path whose parent is missing is refused. dynoxide ignores it.",
        _is_removal_below_missing,
    ),
    Departure(
        "set-below-null",
        "SET or ADD inside a null is refused. dynoxide replaces the null by a map.",
        _is_assignment_below_null,
    ),
    Departure(
        "list-past-the-end",
        "SET past the end of a list appends. dynoxide fills the gap with nulls.",
        _is_past_the_end,
    ),
    Departure(
        "number-alignment",
        "Digits of a number are paired from the decimal point. dynoxide drops zeros at the ends first, and counts a "
        "byte less for some numbers. See number_alignment.",
        _holds_other_sizes,
    ),
    Departure(
        "repeat-by-old-sizes",
        "A transaction repeated with its token costs a read of its items as they are now. dynoxide charges by their "
        "sizes before and after the first attempt.",
        _is_repeated_transaction,
    ),
)


def explained(request: object, ours: Outcome, theirs: Outcome) -> bool:
    """True when a known departure explains the difference of two outcomes."""
    return any(departure.explains(request, ours, theirs) for departure in DEPARTURES)
