"""How much memory this process has."""

import resource
from pathlib import Path

_PAGE = resource.getpagesize()
_STATM = Path("/proc/self/statm")


def resident_megabytes() -> float:
    """Millions of bytes that lie in memory now; where the system does not say, the most there ever were."""
    try:
        return int(_STATM.read_bytes().split()[1]) * _PAGE / 1_000_000
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1_000_000
