"""The process: uvicorn with our front on it, and two signals. The first stops gently, the second at once."""

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
from zataku.server.http.startup_gate import HEADERS_MOST, StartupGate
from zataku.server.process.logs import configure_logging
from zataku.server.settings import Settings

log = structlog.stdlib.get_logger()

MOST_FILES = 1 << 20
"""Open files, of which every connection is one."""
TICKS_A_SECOND = 10
LAST_REQUESTS = 2
"""Seconds that requests under way get, once sockets, rooms and jobs are settled."""


def run(settings: Settings, listening: socket.socket, *, public_url: str, loopback: str) -> Exception | None:
    """Serve until a signal comes. What keeps the server from starting is given back."""
    configure_logging(settings.log)
    raise_file_limit()
    # Loaded after the logs are set up, since some keep the logger that they find.
    from zataku.realtime.sockets.endpoint import uvicorn_options
    from zataku.realtime.sockets.limits import SocketLimits
    from zataku.table.lint import lint_disabled

    with nullcontext() if settings.env == "dev" else lint_disabled():
        from zataku.server.app import open_application

    house = partial(open_application, settings, public_url=public_url, loopback=loopback)
    front = StartupGate(house)
    config = uvicorn.Config(
        front,
        lifespan="on",
        **uvicorn_options(SocketLimits()),
        h11_max_incomplete_event_size=HEADERS_MOST,
        http=TimedHttpProtocol,
        proxy_headers=False,
        server_header=False,
        log_config=None,
        access_log=False,
        reset_contextvars=True,
        timeout_graceful_shutdown=LAST_REQUESTS,
    )
    server = Server(config, front)
    server.run(sockets=[listening])
    return front.failure


def raise_file_limit() -> None:
    """Take as many connections as the system lets this process have: shells start programs with fewer."""
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if most == resource.RLIM_INFINITY else min(most, MOST_FILES)
    if allowed != resource.RLIM_INFINITY and allowed < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


class Server(uvicorn.Server):
    """uvicorn, told to send everybody home before it closes their connections."""

    def __init__(self, config: uvicorn.Config, front: StartupGate) -> None:
        super().__init__(config)
        self._front = front
        self._asked = False
        self._full = False

    async def on_tick(self, counter: int) -> bool:
        """Whether it is time to end: somebody asked for it, or the house could not be opened."""
        if counter % TICKS_A_SECOND == 0:
            self._look_for_room()
        return await super().on_tick(counter) or self._front.ended

    def _look_for_room(self) -> None:
        """Say once when nobody more can be let in: the event loop turns newcomers away without a word."""
        try:
            os.close(os.open(os.devnull, os.O_RDONLY))
        except OSError as failed:
            if failed.errno in (errno.EMFILE, errno.ENFILE) and not self._full:
                self._full = True
                log.error("no_room", problem="Too many open files: newcomers are turned away. Raise `ulimit -n`.")
        else:
            self._full = False

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Send everybody home, then close."""
        await self._front.leave()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        """A signal came. It is not raised again at the end: stopping when asked is a good end."""
        if self._asked:
            os._exit(128 + signal.Signals(sig))
        self._asked = True
        self.should_exit = True
