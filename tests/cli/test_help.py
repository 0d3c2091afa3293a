"""The help of all commands, and their documentation."""

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import msgspec
import pytest
from cyclopts import App

from tests.cli.command_line import ROOT, CommandLine
from zataku.cli import app
from zataku.server.settings import Settings

DOCS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
COMMANDS = DOCS.partition("\n## Commands\n")[2].partition("\n## ")[0]
ALWAYS = {"--help", "-h", "--version"}


def commands(group: App = app, *before: str) -> Iterator[tuple[str, ...]]:
    """Every command by its words."""
    for name in group:
        if name not in ALWAYS:
            command = group[name]
            yield from (
                commands(command, *before, name)
                if list(command) != [] and command.default_command is None
                else [(*before, name)]
            )


def options(words: tuple[str, ...]) -> set[str]:
    """Every option of a command by its first name."""
    command = app
    for word in words:
        command = command[word]
    arguments = command.assemble_argument_collection()
    return {argument.names[0] for argument in arguments if argument.names and argument.names[0].startswith("--")}


ALL_COMMANDS = sorted(commands())


def test_the_list_of_commands_is_complete() -> None:
    design = {("design", name) for name in ("list", "lint", "show", "export")}
    store = ("status", "stats", "check", "backup", "restore", "export", "import", "migrate", "sweep", "apply")
    accounts = ("delete", "grant-admin", "reset-password", "revoke-admin", "show", "sign-out")
    server = {("serve",), ("settings",), ("jobs",), *(("accounts", name) for name in accounts)}
    assert set(ALL_COMMANDS) == {*server, *design, *(("store", name) for name in store)}
    assert options(("store", "status")) == {"--store", "--env", "--designs"}


def test_the_version_is_that_of_the_package(bare: CommandLine) -> None:
    assert bare.good("--version") == version("zataku") + "\n"


def test_help_lists_the_commands(bare: CommandLine) -> None:
    printed = bare.good("--help")
    assert [word for word in ("design", "serve", "store") if word in printed] == ["design", "serve", "store"]


@pytest.mark.parametrize("words", ALL_COMMANDS, ids=" ".join)
def test_the_help_of_every_command_has_a_sentence_and_all_options(bare: CommandLine, words: tuple[str, ...]) -> None:
    printed = bare.good(*words, "--help")
    sentence = printed.split("\n\n")[1]
    assert re.match(r"[A-Z].*\.", sentence, re.DOTALL), printed
    for option in options(words):
        assert option in printed
        assert re.search(rf"{option}\b[^\n]*\s{{2,}}\S", printed), f"{option} is not explained"


def documented(words: tuple[str, ...]) -> str:
    """The documentation of a command, and of the options that several commands share."""
    rows = [line for line in COMMANDS.splitlines() if re.match(rf"\| `zataku {' '.join(words)}[ `]", line)]
    shared = [line for line in COMMANDS.splitlines() if line.startswith("| `--")]
    return "\n".join([*rows, *shared]) if rows else ""


@pytest.mark.parametrize("words", [words for words in ALL_COMMANDS if words != ("serve",)], ids=" ".join)
def test_every_command_is_documented_with_all_its_options(words: tuple[str, ...]) -> None:
    text = documented(words)
    assert text
    assert [option for option in options(words) if not re.search(rf"`[^`]*{option}\b[^`]*`", text)] == []


def test_every_option_of_serve_is_documented() -> None:
    required = {"--host", "--port", "--public-url", "--data", "--store", "--bus", "--env"}
    assert required <= options(("serve",))
    assert [option for option in options(("serve",)) if f"`{option}`" not in DOCS] == []


def test_every_setting_is_documented() -> None:
    table = DOCS.partition("\n## Settings\n")[2].partition("\n## ")[0]
    rows = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    assert rows == {field.name for field in msgspec.structs.fields(Settings)}


@pytest.mark.parametrize("port", ["70000", "-1", "eighty"])
def test_an_invalid_port_is_refused(bare: CommandLine, port: str) -> None:
    result = bare("serve", "--port", port)
    assert result.code == 2
    assert "--port" in result.out + result.err


def test_unknown_commands_exit_with_2(bare: CommandLine) -> None:
    assert bare("store", "burn").code == 2
    assert bare("design", "export", "pdf", "reading_circle").code == 2


def test_help_does_not_load_the_table_layer(tmp_path: Path) -> None:
    program = (
        "import sys; from zataku.cli import run; run(['--help'])\n"
        "heavy = {'zataku.table', 'zataku.server', 'msgspec', 'apsw', 'litestar', 'aiobotocore', 'asyncio',"
        " 'rich.markdown', 'importlib.metadata'}\n"
        "print(sorted(heavy & sys.modules.keys()), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stderr == "[]\n"
