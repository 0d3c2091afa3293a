"""The example declares exactly what the documentation declares."""

import ast
import re

from tests.cli.command_line import ROOT
from tests.support.reading_circle import FILE
from zataku.table.design_catalogue import EXAMPLE

PAGE = ROOT / "docs" / "table.md"


def declarations(source: str) -> dict[str, str]:
    """The declarations of a source by name, without imports and printed lines."""
    by_name: dict[str, str] = {}
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign):
            by_name[ast.unparse(statement.targets[0])] = ast.unparse(statement)
        elif isinstance(statement, ast.ClassDef | ast.FunctionDef):
            by_name[statement.name] = ast.unparse(statement)
    return by_name


def section(title: str) -> str:
    page = PAGE.read_text(encoding="utf-8")
    text = page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


def test_the_example_declares_what_the_page_declares() -> None:
    page = declarations(section("The design"))
    page["BookId"] = declarations(section("A first attempt"))["BookId"]
    page["matrix"] = declarations(section("Who may do what"))["matrix"]
    assert declarations(FILE.read_text(encoding="utf-8")) == page
    assert {"circle", "by_writer", "Book", "Note", "Member", "notes_on", "on_shelf"} <= page.keys()


def test_the_example_is_at_the_path_that_errors_name() -> None:
    assert ROOT / EXAMPLE == FILE
