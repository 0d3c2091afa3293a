"""Opening a store with one call."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from zataku.clock import Clock, SystemClock
from zataku.table.backend.errors import LacksCapability
from zataku.table.backend.port import Backend
from zataku.table.schema.table import Table
from zataku.table.store.retry import Retry
from zataku.table.store.store import Store

if TYPE_CHECKING:
    from zataku.table.strict.strict_backend import Faults


async def open_embedded(
    path: Path | str,
    tables: Sequence[Table],
    *,
    env: str = "prod",
    clock: Clock | None = None,
    random: Random | None = None,
    faults: "Faults | None" = None,
    accept_loss: bool = False,
    read_only: bool = False,
) -> Store:
    """Open the store in a file, made when it is not there.

    `faults` makes it strict: it then misbehaves in every way that DynamoDB may, as the random source decides.
    `accept_loss` opens a file that has lost acknowledged writes, which is refused otherwise. `read_only` opens a file
    that is there without taking it, also while another process holds it; every write is refused.
    """
    # SQLite is loaded only by those who use it.
    from zataku.table.embedded import EmbeddedBackend

    chance = random or Random()
    backend: Backend = EmbeddedBackend(
        Path(path), clock=clock or SystemClock(), accept_loss=accept_loss, read_only=read_only
    )
    if faults is not None:
        from zataku.table.strict.strict_backend import StrictBackend

        backend = StrictBackend(backend, random=chance, faults=faults)
    try:
        return await Store.open(backend, tables, env=env, clock=clock, retry=Retry(chance))
    except BaseException:
        await backend.close()
        raise


async def open_dynamodb(
    tables: Sequence[Table],
    *,
    endpoint: str | None = None,
    region: str | None = None,
    env: str = "prod",
    clock: Clock | None = None,
    random: Random | None = None,
    faults: "Faults | None" = None,
    manage: bool = True,
) -> Store:
    """Open the store in DynamoDB, in a region or at the address of an implementation of one's own.

    Tables are made and changed as the design says; with `manage` off they must be so already. What the service lacks
    is found out before anything is touched. Beside the tables lies one of the store's own, `ZatakuStore`, with the
    environment in its name as theirs.
    """
    try:
        # botocore is loaded only by those who use it, and need not be there for others.
        from zataku.table.dynamodb.backend import DynamoBackend
        from zataku.table.dynamodb.client import Client
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] not in ("aiobotocore", "botocore"):
            raise
        raise LacksCapability(
            "DynamoDB needs a library that is not installed. Install it with: pip install 'zataku[aws]'"
        ) from problem

    chance = random or Random()
    metadata_table = "ZatakuStore" if env == "prod" else f"ZatakuStore-{env}"
    service = DynamoBackend(
        Client(endpoint, region),
        clock=clock or SystemClock(),
        random=chance,
        metadata_table=metadata_table,
        manage=manage,
    )
    try:
        await service.probe()
        backend: Backend = service
        if faults is not None:
            from zataku.table.strict.strict_backend import StrictBackend

            backend = StrictBackend(service, random=chance, faults=faults)
        return await Store.open(backend, tables, env=env, clock=clock, retry=Retry(chance))
    except BaseException:
        await service.close()
        raise
