"""Opening a store with one call."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from zataku.clock import Clock, SystemClock
from zataku.table.backend import Backend
from zataku.table.design import Table
from zataku.table.retry import Retry
from zataku.table.store import Store

if TYPE_CHECKING:
    from zataku.table.strict import Faults


async def open_embedded(
    path: Path | str,
    tables: Sequence[Table],
    *,
    env: str = "prod",
    clock: Clock | None = None,
    random: Random | None = None,
    faults: "Faults | None" = None,
    accept_loss: bool = False,
) -> Store:
    """Open the store in a file, made when it is not there.

    `faults` makes it strict: it then misbehaves in every way that DynamoDB may, as the random source decides.
    `accept_loss` opens a file that has lost acknowledged writes, which is refused otherwise.
    """
    # SQLite is loaded only by those who use it.
    from zataku.table.embedded import EmbeddedBackend

    chance = random or Random()
    backend: Backend = EmbeddedBackend(Path(path), clock=clock or SystemClock(), accept_loss=accept_loss)
    if faults is not None:
        from zataku.table.strict import StrictBackend

        backend = StrictBackend(backend, random=chance, faults=faults)
    try:
        return await Store.open(backend, tables, env=env, clock=clock, retry=Retry(chance))
    except BaseException:
        await backend.close()
        raise
