"""Options of the commands that work on a server, and the store that its settings name."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from zataku.clock import Clock
from zataku.errors import NotFound
from zataku.platform.design import TABLES
from zataku.server.settings import load_settings
from zataku.table import Store, StoreUrl, open_store


class ServerTarget(msgspec.Struct, frozen=True, kw_only=True):
    """A server as its settings describe it, whether it runs or not."""

    url: StoreUrl
    env: str
    folder: Path

    @asynccontextmanager
    async def open_platform(self, clock: Clock, *, read_only: bool) -> AsyncGenerator[Store]:
        """The server's store with the platform's table."""
        if self.url.path is not None and not self.url.path.exists():
            raise NotFound(
                f"There is no store at {self.url.path}. Give the server's --data or --store.", code="no_store"
            )
        # On DynamoDB a read-only store creates and changes no tables, but its items can be written.
        is_read_only = read_only or self.url.path is None
        async with await open_store(self.url, TABLES, env=self.env, clock=clock, read_only=is_read_only) as store:
            yield store


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """The server of a command. Options that are left out are set as for `zataku serve`."""

    data: Annotated[str | None, Parameter(help="The server's data folder.")] = None
    store: Annotated[
        str | None,
        Parameter(help="Its store: a path, file:PATH, dynamodb:, dynamodb://REGION or dynamodb+http://HOST:PORT."),
    ] = None
    env: Annotated[str | None, Parameter(help="Its environment: dev, prod or test.")] = None
    config: Annotated[str | None, Parameter(help="The file with its settings, instead of zataku.toml.")] = None

    def target(self) -> ServerTarget:
        """The server, found by the same settings as its own."""
        options = {"data": self.data, "store": self.store, "env": self.env}
        flags = {name: value for name, value in options.items() if value is not None}
        settings = load_settings(flags, os.environ, self.config).settings
        return ServerTarget(url=StoreUrl.parse(settings.store_url), env=settings.env, folder=settings.folder)


DEFAULT_SERVER = ServerOptions()
