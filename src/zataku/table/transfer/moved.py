"""What moving out and moving in have in common: what was moved, who is told of it, and how calls are made."""

from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias, cast

from msgspec import Struct

from zataku.table.store.calls import Calls
from zataku.table.store.metering import Meter
from zataku.table.store.retry import Retry

# Table, items done, items in all as far as that is known, bytes of DynamoDB JSON done.
MovingProgress: TypeAlias = Callable[[str, int, int | None, int], None]


class MovedTable(Struct, frozen=True):
    """How much of a table was moved: items, and bytes of DynamoDB JSON."""

    name: str
    items: int
    bytes: int


def patient_calls() -> Calls:
    """Calls with the usual patience and a meter of their own."""
    return Calls(Retry(Random()), Meter())


def first_of(group: BaseException) -> BaseException:
    """The error that a group of tasks failed with."""
    while isinstance(group, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[Any]", group).exceptions[0]
    return group
