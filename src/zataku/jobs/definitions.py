"""What a system has done for it in the background: deadlines, daily work, and work that follows from changes."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import msgspec

from zataku.platform.design import Job
from zataku.platform.limits import MINUTE, JobKind, System
from zataku.table import Change, Millis, Table

JobHandler: TypeAlias = Callable[[Job], Awaitable[Millis | None]]
"""Does a job. What it gives back is when the job is due again; None for done. It may run twice and must bear it."""


class DeadlineJob(msgspec.Struct, frozen=True, kw_only=True):
    """How the jobs of one kind are done. A run that takes longer than `lease_ms` is renewed while it goes on."""

    system: System
    kind: JobKind
    handle: JobHandler
    lease_ms: Millis = MINUTE


class DailyJob(msgspec.Struct, frozen=True, kw_only=True):
    """Something done once a day, at a time of day in a time zone such as Asia/Seoul. A restart catches up."""

    system: System
    kind: JobKind
    hour: int
    minute: int = 0
    zone: str = "UTC"
    handle: JobHandler
    lease_ms: Millis = MINUTE


class StreamConsumer(msgspec.Struct, frozen=True, kw_only=True):
    """Work that follows from the changes of a table. Changes come in order, each at least once."""

    name: str
    table: Table
    handle: Callable[[Sequence[Change]], Awaitable[None]]
