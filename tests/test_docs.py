"""The code blocks of documents run in order and print what the `text` block after them shows."""

import ast
import inspect
import re
import sys
import types
from pathlib import Path

import pytest

from tests.support.dynamodb_servers import shared_server

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# The documents open DynamoDB with AWS's own variables.
AWS_SETTINGS = {"AWS_DEFAULT_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
DOCUMENTS = ["docs/table.md", "README.md"]


def blocks_of(document: str) -> list[tuple[int, str, str]]:
    """Line number, language and content of each fenced block."""
    text = (ROOT / document).read_text()
    return [(text.count("\n", 0, match.start()) + 2, match[1], match[2]) for match in BLOCK.finditer(text)]


async def run(source: str, document: str, line: int, namespace: dict[str, object]) -> None:
    tree = ast.parse("\n" * (line - 1) + source, document)
    code = compile(tree, document, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    outcome = eval(code, namespace)  # noqa: S307 - it is our own document
    if inspect.isawaitable(outcome):
        await outcome


@pytest.mark.parametrize("document", DOCUMENTS)
async def test_the_code_of_a_document_runs_and_prints_what_it_shows(
    document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in AWS_SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", shared_server("dynoxide").endpoint)
    module = types.ModuleType("document_" + re.sub(r"\W", "_", document))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    ran = 0
    for line, language, content in blocks_of(document):
        if language == "python":
            capsys.readouterr()
            await run(content, document, line, module.__dict__)
            ran += 1
        elif language == "text":
            assert capsys.readouterr().out == content, f"{document}, line {line}"
    assert ran, f"{document} has no code"


def test_every_decision_is_in_the_index() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text()
    listed = re.findall(r"^\| \[(\d+)\]\((\S+)\) \| (.+?) \|", index, re.MULTILINE)
    titles = {path.name: path.read_text().split("\n", 1)[0] for path in sorted(folder.glob("0*.md"))}
    assert [(name, f"# {number}. {title}") for number, name, title in listed] == list(titles.items())
