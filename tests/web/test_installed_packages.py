"""What npm installed is compared with package-lock.json, package by package."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parent.parent.parent / "scripts"
PINNED = {"version": "5.57.3", "integrity": "sha512-aaaa", "dev": True}


def compare(folder: Path, installed: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    """Compare packages with a lock that pins Svelte alone."""
    (folder / "node_modules").mkdir()
    (folder / "package-lock.json").write_text(json.dumps({"packages": {"": {}, "node_modules/svelte": PINNED}}))
    (folder / "node_modules" / ".package-lock.json").write_text(json.dumps({"packages": installed}))
    command = ["sh", str(SCRIPTS / "node.sh"), "node", str(SCRIPTS / "compare_with_lock.mjs")]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def test_the_pinned_packages_are_accepted(tmp_path: Path) -> None:
    compared = compare(tmp_path, {"node_modules/svelte": PINNED})
    assert (compared.returncode, compared.stderr) == (0, "")


def test_a_build_for_a_platform_that_the_lock_does_not_list_is_accepted(tmp_path: Path) -> None:
    build = {"version": "1.2.19", "integrity": "sha512-bbbb", "optional": True}
    assert compare(tmp_path, {"node_modules/svelte": PINNED, "node_modules/build-darwin": build}).returncode == 0


@pytest.mark.parametrize(
    "installed",
    [
        {"node_modules/svelte": PINNED | {"version": "5.57.4"}},
        {"node_modules/svelte": PINNED | {"integrity": "sha512-cccc"}},
        {"node_modules/svelte": PINNED, "node_modules/unpinned": {"version": "1.0.0", "integrity": "sha512-dddd"}},
    ],
    ids=["another version", "another hash", "a package that is not pinned"],
)
def test_what_the_lock_does_not_pin_is_refused(tmp_path: Path, installed: dict[str, Any]) -> None:
    compared = compare(tmp_path, installed)
    assert compared.returncode == 1
    assert "package-lock.json does not pin what is installed: " in compared.stderr
