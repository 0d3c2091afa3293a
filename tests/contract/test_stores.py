"""Tests of the list of stores: its exceptions are justified, and nothing beside it names an implementation."""

import ast
from pathlib import Path

import pytest

from tests.contract.stores import STORES, StoreKind

CONTRACT = Path(__file__).parent


def contract_test_names() -> set[str]:
    trees = (ast.parse(file.read_text(encoding="utf-8")) for file in CONTRACT.rglob("test_*.py"))
    return {
        node.name
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }


@pytest.mark.parametrize("kind", STORES, ids=lambda kind: kind.name)
def test_every_exception_names_an_existing_test_and_a_reason(kind: StoreKind):
    exceptions = {**kind.departures, **kind.skips}
    assert {name.partition("[")[0] for name in exceptions} <= contract_test_names()
    assert all(reason.endswith(".") for reason in exceptions.values())


def test_store_names_are_unique():
    assert len({kind.name for kind in STORES}) == len(STORES)


def test_only_the_list_of_stores_names_an_implementation():
    """A test that opens a file itself cannot run on another store."""
    for file in CONTRACT.rglob("*.py"):
        if file.name not in ("stores.py", Path(__file__).name):
            text = file.read_text(encoding="utf-8")
            assert not [word for word in ("zataku.table.embedded", "sqlite", "apsw") if word in text], file.name
