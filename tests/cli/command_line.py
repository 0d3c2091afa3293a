"""Commands run in this process, or in a process of their own."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import Struct

from tests.support.reading_circle import FILE
from zataku.cli import run

ROOT = Path(__file__).parents[2]


class CommandResult(Struct):
    """The exit code of a command, and what it printed."""

    code: int
    out: str
    err: str


class CommandLine:
    """Runs commands in a folder of the test, with the example's design."""

    def __init__(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        self._capsys = capsys
        self.folder = folder

    def __call__(self, *arguments: str | Path) -> CommandResult:
        """Run a command."""
        self._capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        printed = self._capsys.readouterr()
        return CommandResult(code, printed.out, printed.err)

    def good(self, *arguments: str | Path) -> str:
        """Run a command that succeeds, and return what it printed."""
        result = self(*arguments)
        assert result.code == 0, result
        return result.out

    def refused(self, *arguments: str | Path) -> str:
        """Run a command that fails with one line, and return the line."""
        result = self(*arguments)
        assert result.code == 1, result
        line = result.err.splitlines()[-1]
        assert line.startswith("zataku: "), result
        assert "Traceback" not in result.err
        return line


def own_process(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "zataku", *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"ZATAKU_DESIGNS": str(FILE)},
    )


def interruptible_process(*arguments: str | Path, folder: Path) -> "subprocess.Popen[str]":
    """Start a command that SIGINT interrupts, also where this process has inherited SIGINT as ignored.

    A command started by nohup or in the background of a script rightly ignores SIGINT; the tests of an interrupt start
    one as a terminal does, with the default disposition.
    """
    return subprocess.Popen(
        [sys.executable, "-m", "zataku", *map(str, arguments)],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - the test has no other threads
    )
