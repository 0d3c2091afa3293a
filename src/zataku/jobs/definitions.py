"""What a system declares as background work: deadline jobs, daily jobs and stream consumers."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import msgspec

from zataku.platform.design import Job
from zataku.platform.limits import MINUTE, JobKind, System
from zataku.table import Change, Millis, Table

JobHandler: TypeAlias = Callable[[Job], Awaitable[Millis | None]]
"""Runs a job and returns when it is due again, or None when it is done. It may run twice and must be idempotent."""


class DeadlineJob(msgspec.Struct, frozen=True, kw_only=True):
    """The handler of all jobs of one kind. The lease of a run that takes longer is renewed."""

    system: System
    kind: JobKind
    handle: JobHandler
    lease_ms: Millis = MINUTE


class DailyJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job that runs once a day, at a time of day in a time zone such as Asia/Seoul. Missed days are caught up."""

    system: System
    kind: JobKind
    hour: int
    minute: int = 0
    zone: str = "UTC"
    handle: JobHandler
    lease_ms: Millis = MINUTE


class StreamConsumer(msgspec.Struct, frozen=True, kw_only=True):
    """The handler of a table's changes, which arrive in order and at least once."""

    name: str
    table: Table
    handle: Callable[[Sequence[Change]], Awaitable[None]]
