"""Where the design goes its own way: nowhere, since it follows no document."""

from zataku.table import Departure

DEPARTURES: tuple[Departure, ...] = ()
