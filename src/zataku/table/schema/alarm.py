"""Alarms of a table: capacity, error rate and throttling."""

from typing import Literal, TypeAlias

from msgspec import Struct

from zataku.table.backend.errors import DesignError
from zataku.table.backend.table_schema import Capacity, OnDemand

Direction: TypeAlias = Literal["read", "write"]
Operations: TypeAlias = Literal["reads", "writes", "transactions"]

# CloudWatch evaluates at most a day of periods shorter than an hour.
_DAY = 24 * 60 * 60
_MINUTE = 60
EVERY_OPERATION: tuple[Operations, ...] = ("reads", "writes", "transactions")


class CapacityAlarm(Struct, frozen=True, tag=True):
    """The table, or one of its global indexes, uses `percent` of its maximum capacity."""

    of: Direction
    percent: int
    period: int
    evaluations: int


class ErrorRateAlarm(Struct, frozen=True, tag=True):
    """`percent` of the requests fail through system errors or throttling."""

    percent: int
    period: int
    evaluations: int
    of: tuple[Operations, ...] = EVERY_OPERATION


class ThrottleAlarm(Struct, frozen=True, tag=True):
    """More than `events` reads or writes are throttled in a period."""

    of: Direction
    events: int
    period: int
    evaluations: int


Alarm: TypeAlias = CapacityAlarm | ErrorRateAlarm | ThrottleAlarm


def capacity_alarm(of: Direction, *, percent: int = 80, period: int = 300, evaluations: int = 2) -> CapacityAlarm:
    """An alarm on used units near the maximum that the table declares, for `evaluations` consecutive periods."""
    _check(period, evaluations, percent)
    return CapacityAlarm(of, percent, period, evaluations)


def error_rate_alarm(
    *, percent: int = 5, period: int = 300, evaluations: int = 1, of: tuple[Operations, ...] = EVERY_OPERATION
) -> ErrorRateAlarm:
    """An alarm on the share of failed requests, for each group of operations separately."""
    _check(period, evaluations, percent)
    if not of or len(set(of)) != len(of):
        raise DesignError("An error rate alarm names each group of operations once: reads, writes or transactions.")
    return ErrorRateAlarm(percent, period, evaluations, of)


def throttle_alarm(of: Direction, *, events: int = 0, period: int = 300, evaluations: int = 1) -> ThrottleAlarm:
    """An alarm on more than `events` throttled reads or writes in a period."""
    _check(period, evaluations)
    if events < 0:
        raise DesignError("A throttle alarm counts events from 0.")
    return ThrottleAlarm(of, events, period, evaluations)


def max_units(capacity: Capacity, of: Direction) -> int | None:
    """The most units a second that a capacity allows, or None when it has no maximum."""
    maximum = capacity.max_reads if of == "read" else capacity.max_writes
    if maximum is not None or isinstance(capacity, OnDemand):
        return maximum
    return capacity.reads if of == "read" else capacity.writes


def check_alarms(table: str, alarms: tuple[Alarm, ...], capacity: Capacity) -> None:
    """Refuse an alarm that can never fire, and one that is declared twice."""
    for alarm in alarms:
        if isinstance(alarm, CapacityAlarm) and max_units(capacity, alarm.of) is None:
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
        raise DesignError("An alarm evaluates at least one period, and at most one day of them.")
    if not 1 <= percent <= 100:
        raise DesignError(f"An alarm is set at 1 to 100 per cent, not {percent}.")
