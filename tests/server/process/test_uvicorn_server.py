"""The limit of open files is raised, and a lack of them is logged."""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
import uvicorn
from structlog.testing import capture_logs

from zataku.server.http.startup_gate import OpenedApplication, StartupGate
from zataku.server.process.open_connections import ConnectionLimits, OpenConnections
from zataku.server.process.uvicorn_server import TICKS_PER_SECOND, Server, connection_limits, raise_file_limit
from zataku.table import DesignError, Table, Waiver
from zataku.table.lint import check, lint_disabled


def nothing() -> AbstractAsyncContextManager[OpenedApplication]:
    raise NotImplementedError


@pytest.fixture
def hard_limit() -> Iterator[int]:
    """The hard limit of open files; both limits are restored afterwards."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield before[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_server_takes_as_many_connections_as_the_system_allows(hard_limit: int):
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard_limit))
    raise_file_limit()
    assert raise_file_limit() == resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 512


def test_a_limit_of_files_too_low_for_the_settings_is_logged():
    with capture_logs() as lines:
        assert connection_limits(20_000, 4000).per_address == 4000
        assert lines == []
        assert connection_limits(2048, 4000).per_address == 1152
    assert [(line["event"], line["needed"]) for line in lines] == [("file_limit_low", 7112)]
    assert connection_limits(7112, 4000).per_address == 4000


class IdleConnection:
    """A connection that counts how often it is closed."""

    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


async def test_idle_connections_are_closed_when_no_file_can_be_opened(hard_limit: int):
    gate = StartupGate(nothing)
    connections, idle = OpenConnections(ConnectionLimits.within(2048, 4000), lambda _: False), IdleConnection()
    connections.open(idle, "198.51.100.1")
    server = Server(uvicorn.Config(gate, log_config=None), gate, connections)  # type: ignore[arg-type]
    await server.on_tick(TICKS_PER_SECOND)
    assert idle.closed == 0
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard_limit))
    await server.on_tick(TICKS_PER_SECOND)
    assert idle.closed == 1


async def test_a_lack_of_file_descriptors_is_logged_once(hard_limit: int):
    gate = StartupGate(nothing)
    connections = OpenConnections(ConnectionLimits.within(2048, 4000), lambda _: False)
    server = Server(uvicorn.Config(gate, log_config=None), gate, connections)  # type: ignore[arg-type]
    free = os.dup(0)
    os.close(free)
    with capture_logs() as lines:
        for limit in (free, free, 512, free):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard_limit))
            await server.on_tick(TICKS_PER_SECOND)
            await server.on_tick(1)
    assert [line["event"] for line in lines] == ["no_file_descriptors", "no_file_descriptors"]


def test_a_server_skips_the_lint_of_its_designs():
    table = Table("Empty", pk="PK", waivers=[Waiver("no-such-rule", "x", reason="y", limit="z")])
    with pytest.raises(DesignError):
        check(table)
    with lint_disabled():
        check(table)
    with pytest.raises(DesignError):
        check(table)


def test_a_server_does_not_import_rich():
    program = (
        "import sys, zataku.server.process.serve as s; s._import_structlog(); print('rich' in sys.modules, s.__name__)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program + "; import rich"], capture_output=True, text=True, check=True
    )
    assert result.stdout.startswith("False")


def test_threads_hand_the_interpreter_over_soon(tmp_path: Path):
    program = (
        "import socket, sys; from zataku.server.settings import Settings;"
        "import zataku.server.process.uvicorn_server as u;"
        "u.Server.run = lambda *_, **__: print(sys.getswitchinterval());"
        "u.run(Settings(data=sys.argv[1]), socket.socket(), public_url='', loopback='')"
    )
    result = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    assert float(result.stdout) < 0.001
