"""Commands beside a running server, which holds its store: those that only read work, the others are refused."""

import json
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from tests.support.writer_process import writer_process


def test_the_status_names_the_process_that_holds_the_store(host: CommandLine, store: Path) -> None:
    with writer_process(store) as server:
        printed = host.good("store", "status")
    assert f"yes; process {server.pid} holds it" in printed


def test_statistics_are_read_while_a_server_writes(host: CommandLine, store: Path) -> None:
    with writer_process(store) as server:
        server.put(500)
        figures = json.loads(host.good("store", "stats", "--json"))
    assert figures["sizes"][0]["items"] > 5


def test_a_backup_of_a_running_store_can_be_restored_elsewhere(host: CommandLine, store: Path) -> None:
    with writer_process(store) as server:
        server.put(500)
        host.good("store", "backup", "copy.db")
    host.good("store", "restore", "copy.db", "--store", "other.db", "--yes")
    host.good("store", "status", "--store", "other.db")


def test_a_running_store_is_exported(host: CommandLine, store: Path) -> None:
    with writer_process(store) as server:
        server.put(500)
        host.good("store", "export", "out")
    assert "and every item was read back" in host.good("store", "import", "out", "--store", "other.db")


def test_a_dry_run_of_a_migration_works_beside_a_server(host: CommandLine, store: Path) -> None:
    with writer_process(store):
        host.good("store", "migrate", "--dry-run")


@pytest.mark.parametrize("arguments", ["restore copy.db --yes", "import out", "import out --merge", "migrate", "sweep"])
def test_commands_that_write_are_refused_with_the_process_that_holds_the_store(
    host: CommandLine, store: Path, arguments: str
) -> None:
    host.good("store", "backup", "copy.db")
    host.good("store", "export", "out")
    with writer_process(store) as server:
        line = host.refused("store", *arguments.split())
        server.put(501)
    assert f"Another process holds data/zataku.db (process {server.pid}). Stop it" in line
    assert line.endswith("(store_closed)")
