"""How the background work goes, in figures for whoever watches the server."""

import msgspec


class Counts(msgspec.Struct, kw_only=True):
    """Since the start of this process. `lag` and `behind` are in seconds, by the last look.

    - `runs`: runs that began; `running`: those that go on now.
    - `failures`: runs, and changes of followers, that went wrong; `deaths`: jobs given up for good.
    - `lost`: runs that another process took over.
    - `unknown`: kinds of jobs that no system here does.
    - `swept`: expired items that were deleted.
    - `lag`: how long after its due time the last job was claimed.
    - `behind`: for each follower here, how old the change is that it took last; 0 when there was none.
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
