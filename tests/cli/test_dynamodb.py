"""The same commands on a store that speaks DynamoDB's protocol over HTTP."""

import asyncio
import json
from itertools import count
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from tests.support.dynamodb_servers import free_port, shared_server
from tests.support.reading_circle import circle
from zataku.table import open_embedded

_numbers = count(1)


@pytest.fixture
def service(host: CommandLine, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of a service; the host works in an environment that nobody else has."""
    url = f"dynamodb+{shared_server('dynoxide').endpoint}"
    monkeypatch.setenv("ZATAKU_STORE", url)
    return url


@pytest.fixture
def env() -> str:
    return f"cli{next(_numbers)}"


def items(path: Path, env: str = "prod") -> set[str]:
    async def read() -> set[str]:
        async with await open_embedded(path, [circle], env=env, read_only=True) as store:
            return {repr(found) async for found in store.scan(circle)}

    return asyncio.run(read())


def test_a_service_without_the_tables_is_looked_at_and_left_as_it_is(host: CommandLine, service: str, env: str) -> None:
    for _ in range(2):
        said = host("store", "status", "--env", env)
        assert said.code == 1
        assert f"ReadingCircle-{env}         absent" in said.out
    assert f"ReadingCircle-{env} is missing" in host.refused("store", "stats", "--env", env)
    assert f"ReadingCircle-{env} is missing" in host.refused("store", "export", "out", "--env", env)


def test_with_verify_no_table_is_made(host: CommandLine, service: str, env: str) -> None:
    for words in ("sweep", "migrate", "import out"):
        line = host.refused("store", *words.split(), "--store", f"{service}?tables=verify", "--env", env)
        assert f"ReadingCircle-{env} is missing" in line


def test_a_store_moves_from_a_file_to_the_service_and_back(
    host: CommandLine, store: Path, service: str, env: str
) -> None:
    there = ("--env", env)
    host.good("store", "export", "out", "--store", store)
    printed = host.good("store", "import", "out", *there, "--from-env", "prod")
    assert "and every item was read back" in printed
    assert f"ReadingCircle-{env}: 5 items" in printed
    state = host.good("store", "status", *there)
    assert service in state
    assert "fits" in state
    host.good("store", "export", "back", *there)
    host.good("store", "import", "back", "--store", "again.db", "--from-env", env)
    assert items(host.folder / "again.db") == items(store)


def test_figures_of_a_service(host: CommandLine, store: Path, service: str, env: str) -> None:
    host.good("store", "export", "out", "--store", store)
    host.good("store", "import", "out", "--env", env, "--from-env", "prod")
    figures = json.loads(host.good("store", "stats", "--json", "--env", env))
    assert figures["store"] == service
    assert {(size["table"], size["index"]) for size in figures["sizes"]} == {
        (f"ReadingCircle-{env}", index) for index in (None, "GSI1", "GSI2")
    }
    assert "ReadingCircle" in host.good("store", "stats", "--env", env)


def test_upkeep_of_a_service(host: CommandLine, service: str, env: str) -> None:
    assert "0 expired items deleted." in host.good("store", "sweep", "--env", env)
    assert "there is nothing to do" in host.good("store", "migrate", "--env", env)
    assert "fits" in host.good("store", "status", "--env", env)


def test_a_service_keeps_a_backup_under_its_name(host: CommandLine, env: str) -> None:
    there = ("--store", f"dynamodb+{shared_server('ministack').endpoint}", "--env", env)
    host.good("store", "sweep", *there)
    assert "is backed up: monday." in host.good("store", "backup", "monday", *there)
    assert "There is a backup monday already" in host.refused("store", "backup", "monday", *there)


def test_a_service_that_keeps_no_backups_says_what_to_do_instead(host: CommandLine, service: str, env: str) -> None:
    host.good("store", "sweep", "--env", env)
    for words in ("backup monday", "restore monday --yes"):
        line = host.refused("store", *words.split(), "--env", env)
        assert "Copy it with `zataku store export FOLDER` instead. (lacks_capability)" in line


def test_a_service_that_does_not_answer_is_said_in_one_line(host: CommandLine) -> None:
    url = f"dynamodb+http://127.0.0.1:{free_port()}"
    for command in ("status", "stats", "sweep"):
        assert host.refused("store", command, "--store", url).endswith("(store_unreachable)")
