"""Functions that open a store on an embedded file or on DynamoDB."""

import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from shlex import quote
from typing import TYPE_CHECKING

from zataku.clock import Clock, SystemClock
from zataku.table.backend.errors import BadInput, LacksCapability
from zataku.table.backend.port import Backend
from zataku.table.schema.table import Table
from zataku.table.store.retry import Retry
from zataku.table.store.store import Store

if TYPE_CHECKING:
    from zataku.table.dynamodb.backend import DynamoBackend
    from zataku.table.strict.strict_backend import Faults

# A DynamoDB store keeps its cursor secret, stream checkpoints and usage here, one table in each environment.
METADATA_TABLE = Table("ZatakuStore", pk="pk", sk="sk")


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
    """Open the store in a file, which is created when it does not exist.

    `faults` makes it strict: it then injects the faults that DynamoDB documents, as the random source decides.
    `accept_loss` opens a file that has lost acknowledged writes, which is refused otherwise. `read_only` opens an
    existing file without locking it, also while another process holds it; every write is refused.
    """
    if str(path) in (":memory:", "") or str(path).startswith("file:"):
        raise BadInput(
            f"{str(path)!r} is no file. A store acknowledges what is on disk, so there is none in memory. In tests, "
            "open one in a temporary folder: open_embedded(tmp_path / 'store.db', tables)."
        )
    # SQLite is imported only where it is used.
    from zataku.table.embedded import EmbeddedBackend

    source = random or Random()
    backend: Backend = EmbeddedBackend(
        Path(path), clock=clock or SystemClock(), accept_loss=accept_loss, read_only=read_only
    )
    if faults is not None:
        from zataku.table.strict.strict_backend import StrictBackend

        backend = StrictBackend(backend, random=source, faults=faults)
    try:
        return await Store.open(backend, tables, env=env, clock=clock, retry=Retry(source))
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
    """Open the store in DynamoDB, in a region or at the endpoint of another implementation.

    Tables are created and changed to match the design; with `manage` off they must match already. Nothing stored is
    deleted: an index that has to be deleted or built again is refused with the command that does it, or reported where
    the store works all the same. What the service lacks is probed before anything is changed. The store keeps its own
    data in the table `ZatakuStore`, with the environment in its name like the others.
    """
    source = random or Random()
    service = dynamodb_backend(endpoint, region, env=env, clock=clock, random=source, manage=manage, tables=tables)
    try:
        await service.probe()
        backend: Backend = service
        if faults is not None:
            from zataku.table.strict.strict_backend import StrictBackend

            backend = StrictBackend(service, random=source, faults=faults)
        return await Store.open(backend, tables, env=env, clock=clock, retry=Retry(source))
    except BaseException:
        await service.close()
        raise


def dynamodb_backend(
    endpoint: str | None,
    region: str | None,
    *,
    env: str,
    clock: Clock | None = None,
    random: Random | None = None,
    manage: bool = True,
    removals: bool = False,
    tables: Sequence[Table] = (),
) -> "DynamoBackend":
    """The backend of a DynamoDB store, which is not started yet. Its errors name the designs of these tables."""
    try:
        # botocore is imported only where it is used, and need not be installed elsewhere.
        from zataku.table.dynamodb.backend import DynamoBackend
        from zataku.table.dynamodb.client import Client
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] not in ("aiobotocore", "botocore"):
            raise
        raise LacksCapability(
            "DynamoDB needs a library that is not installed. Install it with: pip install 'zataku[aws]'"
        ) from problem
    # That module imports this one.
    from zataku.table.store_url import StoreUrl

    url = StoreUrl("dynamodb", endpoint=endpoint, region=region)
    environment = "" if env == "prod" else f" --env {env}"
    return DynamoBackend(
        Client(endpoint, region),
        clock=clock or SystemClock(),
        random=random,
        metadata_table=METADATA_TABLE.schema(env).name,
        manage=manage,
        removals=removals,
        apply_command=f"zataku store apply --store {quote(str(url))}{environment}{_designs_option(tables)}",
    )


def _designs_option(tables: Sequence[Table]) -> str:
    """The options that name the designs of these tables to a command, which knows those of this package."""
    modules = {binding.entity.__module__ for table in tables for binding in table.bindings}
    package = __name__.partition(".")[0]
    named = sorted(module for module in modules if module.partition(".")[0] != package)
    return "".join(f" --designs {_design_name(module)}" for module in named)


def _design_name(module: str) -> str:
    """The module of a package, or the file of another one. Nobody but the user knows how to load a program's own."""
    if module == "__main__":
        return "MODULE_OR_FILE"
    file = getattr(sys.modules.get(module), "__file__", None)
    return quote(file) if file and "." not in module else module
