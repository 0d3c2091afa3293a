"""The systems of the server. A line here plugs one in; nothing else in the server names it."""

from collections.abc import Mapping, Sequence

from zataku.drawing.system import SYSTEM as DRAWING
from zataku.kifu.system import SYSTEM as KIFU
from zataku.live.system import SYSTEM as LIVE
from zataku.othello.system import SYSTEM as OTHELLO
from zataku.platform.design import platform
from zataku.ranking.system import SYSTEM as RANKING
from zataku.system import System
from zataku.table import Table

SYSTEMS: tuple[System, ...] = (DRAWING, OTHELLO, RANKING, LIVE, KIFU)
"""In the order in which the home page shows them."""


def tables_by_design(systems: Sequence[System]) -> Mapping[str, tuple[Table, ...]]:
    """The tables of every design by its name: the platform's own, and those of the systems."""
    return {"platform": (platform,), **{system.name: system.tables for system in systems}}


if __name__ == "__main__":
    # For `make designs`.
    print(*tables_by_design(SYSTEMS))
