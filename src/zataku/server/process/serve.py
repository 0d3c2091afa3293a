"""`zataku serve`: listen, print the address, and run the server until a signal stops it."""

import errno
import os
import signal
import sys
import traceback
from importlib import import_module
from pathlib import Path
from types import FrameType, ModuleType
from typing import cast

from zataku.errors import RequestError
from zataku.server.process.listen_address import (
    ALL_INTERFACES,
    CannotListen,
    greeting,
    lan_address,
    listen,
    loopback_url,
    public_address,
)
from zataku.server.settings import Settings


def serve(settings: Settings) -> int:
    """Serve until a signal arrives, and return the exit code."""
    # Until uvicorn handles them, both signals end the process with success.
    signal.signal(signal.SIGTERM, _exit_on_signal)
    signal.signal(signal.SIGINT, _exit_on_signal)
    # The folder holds the secrets that sign cookies. An existing folder keeps its permissions, but no other user can
    # read what is created in it.
    os.umask(0o077)
    try:
        settings.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        listening = listen(settings.host, settings.port)
    except CannotListen as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(f"Cannot keep data in {settings.folder}: {error.strerror}. Choose another with --data.")
    with listening:
        port: int = listening.getsockname()[1]
        lan = lan_address() if settings.host in ALL_INTERFACES else None
        for line in greeting(settings.host, port, lan, settings.public_url):
            print(line, flush=True)

        # Imported only now, so that the host reads the address at once.
        _import_structlog()
        from zataku.server.process.uvicorn_server import run

        failure = run(
            settings,
            listening,
            public_url=public_address(settings.host, port, lan, settings.public_url),
            loopback=loopback_url(settings.host, port),
        )
    return 0 if failure is None else _fail(_failure_message(failure, settings.folder))


def _import_structlog() -> None:
    """Import structlog without rich: log lines have no colours, and rich takes longest to import."""
    if "rich" in sys.modules:
        return
    # An import of None raises ImportError, as if rich were not installed.
    sys.modules["rich"] = cast("ModuleType", None)
    import_module("structlog")
    del sys.modules["rich"]


def _failure_message(failure: Exception, folder: Path) -> str:
    """Why the application could not be opened: one line for a cause that the host can fix, else with a traceback."""
    from zataku.table.backend.errors import TableError

    if isinstance(failure, TableError | RequestError):
        return f"Zataku cannot start. {failure.message}"
    if isinstance(failure, OSError) and failure.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"Zataku cannot start. The disk that holds {failure.filename or folder} is full. Free some space."
    if isinstance(failure, OSError):
        return (
            f"Zataku cannot start. {failure.filename or folder}: {failure.strerror or failure}. Check what is there "
            "and its permissions."
        )
    traceback.print_exception(failure)
    return f"Zataku cannot start: {type(failure).__name__}. This is a fault of the program; the lines above say where."


def _fail(reason: str) -> int:
    print(reason, file=sys.stderr, flush=True)
    return 1


def _exit_on_signal(_number: int, _frame: FrameType | None) -> None:
    # Nothing is open yet.
    sys.stdout.flush()
    os._exit(0)
