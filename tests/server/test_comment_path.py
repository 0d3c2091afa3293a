"""The path of a live comment through the modules, as docs/architecture.md draws it."""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
MAX_MODULES = 18
STEP = re.compile(r"^\| \d+ \| `([\w/]+)` \|", re.MULTILINE)


def documented_path() -> list[str]:
    """The modules in the table of docs/architecture.md."""
    section = (
        (ROOT / "docs" / "architecture.md").read_text().split("## The path of a comment", 1)[1].split("\n## ", 1)[0]
    )
    return STEP.findall(section)


def test_a_comment_passes_the_documented_modules_and_no_others() -> None:
    command = [sys.executable, "-m", "tests.server.comment_trace"]
    traced = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert traced.returncode == 0, traced.stderr
    assert sorted(documented_path()) == sorted(json.loads(traced.stdout.splitlines()[-1]))


def test_the_path_of_a_comment_is_short() -> None:
    assert len(documented_path()) <= MAX_MODULES
