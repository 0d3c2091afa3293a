"""The five systems that lie on the table, and the tables of all six designs."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from zataku.drawing.design import esiritori
from zataku.drawing.system import plug as plug_drawing
from zataku.kifu.entities import kifu_table
from zataku.kifu.system import plug as plug_kifu
from zataku.live.design import TABLES as LIVE_TABLES
from zataku.live.system import plug as plug_live
from zataku.othello.design import board_game
from zataku.othello.system import plug as plug_othello
from zataku.platform.design import platform
from zataku.ranking.design import ranking
from zataku.ranking.system import plug as plug_ranking
from zataku.system import AppContext, System
from zataku.table import Table

Plug: TypeAlias = Callable[[AppContext], System]

PLUGS: tuple[Plug, ...] = (plug_drawing, plug_othello, plug_ranking, plug_live, plug_kifu)
"""In the order in which they lie on the table."""

TABLES: Mapping[str, tuple[Table, ...]] = {
    "platform": (platform,),
    "drawing": (esiritori,),
    "othello": (board_game,),
    "ranking": (ranking,),
    "live": LIVE_TABLES,
    "kifu": (kifu_table,),
}
"""The tables of every design: they are opened before any system is plugged in."""


def every_table() -> tuple[Table, ...]:
    """The tables of all designs."""
    return tuple(table for tables in TABLES.values() for table in tables)
