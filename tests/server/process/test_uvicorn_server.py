"""The limit of open files is raised, and a lack of them is logged."""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager

import pytest
import uvicorn
from structlog.testing import capture_logs

from zataku.server.http.startup_gate import OpenedApplication, StartupGate
from zataku.server.process.uvicorn_server import TICKS_PER_SECOND, Server, raise_file_limit
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
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 512


async def test_a_lack_of_file_descriptors_is_logged_once(hard_limit: int):
    gate = StartupGate(nothing)
    server = Server(uvicorn.Config(gate, log_config=None), gate)  # type: ignore[arg-type]
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
