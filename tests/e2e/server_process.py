"""Servers started by the command line, each in a process of its own."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import httpx

_START_SECONDS = 120
"""Ends the wait for a server that hangs. A start takes a second, and many times that on a machine that is busy."""


class ServerProcess:
    """One server process on loopback."""

    def __init__(self, *options: str, port: int = 0, environment: dict[str, str] | None = None) -> None:
        self._options: Sequence[str] = options
        self._environment = environment or {}
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  closed with the server
        self.process = self._start(port)
        try:
            self.url = self._read_url()
            self._wait_ready()
        except BaseException:
            self.close()
            raise

    def _start(self, port: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "zataku", "serve", "--port", str(port), *self._options]
        return subprocess.Popen(
            command,
            env={**os.environ, **self._environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def _read_url(self) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            match = re.search(r"http://\S+?(?=/?\s*$)", line)
            if match:
                return match[0].rstrip("/")
        raise AssertionError(f"The server ended before it printed its address:\n{self.stderr_text()}")

    def _wait_ready(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise AssertionError(f"The server ended while it started:\n{self.stderr_text()}")
            try:
                if httpx.get(f"{self.url}/readyz", timeout=2).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.03)
        raise AssertionError(f"The server was not ready within {_START_SECONDS} s:\n{self.stderr_text()}")

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self.url.rsplit(":", 1)[1])

    def stderr_text(self) -> str:
        """Everything that it wrote on standard error."""
        self._log.seek(0)
        return self._log.read().decode(errors="replace")

    def advance_clock(self, seconds: float) -> None:
        """Advance the clock of a server of the environment `test`."""
        httpx.post(f"{self.url}/test/clock", json={"advance": seconds}, timeout=10).raise_for_status()

    def grant_admin(self, name: str) -> None:
        """Make a user an admin, by the command line."""
        command = [sys.executable, "-m", "zataku", "accounts", "grant-admin", name, *self._options]
        granted = subprocess.run(command, capture_output=True, text=True, check=False)
        assert granted.returncode == 0, granted.stderr

    def signal(self, number: signal.Signals) -> None:
        """Send the process a signal."""
        self.process.send_signal(number)

    def kill(self) -> None:
        """Kill the process without any cleanup."""
        self.process.kill()
        self.process.wait(timeout=10)

    def stop(self) -> int:
        """Stop the process by a signal. Returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.kill()
        if self.process.stdout is not None:
            self.process.stdout.close()
        return self.process.returncode

    def close(self) -> int:
        """Stop the process and delete its log. Returns its exit code."""
        code = self.stop()
        self._log.close()
        return code

    def restarted(self) -> "ServerProcess":
        """The same server, started again at the same address."""
        port = self.port
        self.close()
        return ServerProcess(*self._options, port=port, environment=self._environment)


def start_embedded_server(folder: Path) -> ServerProcess:
    """A server on an embedded store of its own, whose clock can be advanced."""
    return ServerProcess("--data", str(folder), "--env", "test")
