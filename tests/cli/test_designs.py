"""Designs named by packages, variables and options: listed, shown, checked and exported."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from tests.cli.conftest import ENTRY_POINTS
from tests.support.reading_circle import FILE
from zataku.table import BadInput, DesignError
from zataku.table.design_catalogue import find_designs

FAIR = """
'''Tickets of a fair.'''

from zataku.table import Entity, Table

fair = Table("TicketsOfAFair", pk="PK", sk="SK")
fair.index("GSI1", pk="GSI1PK")


@fair.entity(pk="FAIR#{fair}", sk="TICKET#{number}")
class Ticket(Entity, frozen=True, kw_only=True):
    '''Lets one person in.'''

    fair: str
    number: int
"""
MATRIX = """
from zataku.table.store.permissions import READ, Grant, PermissionMatrix

rights = PermissionMatrix({"GateFunction": [Grant(fair, READ)]})
"""
DEPARTURES = """
from zataku.table import Departure

TITLE = "Tickets"
DEPARTURES = (Departure("Tickets are numbered", "So that each is used once.", "1 number each"),)
"""
WRITES = """
from stalls.design import Ticket, fair

from zataku.table import Plan, put


@fair.write()
def sell(ticket: Ticket) -> Plan[Ticket]:
    '''Sells a ticket.'''
    return Plan(put(ticket, if_absent=True))
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def install(folder: Path, name: str, module: str) -> None:
    """Write the metadata of an installed package with a design as entry point."""
    write(folder, f"{name}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    write(folder, f"{name}.dist-info/entry_points.txt", f"[{ENTRY_POINTS}]\n{name} = {module}\n")


def test_without_a_design_the_error_names_the_example(bare: CommandLine) -> None:
    for arguments in (["list"], ["lint"], ["show", "circle"]):
        assert "--designs examples/reading_circle.py" in bare.refused("design", *arguments)


def test_the_list_counts_the_parts_of_each_design(host: CommandLine) -> None:
    headings, row = host.good("design", "list").splitlines()
    assert headings.split("  ")[0] == "design"
    assert row.split() == ["reading_circle", "ReadingCircle", "3", "2", "5", "none", "(1", "waived)"]


def test_designs_of_options_are_added_to_those_of_the_variable(host: CommandLine) -> None:
    path = write(host.folder, "fair.py", FAIR)
    rows = host.good("design", "list", "--designs", path).splitlines()[1:]
    assert [row.split()[0] for row in rows] == ["reading_circle", "fair"]
    assert rows[1].split()[-1] == "2"


@pytest.mark.parametrize("separator", [",", ":", " , "])
def test_the_variable_can_name_several_designs(
    bare: CommandLine, monkeypatch: pytest.MonkeyPatch, separator: str
) -> None:
    path = write(bare.folder, "fair.py", FAIR)
    monkeypatch.setenv("ZATAKU_DESIGNS", f"{FILE}{separator}{path}")
    assert len(bare.good("design", "list").splitlines()) == 3


def test_a_module_in_the_folder_is_found_by_its_dotted_name(bare: CommandLine) -> None:
    write(bare.folder, "fairground/tickets.py", FAIR)
    assert "TicketsOfAFair" in bare.good("design", "list", "--designs", "fairground.tickets")


def test_an_installed_package_offers_its_designs(bare: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    write(bare.folder, "site/offered_fair.py", FAIR)
    install(bare.folder / "site", "summer", "offered_fair")
    monkeypatch.syspath_prepend(str(bare.folder / "site"))
    assert bare.good("design", "list").splitlines()[1].split()[:2] == ["summer", "TicketsOfAFair"]


def test_a_design_has_its_tables_permissions_and_docstring(tmp_path: Path) -> None:
    [design] = find_designs([str(write(tmp_path, "fair.py", FAIR + MATRIX))], {})
    assert (design.name, design.doc) == ("fair", "Tickets of a fair.")
    assert [table.name for table in design.tables] == ["TicketsOfAFair"]
    assert design.matrix is not None
    assert [permissions.function for permissions in design.matrix] == ["GateFunction"]


def test_a_design_can_have_a_title_and_departures(tmp_path: Path) -> None:
    text = FAIR + DEPARTURES
    [design] = find_designs([str(write(tmp_path, "fair.py", text))], {})
    assert design.title == "Tickets"
    assert [departure.difference for departure in design.departures] == ["Tickets are numbered"]


def test_the_title_and_the_departures_are_in_the_document(host: CommandLine) -> None:
    shown = host.good("design", "show", "fair", "--designs", write(host.folder, "fair.py", FAIR + DEPARTURES))
    assert shown.startswith("# Tickets\n")
    assert "| Tickets are numbered | So that each is used once. | 1 number each |" in shown


def test_the_writes_module_beside_a_design_is_loaded_with_it(bare: CommandLine) -> None:
    write(bare.folder, "stalls/__init__.py", "")
    write(bare.folder, "stalls/design.py", FAIR)
    write(bare.folder, "stalls/writes.py", WRITES)
    for path in ("stalls.design", "stalls/design.py", bare.folder / "stalls" / "design.py"):
        name, *_, patterns, _ = bare.good("design", "list", "--designs", path).splitlines()[1].split()
        assert (name, patterns) == ("stalls", "1")
    assert "#### 1. Sells a ticket" in bare.good("design", "show", "stalls", "--designs", "stalls.design")


def test_named_designs_replace_installed_ones(bare: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    write(bare.folder, "site/offered_fair.py", FAIR)
    install(bare.folder / "site", "autumn", "offered_fair")
    monkeypatch.syspath_prepend(str(bare.folder / "site"))
    assert "autumn" not in bare.good("design", "list", "--designs", FILE)


def test_the_same_design_named_twice_is_one(tmp_path: Path) -> None:
    path = str(write(tmp_path, "fair.py", FAIR))
    assert len(find_designs([path, path], {})) == 1


def test_two_designs_of_one_name_are_refused(tmp_path: Path) -> None:
    paths = [str(write(tmp_path, f"{folder}/fair.py", FAIR)) for folder in ("a", "b")]
    with pytest.raises(DesignError, match="Two designs are called fair"):
        find_designs(paths, {})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = 1\n", "declares no table"),
        ("x = \n", "cannot be read: .*line 1"),
        ("import nothing_of_that_name\n", "nothing_of_that_name.*broken.py, line 1"),
        ("\n1 / 0\n", "ZeroDivisionError.*broken.py, line 2"),
        (FAIR + "\nfrom zataku.table.lint import check\n\ncheck(fair)\n", "is refused. .*unpadded-number"),
        (FAIR + MATRIX + MATRIX.replace("rights =", "more ="), "declares 2 permission matrices"),
    ],
    ids=["empty", "syntax", "import", "failing", "checked", "matrices"],
)
def test_a_design_that_cannot_be_loaded_reports_the_reason(tmp_path: Path, text: str, reason: str) -> None:
    path = write(tmp_path, "broken.py", text)
    with pytest.raises(DesignError, match=f"(?s){reason}"):
        find_designs([str(path)], {})


@pytest.mark.parametrize("name", ["absent.py", "some/where", "no_such_module", "no_such.module", "zataku.no_such"])
def test_a_missing_design_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match="There is no (file|module)"):
        find_designs([name], {})


def test_the_lint_exits_with_1_when_it_has_findings(host: CommandLine) -> None:
    assert "no findings, 1 waived." in host.good("design", "lint")
    path = write(host.folder, "fair.py", FAIR)
    result = host("design", "lint", "--designs", path)
    assert result.code == 1
    assert "unpadded-number: TicketsOfAFair Ticket.SK" in result.out
    assert host("design", "lint", "fair", "--designs", path).code == 1
    assert host("design", "lint", "reading_circle", "--designs", path).code == 0
    assert host("design", "lint", "ReadingCircle", "--designs", path).code == 0


def test_an_unknown_design_name_is_refused(host: CommandLine) -> None:
    assert "There is no design chess. There are: reading_circle." in host.refused("design", "show", "chess")


def test_a_design_is_shown_as_markdown_in_a_pipe(host: CommandLine) -> None:
    shown = host.good("design", "show", "reading_circle")
    assert shown.startswith("# ")
    assert "on_shelf" in shown
    assert shown == host.good("design", "export", "markdown", "reading_circle")


def test_the_file_name_selects_json_or_yaml_for_a_template(host: CommandLine) -> None:
    template = json.loads(host.good("design", "export", "cloudformation", "reading_circle", "--env", "dev"))
    [table] = [resource for resource in template["Resources"].values() if resource["Type"] == "AWS::DynamoDB::Table"]
    assert table["Properties"]["TableName"] == "ReadingCircle-dev"
    assert table["DeletionPolicy"] == "Delete"
    result = host("design", "export", "cloudformation", "reading_circle", "--output", "circle.yaml")
    assert (result.code, result.out, result.err) == (0, "", "Written to circle.yaml.\n")
    assert (host.folder / "circle.yaml").read_text().startswith("AWSTemplateFormatVersion: ")


def test_policies_need_a_permission_matrix(host: CommandLine) -> None:
    without_matrix = write(host.folder, "plain_fair.py", FAIR)
    line = host.refused("design", "export", "iam", "plain_fair", "--designs", without_matrix)
    assert "has no permission matrix" in line
    with_matrix = write(host.folder, "granting_fair.py", FAIR + MATRIX)
    policies = json.loads(host.good("design", "export", "iam", "granting_fair", "--designs", with_matrix))
    assert policies.keys() == {"GateFunction"}
    assert "table/TicketsOfAFair" in json.dumps(policies)


def test_an_unwritable_file_is_an_error_of_one_line(host: CommandLine) -> None:
    line = host.refused("design", "export", "markdown", "reading_circle", "--output", "no/such/folder.md")
    assert "no/such/folder.md: No such file or directory" in line


def test_a_closed_pipe_is_not_an_error(host: CommandLine) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "zataku", "design", "show", "reading_circle"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")
