"""uvicorn with the startup gate: the first signal stops it gracefully, the second at once."""

import errno
import os
import resource
import signal
import socket
from contextlib import nullcontext
from functools import partial
from types import FrameType

import structlog
import uvicorn

from zataku.server.http.h11_protocol import TimedHttpProtocol
from zataku.server.http.startup_gate import MAX_HEADER_BYTES, StartupGate
from zataku.server.process.logs import configure_logging
from zataku.server.settings import Settings

log = structlog.stdlib.get_logger()

MAX_OPEN_FILES = 1 << 20
"""Every connection is an open file."""
TICKS_PER_SECOND = 10
SHUTDOWN_SECONDS = 2
"""How long requests in progress may take, once sockets, rooms and jobs are handed over."""


def run(settings: Settings, listening: socket.socket, *, public_url: str, loopback: str) -> Exception | None:
    """Serve until a signal arrives. Returns the failure of a server that could not start."""
    configure_logging(settings.log)
    raise_file_limit()
    # Imported after logging is configured, since some modules cache the logger that they find.
    from zataku.realtime.sockets.limits import SocketLimits
    from zataku.realtime.sockets.protocol import uvicorn_options
    from zataku.table.lint import lint_disabled

    with nullcontext() if settings.env == "dev" else lint_disabled():
        from zataku.server.app import open_application

    gate = StartupGate(partial(open_application, settings, public_url=public_url, loopback=loopback))
    config = uvicorn.Config(
        gate,
        lifespan="on",
        **uvicorn_options(SocketLimits()),
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        http=TimedHttpProtocol,
        proxy_headers=False,
        server_header=False,
        log_config=None,
        access_log=False,
        reset_contextvars=True,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    server = Server(config, gate)
    server.run(sockets=[listening])
    return gate.failure


def raise_file_limit() -> None:
    """Raise the limit of open files to what the system allows: shells start programs with a lower one."""
    soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = MAX_OPEN_FILES if hard_limit == resource.RLIM_INFINITY else min(hard_limit, MAX_OPEN_FILES)
    if soft_limit != resource.RLIM_INFINITY and soft_limit < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard_limit))


class Server(uvicorn.Server):
    """A uvicorn server that drains the application before it closes connections."""

    def __init__(self, config: uvicorn.Config, gate: StartupGate) -> None:
        super().__init__(config)
        self._gate = gate
        self._is_stopping = False
        self._is_out_of_files = False

    async def on_tick(self, counter: int) -> bool:
        """True when it is time to stop: a signal arrived, or the application could not be opened."""
        if counter % TICKS_PER_SECOND == 0:
            self._check_file_descriptors()
        return await super().on_tick(counter) or self._gate.has_ended

    def _check_file_descriptors(self) -> None:
        """Log once when no connection can be accepted any more: the event loop drops new ones silently."""
        try:
            os.close(os.open(os.devnull, os.O_RDONLY))
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE) and not self._is_out_of_files:
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
