"""DynamoDB implementations that others wrote, each in a process on loopback, started once per test process."""

import atexit
import os
import socket
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Literal

import pytest
from msgspec import Struct

ServerName = Literal["dynoxide", "ministack"]
DYNOXIDE = Path(__file__).parents[2] / "peers/node_modules/@dynoxide/linux-x64/dynoxide"
_START_SECONDS = 30
_TRIES = 3


class Server(Struct, frozen=True):
    """A running implementation."""

    name: ServerName
    endpoint: str
    process: subprocess.Popen[bytes]


def dynoxide_program() -> Path:
    """The program; a test that needs it is skipped where it is not installed."""
    if not DYNOXIDE.exists():
        pytest.skip("dynoxide is not installed: make peers fetches it, on x86-64 Linux.")
    return DYNOXIDE


@cache
def shared_server(name: ServerName) -> Server:
    """The implementation of that name, stopped when this process ends."""
    started = start_server(name)
    atexit.register(stop_server, started)
    return started


def start_server(name: ServerName, *options: str, program: Path | None = None) -> Server:
    """Start one more, with options of its own; the caller stops it. `program` starts ministack in a way of its own."""
    for _ in range(_TRIES):
        made = _started(name, options, program)
        if made is not None:
            return made
    raise RuntimeError(f"{name} does not start.")


def _started(name: ServerName, options: tuple[str, ...], program: Path | None) -> Server | None:
    """A running server; None when it ended at once, as it does when somebody else has just taken its port."""
    port = free_port()
    if name == "dynoxide":
        command = [str(dynoxide_program()), "--host", "127.0.0.1", "--port", str(port), *options]
        settings: dict[str, str] = {}
    else:
        command = [sys.executable, *(["-m", "ministack"] if program is None else [str(program)]), *options]
        settings = {"BIND_HOST": "127.0.0.1", "GATEWAY_PORT": str(port), "LOG_LEVEL": "ERROR"}
    process = subprocess.Popen(
        command,
        cwd=tempfile.gettempdir(),
        env=os.environ | settings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    made = Server(name, f"http://127.0.0.1:{port}", process)
    try:
        return made if _listens(made, port) else None
    except BaseException:
        stop_server(made)
        raise


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _listens(made: Server, port: int) -> bool:
    """True as soon as it can be spoken to, False when it has ended."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if made.process.poll() is not None:
            return False
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            # Somebody else may answer on the port while this one is about to end.
            return made.process.poll() is None
    raise RuntimeError(f"{made.name} did not listen within {_START_SECONDS} seconds.")


def stop_server(made: Server) -> None:
    """End it."""
    if made.process.poll() is None:
        made.process.terminate()
        try:
            made.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            made.process.kill()
            made.process.wait(timeout=5)
