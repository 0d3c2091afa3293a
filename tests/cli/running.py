"""Running commands as a host does: in this process, or in one of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import Struct

from tests.support.reading_circle import FILE
from zataku.cli import run

ROOT = Path(__file__).parents[2]


class Said(Struct):
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


class Host:
    """Somebody at the keyboard, in a folder of their own, with the example's design."""

    def __init__(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        self._capsys = capsys
        self.folder = folder

    def __call__(self, *words: str | Path) -> Said:
        """Type a command and see how it ends."""
        self._capsys.readouterr()
        code = run([str(word) for word in words])
        printed = self._capsys.readouterr()
        return Said(code, printed.out, printed.err)

    def good(self, *words: str | Path) -> str:
        """Type a command that ends well; gives what it printed."""
        said = self(*words)
        assert said.code == 0, said
        return said.out

    def refused(self, *words: str | Path) -> str:
        """Type a command that is refused in one line; gives the line."""
        said = self(*words)
        assert said.code == 1, said
        line = said.err.splitlines()[-1]
        assert line.startswith("zataku: "), said
        assert "Traceback" not in said.err
        return line


def own_process(*words: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "zataku", *map(str, words)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"ZATAKU_DESIGNS": str(FILE)},
    )
