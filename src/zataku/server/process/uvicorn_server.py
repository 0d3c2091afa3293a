"""uvicorn with the startup gate: the first signal stops it gracefully, the second at once."""

import errno
import os
import resource
import signal
import socket
import sys
from asyncio import Protocol
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from types import FrameType
from typing import cast

import structlog
import uvicorn

from zataku.server.http.request_context import RequestContextReader
from zataku.server.http.startup_gate import MAX_HEADER_BYTES, StartupGate
from zataku.server.process.garbage_collection import bounded_collection
from zataku.server.process.logs import configure_logging
from zataku.server.process.open_connections import ConnectionLimits, OpenConnections
from zataku.server.settings import Settings

log = structlog.stdlib.get_logger()

MAX_OPEN_FILES = 1 << 20
"""Every connection is an open file."""
CLOSED_WITHOUT_FILES = 256
"""How many idle connections are closed each second in which no file can be opened."""
TICKS_PER_SECOND = 10
SWITCH_SECONDS = 0.0001
"""How long another thread keeps the interpreter from the event loop; by default Python waits ten times as long."""
SHUTDOWN_SECONDS = 2
"""How long requests in progress may take, once sockets, rooms and jobs are handed over."""


def run(settings: Settings, listening: socket.socket, *, public_url: str, loopback: str) -> Exception | None:
    """Serve until a signal arrives. Returns the failure of a server that could not start."""
    configure_logging(settings.log)
    sys.setswitchinterval(SWITCH_SECONDS)
    open_connections = OpenConnections(
        connection_limits(raise_file_limit(), settings.connections_per_address),
        RequestContextReader(settings.proxies).is_proxy,
    )
    # Imported after logging is configured, since some modules cache the logger that they find.
    from zataku.realtime.sockets.limits import SocketLimits
    from zataku.realtime.sockets.session import uvicorn_options
    from zataku.realtime.sockets.turn_queue import TurnQueue
    from zataku.server.http.h11_protocol import CONNECTIONS_PER_TURN, TURNS_BETWEEN_FREQUENT, TimedHttpProtocol
    from zataku.table.lint import lint_disabled

    with nullcontext() if settings.env == "dev" else lint_disabled():
        from zataku.server.app import Application, open_application

    @asynccontextmanager
    async def open_and_collect() -> AsyncGenerator[Application]:
        async with open_application(settings, public_url=public_url, loopback=loopback) as application:
            services = application.services
            async with bounded_collection(services.context.clock, lambda: services.realtime.hub.socket_count):
                yield application

    gate = StartupGate(open_and_collect, settings.proxies)
    turns = TurnQueue(CONNECTIONS_PER_TURN, TURNS_BETWEEN_FREQUENT)
    http = partial(TimedHttpProtocol, open_connections=open_connections, turns=turns)
    config = uvicorn.Config(
        gate,
        lifespan="on",
        **uvicorn_options(SocketLimits()),
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        http=cast("type[Protocol]", http),
        proxy_headers=False,
        server_header=False,
        log_config=None,
        access_log=False,
        reset_contextvars=True,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    server = Server(config, gate, open_connections)
    server.run(sockets=[listening])
    return gate.failure


def raise_file_limit() -> int:
    """Raise the limit of open files to what the system allows: shells start programs with a lower one. Returns it."""
    soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = MAX_OPEN_FILES if hard_limit == resource.RLIM_INFINITY else min(hard_limit, MAX_OPEN_FILES)
    if soft_limit == resource.RLIM_INFINITY or soft_limit >= limit:
        return limit
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard_limit))
    return limit


def connection_limits(file_limit: int, per_address: int) -> ConnectionLimits:
    """The limits of connections for a limit of open files, which is logged when it is too low for the setting."""
    limits = ConnectionLimits.within(file_limit, per_address)
    if limits.per_address < per_address:
        needed = ConnectionLimits.needed_files(per_address)
        log.warning("file_limit_low", limit=file_limit, needed=needed, connections_per_address=limits.per_address)
    return limits


class Server(uvicorn.Server):
    """A uvicorn server that drains the application before it closes connections."""

    def __init__(self, config: uvicorn.Config, gate: StartupGate, open_connections: OpenConnections) -> None:
        super().__init__(config)
        self._gate = gate
        self._open_connections = open_connections
        self._is_stopping = False
        self._is_out_of_files = False

    async def on_tick(self, counter: int) -> bool:
        """True when it is time to stop: a signal arrived, or the application could not be opened."""
        if counter % TICKS_PER_SECOND == 0:
            self._check_file_descriptors()
        return await super().on_tick(counter) or self._gate.has_ended

    def _check_file_descriptors(self) -> None:
        """Close idle connections when no other can be accepted, and log it once: the loop drops new ones silently."""
        try:
            os.close(os.open(os.devnull, os.O_RDONLY))
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                return
            self._open_connections.close_idle(CLOSED_WITHOUT_FILES)
            if not self._is_out_of_files:
                self._is_out_of_files = True
                log.error("no_file_descriptors", limit=resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        else:
            self._is_out_of_files = False

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain the application, then close."""
        await self._gate.drain()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        """Stop at the first signal, exit at the second. The signal is not raised again: the exit code is 0."""
        if self._is_stopping:
            os._exit(128 + signal.Signals(sig))
        self._is_stopping = True
        self.should_exit = True
