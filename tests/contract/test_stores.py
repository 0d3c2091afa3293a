"""The list of stores is consistent."""

import ast
from pathlib import Path

import pytest

from tests.contract.stores import STORES, StoreKind

HERE = Path(__file__).parent


def names_of_tests() -> set[str]:
    trees = (ast.parse(file.read_text(encoding="utf-8")) for file in HERE.glob("test_*.py"))
    return {
        node.name
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }


@pytest.mark.parametrize("kind", STORES, ids=lambda kind: kind.name)
def test_every_exception_names_a_test_and_a_reason(kind: StoreKind):
    exceptions = {**kind.departs, **kind.skips}
    assert {name.partition("[")[0] for name in exceptions} <= names_of_tests()
    assert all(reason.endswith(".") for reason in exceptions.values())


def test_stores_have_names_of_their_own():
    assert len({kind.name for kind in STORES}) == len(STORES)


def test_only_the_list_of_stores_knows_where_items_lie():
    """A test that opened a file itself could not run on another store."""
    for file in HERE.glob("*.py"):
        if file.name not in ("stores.py", Path(__file__).name):
            text = file.read_text(encoding="utf-8")
            assert not [word for word in ("zataku.table.embedded", "sqlite", "apsw") if word in text], file.name
