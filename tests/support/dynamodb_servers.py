"""Third-party DynamoDB implementations (dynoxide, ministack) as processes on loopback, one each per test process."""

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
from hypothesis import settings
from msgspec import Struct

ServerName = Literal["dynoxide", "ministack"]
DYNOXIDE = Path(__file__).parents[2] / "peers/node_modules/@dynoxide/linux-x64/dynoxide"
_START_SECONDS = 30
_START_ATTEMPTS = 3


class Server(Struct, frozen=True):
    """A running server process."""

    name: ServerName
    endpoint: str
    process: subprocess.Popen[bytes]


def has_fixed_examples() -> bool:
    """True when hypothesis makes the same calls to these servers in every run.

    Random calls find new departures of an implementation that is not ours, so that a run would fail without a defect
    here. The profile `thorough` searches for them.
    """
    return settings.get_current_profile_name() != "thorough"


def dynoxide_program() -> Path:
    """Path of the executable; skips the test when it is not installed."""
    if not DYNOXIDE.exists():
        pytest.skip("dynoxide is not installed: make peers fetches it, on x86-64 Linux.")
    return DYNOXIDE


@cache
def shared_server(name: ServerName) -> Server:
    """The server of that name shared by this test process, stopped at its exit."""
    started = start_server(name)
    atexit.register(stop_server, started)
    return started


def start_server(name: ServerName, *options: str, program: Path | None = None) -> Server:
    """Start a separate server, which the caller stops. `program` replaces ministack's start script."""
    for _ in range(_START_ATTEMPTS):
        started = _try_start(name, options, program)
        if started is not None:
            return started
    raise RuntimeError(f"{name} did not start in {_START_ATTEMPTS} attempts.")


def _try_start(name: ServerName, options: tuple[str, ...], program: Path | None) -> Server | None:
    """A running server, or None when it exited at once because another process had taken its port."""
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
    started = Server(name, f"http://127.0.0.1:{port}", process)
    try:
        return started if _listens(started, port) else None
    except BaseException:
        stop_server(started)
        raise


def free_port() -> int:
    """A port without a listener."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _listens(server: Server, port: int) -> bool:
    """True as soon as the port accepts connections, False when the process has exited."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if server.process.poll() is not None:
            return False
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            # Another process may own the port while this one is about to exit.
            return server.process.poll() is None
    raise RuntimeError(f"{server.name} did not listen within {_START_SECONDS} seconds.")


def stop_server(server: Server) -> None:
    """Terminate the process, and kill it if it does not exit within five seconds."""
    if server.process.poll() is None:
        server.process.terminate()
        try:
            server.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            server.process.kill()
            server.process.wait(timeout=5)
