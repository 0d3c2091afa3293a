"""The list of systems, and what packaging has to repeat of it."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from zataku.server.systems import SYSTEMS, tables_by_design
from zataku.system import System

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "zataku"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

every_system = pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)


def imported_modules(file: Path) -> set[str]:
    """The modules that a file imports from."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    names = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return names | {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}


def test_names_are_unique() -> None:
    names = [system.name for system in SYSTEMS]
    assert len(set(names)) == len(names)


@every_system
def test_the_design_of_a_system_is_an_entry_point(system: System) -> None:
    assert PROJECT["project"]["entry-points"]["zataku.designs"][system.name] == f"{system.package}.design"


def test_every_entry_point_has_a_design() -> None:
    assert PROJECT["project"]["entry-points"]["zataku.designs"].keys() == tables_by_design(SYSTEMS).keys()


def test_systems_do_not_import_each_other() -> None:
    layers = PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
    assert " | ".join(system.name for system in SYSTEMS) in layers


@every_system
def test_only_the_list_imports_a_system(system: System) -> None:
    packages = ("accounts", "cli", "jobs", "platform", "realtime", "server", "table")
    files = [file for package in packages for file in (SOURCES / package).rglob("*.py")]
    importing = [
        str(file.relative_to(SOURCES))
        for file in files
        if any(f"{module}.".startswith(f"{system.package}.") for module in imported_modules(file))
    ]
    assert importing == ["server/systems.py"]


def test_the_module_prints_every_design_for_make() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "zataku.server.systems"], capture_output=True, text=True, check=True
    ).stdout
    assert printed.split() == list(tables_by_design(SYSTEMS))
