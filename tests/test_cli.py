"""The command line explains itself."""

from importlib.metadata import version
from pathlib import Path

import pytest

from zataku.cli import app

DOCS = Path(__file__).parent.parent / "docs" / "operations.md"


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int | None, str]:
    with pytest.raises(SystemExit) as left:
        app(list(words))
    printed = capsys.readouterr()
    code = left.value.code
    assert code is None or isinstance(code, int)
    return code, printed.out + printed.err


def test_the_version_is_the_one_of_the_package(capsys: pytest.CaptureFixture[str]):
    assert said(capsys, "--version") == (0, version("zataku") + "\n")


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]):
    code, printed = said(capsys, "--help")
    assert code == 0
    assert "serve" in printed


@pytest.mark.parametrize("option", ["--host", "--port", "--data"])
def test_every_option_of_serve_is_in_its_help_and_in_the_docs(capsys: pytest.CaptureFixture[str], option: str):
    assert option in said(capsys, "serve", "--help")[1]
    assert f"`{option}`" in DOCS.read_text(encoding="utf-8")


@pytest.mark.parametrize("port", ["70000", "-1", "eighty"])
def test_a_port_that_cannot_be_is_refused(capsys: pytest.CaptureFixture[str], port: str):
    code, printed = said(capsys, "serve", "--port", port)
    assert code == 2
    assert "--port" in printed
