"""A wrong entity, argument or value is a type error, before the program runs."""

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parent / "typed_program.py"


def lines_the_checker_refuses() -> dict[int, list[str]]:
    checker = Path(sys.executable).parent / "basedpyright"
    done = subprocess.run(
        [checker, "--outputjson", "--level", "error", str(PROGRAM)], capture_output=True, text=True, check=False
    )
    refused: dict[int, list[str]] = {}
    for found in json.loads(done.stdout)["generalDiagnostics"]:
        if found["severity"] == "error" and found["rule"] not in ("reportUnusedExpression", "reportUnusedCallResult"):
            refused.setdefault(found["range"]["start"]["line"] + 1, []).append(found["message"])
    return refused


def test_the_type_checker_refuses_exactly_the_wrong_lines() -> None:
    lines = PROGRAM.read_text().splitlines()
    wrong = {number for number, line in enumerate(lines, 1) if line.endswith("# refused")}
    assert len(wrong) >= 15
    refused = lines_the_checker_refuses()
    assert refused.keys() - wrong == set(), {number: refused[number] for number in refused.keys() - wrong}
    assert wrong - refused.keys() == set(), [lines[number - 1] for number in sorted(wrong - refused.keys())]
