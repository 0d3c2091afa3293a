"""`zataku store apply`: it shows what it would change, asks, and changes it."""

import asyncio
from itertools import count
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from tests.support.dynamodb_servers import shared_server
from zataku.table import Table, open_dynamodb, open_embedded

_numbers = count(1)


@pytest.fixture
def service(host: CommandLine, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of a DynamoDB service, which is also the default store of the commands."""
    url = f"dynamodb+{shared_server('ministack').endpoint}"
    monkeypatch.setenv("ZATAKU_STORE", url)
    return url


@pytest.fixture
def env(service: str) -> str:
    """An environment whose table has an index that the design lacks."""
    name = f"apply{next(_numbers)}"
    other = Table("ReadingCircle", pk="PK", sk="SK")
    other.index("Former", pk="formerPK")

    async def create() -> None:
        await (await open_dynamodb([other], endpoint=shared_server("ministack").endpoint, env=name)).close()

    asyncio.run(create())
    return name


class Terminal:
    """Standard input at which somebody types a line."""

    def __init__(self, line: str) -> None:
        self._line = line

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        return self._line + "\n"


def test_the_plan_is_shown_and_nothing_happens_without_a_confirmation(host: CommandLine, env: str) -> None:
    result = host("store", "apply", "--env", env)
    assert result.code == 1
    rows = [line for line in result.out.splitlines() if line.startswith("ReadingCircle")]
    assert any(
        "is not in the design." in row and "delete the index Former" in row and row.endswith("yes") for row in rows
    )
    assert any("create the index GSI1" in row and row.endswith("no") for row in rows)
    assert "2 of the changes delete something that is stored. There is no terminal" in result.err
    assert "The index Former" in host("store", "status", "--env", env).out


def test_a_wrong_name_changes_nothing(host: CommandLine, env: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("yes"))
    result = host("store", "apply", "--env", env)
    assert result.code == 1
    assert "That is not the name. Nothing was changed." in result.err
    assert "The index Former" in host("store", "status", "--env", env).out


def test_the_typed_name_makes_the_changes(
    host: CommandLine, service: str, env: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(service.partition("//")[2]))
    assert "match their designs" in host.good("store", "apply", "--env", env)
    assert "Former" not in host.good("store", "status", "--env", env)


def test_a_script_adds_yes_and_a_second_run_has_nothing_to_do(host: CommandLine, env: str) -> None:
    host.good("store", "apply", "--env", env, "--yes")
    assert "there is nothing to do" in host.good("store", "apply", "--env", env)


def test_a_table_in_use_with_more_than_the_design_is_reported_but_works(host: CommandLine, env: str) -> None:
    assert "0 expired items deleted." in host.good("store", "sweep", "--env", env)
    result = host("store", "status", "--env", env)
    assert result.code == 1
    assert f"The index Former of ReadingCircle-{env} is not in the design." in result.out
    host.good("store", "stats", "--env", env)


def test_an_embedded_store_follows_its_design_without_loss(host: CommandLine) -> None:
    async def create() -> None:
        other = Table("ReadingCircle", pk="PK", sk="SK")
        other.index("Former", pk="formerPK")
        await (await open_embedded(Path("zataku.db"), [other])).close()

    asyncio.run(create())
    command = ("store", "apply", "--store", "zataku.db")
    result = host(*command)
    assert "an index Former that the design lacks" in result.out
    assert "Nothing is deleted. There is no terminal" in result.err
    assert "match their designs" in host.good(*command, "--yes")
    assert "there is nothing to do" in host.good(*command)


def test_a_file_whose_table_cannot_follow_its_design_gets_no_plan(host: CommandLine) -> None:
    async def create() -> None:
        await (await open_embedded(Path("zataku.db"), [Table("ReadingCircle", pk="PK", sk="OtherSK")])).close()

    asyncio.run(create())
    result = host("store", "apply", "--store", "zataku.db")
    assert (result.code, result.out) == (1, "")
    assert "The keys of ReadingCircle have changed, which a stored table cannot follow." in result.err
