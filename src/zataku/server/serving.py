"""Running the application until somebody stops it."""

import signal
import sys

import uvicorn
from rich.console import Console

from zataku.server.app import create_app
from zataku.server.listening import EVERYWHERE, CannotListen, greeting, lan_address, listen
from zataku.server.logs import set_up_logs
from zataku.server.settings import Settings


def serve(settings: Settings) -> int:
    """Serve until stopped; the exit code says how it went."""
    try:
        settings.data_directory.mkdir(parents=True, exist_ok=True)
        listening = listen(settings.host, settings.port)
    except CannotListen as refused:
        return _give_up(str(refused))
    except OSError as failed:
        return _give_up(
            f"Cannot keep data in {settings.data_directory}: {failed.strerror}. Choose another with --data."
        )

    set_up_logs()
    # uvicorn stops gently and then hands the signal back; both ways of stopping are a good end.
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, _leave)
    with listening:
        port = listening.getsockname()[1]
        lan = lan_address() if settings.host in EVERYWHERE else None
        for line in greeting(settings.host, port, lan):
            print(line, flush=True)
        server = uvicorn.Server(
            uvicorn.Config(
                create_app(settings),
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=5,
            )
        )
        server.run(sockets=[listening])
    return 0 if server.started else _give_up("Zataku could not start; the lines above say why.")


def _give_up(reason: str) -> int:
    Console(stderr=True, soft_wrap=True, highlight=False).print(reason, markup=False)
    return 1


def _leave(_number: int, _frame: object) -> None:
    sys.exit(0)
