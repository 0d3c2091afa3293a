"""Fixtures of the e2e tests: a DynamoDB implementation, a Redis, a browser, and a server."""

import shutil
import subprocess
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.browser import TIMEOUT_MS, chromium
from tests.e2e.server_process import ServerProcess
from tests.support.dynamodb_servers import free_port, shared_server

# Pages on a busy machine need more than Playwright's default of five seconds.
expect.set_options(timeout=TIMEOUT_MS)


@pytest.fixture(scope="session")
def dynamodb() -> str:
    """The URL of a store that several processes can open."""
    return f"dynamodb+{shared_server('dynoxide').endpoint}"


@pytest.fixture(scope="session")
def redis() -> Iterator[str]:
    """The URL of a Redis started for the tests."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed: make system installs it, as root on Debian.")
    port = free_port()
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 20
    while subprocess.run(["redis-cli", "-p", str(port), "ping"], capture_output=True, check=False).returncode:
        assert time.monotonic() < deadline, "redis-server does not answer."
        time.sleep(0.05)
    yield f"redis://127.0.0.1:{port}/0"
    process.terminate()
    process.wait(timeout=10)


# Playwright runs an event loop in this thread; it has to end before tests with a loop of their own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for the tests of a module."""
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with demo data, for tests that do not stop it."""
    server = ServerProcess("--data", str(tmp_path_factory.mktemp("server")))
    yield server
    assert server.close() == 0
