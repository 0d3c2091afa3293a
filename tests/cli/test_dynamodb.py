"""The commands of `zataku store` on a service with DynamoDB's protocol."""

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
    """The URL of a DynamoDB service, which is also the default store of the commands."""
    url = f"dynamodb+{shared_server('dynoxide').endpoint}"
    monkeypatch.setenv("ZATAKU_STORE", url)
    return url


@pytest.fixture
def env() -> str:
    return f"cli{next(_numbers)}"


def items(path: Path, env: str = "prod") -> set[str]:
    async def read() -> set[str]:
        async with await open_embedded(path, [circle], env=env, read_only=True) as store:
            return {repr(item) async for item in store.scan(circle)}

    return asyncio.run(read())


def test_commands_that_only_read_create_no_tables(host: CommandLine, service: str, env: str) -> None:
    for _ in range(2):
        result = host("store", "status", "--env", env)
        assert result.code == 1
        assert f"ReadingCircle-{env}         absent" in result.out
    assert f"ReadingCircle-{env} is missing" in host.refused("store", "stats", "--env", env)
    assert f"ReadingCircle-{env} is missing" in host.refused("store", "export", "out", "--env", env)


def test_no_table_is_created_with_tables_verify(host: CommandLine, service: str, env: str) -> None:
    for arguments in ("sweep", "migrate", "import out"):
        line = host.refused("store", *arguments.split(), "--store", f"{service}?tables=verify", "--env", env)
        assert f"ReadingCircle-{env} is missing" in line


def test_an_export_of_a_file_is_imported_into_dynamodb_and_back(
    host: CommandLine, store: Path, service: str, env: str
) -> None:
    target = ("--env", env)
    host.good("store", "export", "out", "--store", store)
    printed = host.good("store", "import", "out", *target, "--from-env", "prod")
    assert "and every item was read back" in printed
    assert f"ReadingCircle-{env}: 5 items" in printed
    state = host.good("store", "status", *target)
    assert service in state
    assert "fits" in state
    host.good("store", "export", "back", *target)
    host.good("store", "import", "back", "--store", "again.db", "--from-env", env)
    assert items(host.folder / "again.db") == items(store)


def test_statistics_of_dynamodb_are_printed(host: CommandLine, store: Path, service: str, env: str) -> None:
    host.good("store", "export", "out", "--store", store)
    host.good("store", "import", "out", "--env", env, "--from-env", "prod")
    figures = json.loads(host.good("store", "stats", "--json", "--env", env))
    assert figures["store"] == service
    assert {(size["table"], size["index"]) for size in figures["sizes"]} == {
        (f"ReadingCircle-{env}", index) for index in (None, "GSI1", "GSI2")
    }
    assert "ReadingCircle" in host.good("store", "stats", "--env", env)


def test_sweep_and_migrate_run_on_dynamodb(host: CommandLine, service: str, env: str) -> None:
    assert "0 expired items deleted." in host.good("store", "sweep", "--env", env)
    assert "there is nothing to do" in host.good("store", "migrate", "--env", env)
    assert "fits" in host.good("store", "status", "--env", env)


def test_dynamodb_stores_a_backup_under_its_name(host: CommandLine, env: str) -> None:
    target = ("--store", f"dynamodb+{shared_server('ministack').endpoint}", "--env", env)
    host.good("store", "sweep", *target)
    assert "is backed up: monday." in host.good("store", "backup", "monday", *target)
    assert "There is a backup monday already" in host.refused("store", "backup", "monday", *target)


def test_a_service_without_backups_is_an_error_with_advice(host: CommandLine, service: str, env: str) -> None:
    host.good("store", "sweep", "--env", env)
    for arguments in ("backup monday", "restore monday --yes"):
        line = host.refused("store", *arguments.split(), "--env", env)
        assert "Copy it with `zataku store export FOLDER` instead. (lacks_capability)" in line


def test_an_unreachable_service_is_an_error_of_one_line(host: CommandLine) -> None:
    url = f"dynamodb+http://127.0.0.1:{free_port()}"
    for command in ("status", "stats", "sweep"):
        assert host.refused("store", command, "--store", url).endswith("(store_unreachable)")
