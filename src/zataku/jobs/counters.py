"""Counters of the background work of one process, read by the metrics."""

import msgspec


class JobCounters(msgspec.Struct, kw_only=True):
    """Counts since the start of this process. `lag` and `behind` are in seconds, as of the last measurement.

    - `runs`: runs that began; `running`: runs in progress.
    - `failures`: failed runs and failed batches of stream consumers; `deaths`: jobs given up after their last attempt.
    - `lost`: runs that another process took over.
    - `unknown`: kinds of jobs that no system here handles.
    - `swept`: expired items that were deleted.
    - `lag`: the time between due time and claim of the last job.
    - `behind`: the age of the oldest change in the last batch of each stream consumer here; 0 when there was none.
    """

    runs: int = 0
    running: int = 0
    failures: int = 0
    deaths: int = 0
    lost: int = 0
    unknown: int = 0
    swept: int = 0
    lag: float = 0.0
    behind: dict[str, float] = {}
