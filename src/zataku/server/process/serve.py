"""Running the application until somebody stops it."""

import os
import signal
import sys
import traceback
from importlib import import_module
from types import FrameType, ModuleType
from typing import cast

from zataku.errors import RequestError
from zataku.server.process.listen_address import (
    EVERYWHERE,
    CannotListen,
    greeting,
    lan_address,
    listen,
    loopback_url,
    public_address,
)
from zataku.server.settings import Settings


def serve(settings: Settings) -> int:
    """Serve until stopped; the exit code says how it went."""
    # Until the server has its own way of stopping, both signals are a good end.
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, _leave)
    # What lies in the folder signs cookies, and is for the server's own user. A folder that is there already keeps the
    # rights that its owner gave it, but nothing that is made in it can be read by others.
    os.umask(0o077)
    try:
        settings.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        listening = listen(settings.host, settings.port)
    except CannotListen as refused:
        return _give_up(str(refused))
    except OSError as failed:
        return _give_up(f"Cannot keep data in {settings.folder}: {failed.strerror}. Choose another with --data.")
    with listening:
        port: int = listening.getsockname()[1]
        lan = lan_address() if settings.host in EVERYWHERE else None
        for line in greeting(settings.host, port, lan, settings.public_url):
            print(line, flush=True)

        # Loaded only now, so that the host reads the address at once.
        _load_logging()
        from zataku.server.process.uvicorn_server import run

        failure = run(
            settings,
            listening,
            public_url=public_address(settings.host, port, lan, settings.public_url),
            loopback=loopback_url(settings.host, port),
        )
    return 0 if failure is None else _give_up(_told(failure))


def _load_logging() -> None:
    """Load structlog without its colours: a server's lines have none, and they take longest to load."""
    if "rich" in sys.modules:
        return
    # So it is found to be missing.
    sys.modules["rich"] = cast("ModuleType", None)
    import_module("structlog")
    del sys.modules["rich"]


def _told(failure: Exception) -> str:
    """Why the house could not be opened, in one line when it is something that a host can do something about."""
    from zataku.table import TableError

    if isinstance(failure, TableError | RequestError):
        return f"Zataku cannot start. {failure.message}"
    if isinstance(failure, OSError):
        return f"Zataku cannot start. {failure.filename or 'The system'}: {failure.strerror or failure}."
    traceback.print_exception(failure)
    return f"Zataku cannot start: {type(failure).__name__}. This is a fault of the program; the lines above say where."


def _give_up(reason: str) -> int:
    print(reason, file=sys.stderr, flush=True)
    return 1


def _leave(_number: int, _frame: FrameType | None) -> None:
    # Nothing has been opened yet, so nothing has to be closed.
    sys.stdout.flush()
    os._exit(0)
