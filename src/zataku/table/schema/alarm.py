"""Alarms of a table: when somebody should look at it."""

from typing import Literal, TypeAlias

from msgspec import Struct

from zataku.table.backend.errors import DesignError
from zataku.table.backend.table_schema import Capacity

Direction: TypeAlias = Literal["read", "write"]
Operations: TypeAlias = Literal["reads", "writes", "transactions"]

# The longest stretch that CloudWatch looks back over for periods shorter than an hour.
_DAY = 24 * 60 * 60
_MINUTE = 60
EVERY_OPERATION: tuple[Operations, ...] = ("reads", "writes", "transactions")


class CapacityAlarm(Struct, frozen=True, tag=True):
    """The table, or one of its global indexes, uses so many per cent of the most it may use."""

    of: Direction
    percent: int
    period: int
    evaluations: int


class ErrorRateAlarm(Struct, frozen=True, tag=True):
    """So many per cent of the requests fail, by fault of the service or because they are throttled."""

    percent: int
    period: int
    evaluations: int
    of: tuple[Operations, ...] = EVERY_OPERATION


class ThrottleAlarm(Struct, frozen=True, tag=True):
    """More than so many reads or writes are throttled in a period."""

    of: Direction
    events: int
    period: int
    evaluations: int


Alarm: TypeAlias = CapacityAlarm | ErrorRateAlarm | ThrottleAlarm


def capacity_alarm(of: Direction, *, percent: int = 80, period: int = 300, evaluations: int = 2) -> CapacityAlarm:
    """Tell when the units used come near the maximum that the table declares, in so many periods one after another."""
    _check(period, evaluations, percent)
    return CapacityAlarm(of, percent, period, evaluations)


def error_rate_alarm(
    *, percent: int = 5, period: int = 300, evaluations: int = 1, of: tuple[Operations, ...] = EVERY_OPERATION
) -> ErrorRateAlarm:
    """Tell when the share of failed requests passes a limit, for each group of operations by itself."""
    _check(period, evaluations, percent)
    if not of or len(set(of)) != len(of):
        raise DesignError("An error rate alarm watches each group of operations once: reads, writes or transactions.")
    return ErrorRateAlarm(percent, period, evaluations, of)


def throttle_alarm(of: Direction, *, events: int = 0, period: int = 300, evaluations: int = 1) -> ThrottleAlarm:
    """Tell when more than `events` reads or writes were throttled in a period."""
    _check(period, evaluations)
    if events < 0:
        raise DesignError("A throttle alarm counts events from 0.")
    return ThrottleAlarm(of, events, period, evaluations)


def ceiling(capacity: Capacity, of: Direction) -> int | None:
    """The most units a second that a capacity lets through, or None when nothing holds it back."""
    most = capacity.max_reads if of == "read" else capacity.max_writes
    if most is not None:
        return most
    steady = getattr(capacity, "reads" if of == "read" else "writes", None)
    return steady if isinstance(steady, int) else None


def check_alarms(table: str, alarms: tuple[Alarm, ...], capacity: Capacity) -> None:
    """Refuse an alarm that can never sound, and one that is declared twice."""
    for alarm in alarms:
        if isinstance(alarm, CapacityAlarm) and ceiling(capacity, alarm.of) is None:
            raise DesignError(
                f"{table} has an alarm at {alarm.percent} % of its {alarm.of} capacity but no maximum to measure by. "
                f"Declare OnDemand(max_{alarm.of}s=...)."
            )
    kinds = [(type(alarm), alarm.of) for alarm in alarms]
    if len(set(kinds)) != len(kinds):
        raise DesignError(f"{table} has two alarms of one kind. Keep one of them.")


def _check(period: int, evaluations: int, percent: int = 1) -> None:
    if period < _MINUTE or period % _MINUTE:
        raise DesignError(f"An alarm's period is a number of whole minutes in seconds, not {period}.")
    if evaluations < 1 or period * evaluations > _DAY:
        raise DesignError("An alarm looks at one period or more, and at most at one day.")
    if not 1 <= percent <= 100:
        raise DesignError(f"An alarm is set at 1 to 100 per cent, not {percent}.")
