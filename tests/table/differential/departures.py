"""Where dynoxide departs from AWS's documentation, each with its reason and the calls in which it shows.

A departure that no longer shows is struck off: `test_departures` looks for each of them.
"""

from collections.abc import Callable, Sequence
from types import UnionType
from typing import cast

from msgspec import Struct

from tests.table.differential.outcome import Outcome
from zataku.table.backend.expression import Assign, Drop, Exclude, Increase
from zataku.table.backend.port import GetItem, QueryItems, ScanItems, UpdateItem


class Departure(Struct, frozen=True):
    """A departure of dynoxide from the documentation, and how to recognise it in two outcomes that differ."""

    name: str
    reason: str
    shows: Callable[[object, Outcome, Outcome], bool]


def _updates(request: object) -> list[UpdateItem]:
    every = cast("Sequence[object]", request) if isinstance(request, list) else [request]
    return [each for each in every if isinstance(each, UpdateItem)]


def _fetches(request: object, ours: Outcome, theirs: Outcome) -> bool:
    if not isinstance(request, QueryItems) or request.index is None or not request.index.local:
        return False
    held = request.table.projected(request.index)
    return held is not None and request.attributes is not None and not held.issuperset(request.attributes)


def _scans_locally(request: object, ours: Outcome, theirs: Outcome) -> bool:
    if not isinstance(request, ScanItems) or request.index is None or not request.index.local:
        return False
    return ours.answer == theirs.answer and list(ours.units.values()) == list(theirs.units.values())


def _gets_a_part(request: object, ours: Outcome, theirs: Outcome) -> bool:
    return isinstance(request, GetItem) and request.attributes is not None and ours.answer == theirs.answer


def _refused_below(request: object, ours: Outcome, theirs: Outcome, kinds: UnionType) -> bool:
    """We alone refuse a change of something inside of an attribute."""
    refused = ours.answer == "bad input" or "invalid" in str(ours.answer)
    below = [
        action
        for update in _updates(request)
        for action in update.actions
        if isinstance(action, kinds) and len(action.route) > 1
    ]
    return refused and bool(below) and theirs.answer != ours.answer


def _below_nothing(request: object, ours: Outcome, theirs: Outcome) -> bool:
    return _refused_below(request, ours, theirs, Drop | Exclude)


def _below_null(request: object, ours: Outcome, theirs: Outcome) -> bool:
    return _refused_below(request, ours, theirs, Assign | Increase)


def may_pad(request: object) -> bool:
    """True when an element of a list is set, which may be past its end."""
    return any(
        isinstance(action, Assign) and isinstance(action.route[-1], int)
        for update in _updates(request)
        for action in update.actions
    )


def _past_the_end(request: object, ours: Outcome, theirs: Outcome) -> bool:
    return may_pad(request)


def _repeats(request: object, ours: Outcome, theirs: Outcome) -> bool:
    """A transaction asked for again with its token, which is paid for as reads."""
    if not isinstance(request, list) or ours.answer != theirs.answer or ours.units.keys() != theirs.units.keys():
        return False
    return all(ours.units[place][1] == theirs.units[place][1] == 0 for place in ours.units)


DEPARTURES: tuple[Departure, ...] = (
    Departure(
        "local-index-fetch",
        "A query of a local index that names attributes the index lacks fetches them from the table. dynoxide leaves "
        "them out; with ALL_ATTRIBUTES it fetches them, and charges for their sum instead of item by item.",
        _fetches,
    ),
    Departure(
        "local-index-scan",
        "The units of a scan of a local index are reported under the index. dynoxide reports them under the table.",
        _scans_locally,
    ),
    Departure(
        "part-of-an-item",
        "Reading some attributes of an item costs as much as all of it. dynoxide charges for what it returns.",
        _gets_a_part,
    ),
    Departure(
        "remove-below-nothing",
        "REMOVE or DELETE with a path whose parent is not there is refused. dynoxide ignores it.",
        _below_nothing,
    ),
    Departure(
        "set-below-null",
        "SET or ADD of something inside of a null is refused. dynoxide puts a map in its place.",
        _below_null,
    ),
    Departure(
        "list-past-the-end",
        "SET past the end of a list appends. dynoxide fills the gap with nulls.",
        _past_the_end,
    ),
    Departure(
        "repeat-by-older-sizes",
        "A transaction that comes again with its token costs the reading of its items as they are. dynoxide charges by "
        "the sizes of its first time, those before it included.",
        _repeats,
    ),
)


def explained(request: object, ours: Outcome, theirs: Outcome) -> bool:
    """True when a known departure explains that two outcomes differ."""
    return any(departure.shows(request, ours, theirs) for departure in DEPARTURES)
