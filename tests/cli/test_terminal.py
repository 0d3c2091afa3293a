"""Output at a terminal, with rules, progress bars and prompts, and in a pipe, with plain columns and lines."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from tests.support.manual_clock import ManualClock
from zataku.cli.output import format_bytes, print_columns
from zataku.cli.progress import ProgressLines, progress_report


def run_at_terminal(*arguments: str, typing: str = "") -> tuple[int, str]:
    """Run a command at a terminal of its own, type something, and return its exit code and output."""
    terminal, process_end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "zataku", *arguments],
        stdin=process_end,
        stdout=process_end,
        stderr=process_end,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "120", "LINES": "50"},
    )
    os.close(process_end)
    os.write(terminal, typing.encode())
    output = b""
    while True:
        try:
            chunk = os.read(terminal, 4096)
        except OSError:
            # The process has closed its end.
            break
        if not chunk:
            break
        output += chunk
    os.close(terminal)
    return process.wait(), output.decode().replace("\r\n", "\n")


def test_a_design_document_is_rendered_at_a_terminal(host: CommandLine) -> None:
    code, shown = run_at_terminal("design", "show", "reading_circle")
    assert code == 0
    assert "\x1b[" in shown
    assert "| --- |" not in shown


def test_a_list_has_rules_at_a_terminal(host: CommandLine) -> None:
    code, shown = run_at_terminal("design", "list")
    assert code == 0
    assert "─" in shown
    assert "reading_circle" in shown


def test_a_backup_shows_a_progress_bar_at_a_terminal(host: CommandLine, store: Path) -> None:
    code, shown = run_at_terminal("store", "backup", "copy.db")
    assert code == 0
    assert "━" in shown
    assert "pages" in shown


def test_a_restore_at_a_terminal_needs_the_name_of_the_store(host: CommandLine, store: Path) -> None:
    host.good("store", "backup", "copy.db")
    before = store.read_bytes()
    code, shown = run_at_terminal("store", "restore", "copy.db", typing="yes\n")
    assert code == 1
    assert "Type zataku.db to continue: " in shown
    assert "That is not the name. Nothing was changed." in shown
    assert store.read_bytes() == before
    code, shown = run_at_terminal("store", "restore", "copy.db", typing="zataku.db\n")
    assert code == 0
    assert "is restored from copy.db" in shown


def test_columns_in_a_pipe_are_as_wide_as_their_values(capsys: pytest.CaptureFixture[str]) -> None:
    print_columns(("name", "items"), [("a" * 200, "1"), ("b", "1,000")], right=("items",))
    assert capsys.readouterr().out.splitlines() == [
        "name" + " " * 198 + "items",
        "a" * 200 + "      1",
        "b" + " " * 201 + "1,000",
    ]


async def test_progress_lines_are_printed_every_few_seconds_and_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    clock = ManualClock()
    lines = ProgressLines("items", clock)
    for done in range(0, 1200, 100):
        lines("Circles", done, 1100)
        await clock.advance(1)
    assert capsys.readouterr().err.splitlines() == [
        "Circles: 0 of 1,100 items (0 %)",
        "Circles: 500 of 1,100 items (45 %)",
        "Circles: 1,000 of 1,100 items (90 %)",
        "Circles: 1,100 of 1,100 items (100 %)",
    ]


def test_progress_without_a_known_total_prints_the_count(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_report("items", ManualClock()) as report:
        report("Deleted", 1000, None)
        report("Deleted", 2000, None)
        report("Kept", 0, 0)
        report("Kept", 0, 0)
    assert capsys.readouterr().err == "Deleted: 1,000 items\nKept: 0 of 0 items\n"


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (12_345_678, "12.3 MB"), (5e15, "5,000.0 TB")]
)
def test_sizes_are_printed_in_the_largest_fitting_unit(size: float, text: str) -> None:
    assert format_bytes(size) == text
