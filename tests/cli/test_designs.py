"""Designs are found where packages, variables and options name them, and shown, checked and exported."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from tests.cli.conftest import OFFERED
from tests.support.reading_circle import FILE
from zataku.table import BadInput, DesignError
from zataku.table.schema.design_catalogue import find_designs

SLIPPING = """
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
GRANTING = """
from zataku.table.store.permissions import READ, Grant, PermissionMatrix

rights = PermissionMatrix({"GateFunction": [Grant(fair, READ)]})
"""
DEPARTING = """
from zataku.table import Departure

TITLE = "Tickets"
DEPARTURES = (Departure("Tickets are numbered", "So that nobody comes twice.", "1 number each"),)
"""
WRITING = """
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
    """Lay out what an installer leaves of a package that offers a design."""
    write(folder, f"{name}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    write(folder, f"{name}.dist-info/entry_points.txt", f"[{OFFERED}]\n{name} = {module}\n")


def test_without_any_design_the_example_is_named(bare: CommandLine) -> None:
    for words in (["list"], ["lint"], ["show", "circle"]):
        assert "--designs examples/reading_circle.py" in bare.refused("design", *words)


def test_a_list_counts_what_is_in_a_design(host: CommandLine) -> None:
    headings, row = host.good("design", "list").splitlines()
    assert headings.split("  ")[0] == "design"
    assert row.split() == ["reading_circle", "ReadingCircle", "3", "2", "5", "none", "(1", "waived)"]


def test_options_add_to_the_variable(host: CommandLine) -> None:
    more = write(host.folder, "fair.py", SLIPPING)
    rows = host.good("design", "list", "--designs", more).splitlines()[1:]
    assert [row.split()[0] for row in rows] == ["reading_circle", "fair"]
    assert rows[1].split()[-1] == "2"


@pytest.mark.parametrize("mark", [",", ":", " , "])
def test_a_variable_names_several(bare: CommandLine, monkeypatch: pytest.MonkeyPatch, mark: str) -> None:
    more = write(bare.folder, "fair.py", SLIPPING)
    monkeypatch.setenv("ZATAKU_DESIGNS", f"{FILE}{mark}{more}")
    assert len(bare.good("design", "list").splitlines()) == 3


def test_a_module_in_the_folder_is_found_by_its_dotted_name(bare: CommandLine) -> None:
    write(bare.folder, "fairground/tickets.py", SLIPPING)
    assert "TicketsOfAFair" in bare.good("design", "list", "--designs", "fairground.tickets")


def test_an_installed_package_offers_its_designs(bare: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    write(bare.folder, "site/offered_fair.py", SLIPPING)
    install(bare.folder / "site", "summer", "offered_fair")
    monkeypatch.syspath_prepend(str(bare.folder / "site"))
    assert bare.good("design", "list").splitlines()[1].split()[:2] == ["summer", "TicketsOfAFair"]


def test_a_design_knows_its_tables_its_rights_and_what_it_says_of_itself(tmp_path: Path) -> None:
    [found] = find_designs([str(write(tmp_path, "fair.py", SLIPPING + GRANTING))], {})
    assert (found.name, found.doc) == ("fair", "Tickets of a fair.")
    assert [table.name for table in found.tables] == ["TicketsOfAFair"]
    assert found.matrix is not None
    assert [rights.function for rights in found.matrix] == ["GateFunction"]


def test_a_design_can_have_a_title_and_departures(tmp_path: Path) -> None:
    text = SLIPPING + DEPARTING
    [found] = find_designs([str(write(tmp_path, "fair.py", text))], {})
    assert found.title == "Tickets"
    assert [departure.difference for departure in found.departures] == ["Tickets are numbered"]


def test_the_title_and_the_departures_are_in_the_document(host: CommandLine) -> None:
    shown = host.good("design", "show", "fair", "--designs", write(host.folder, "fair.py", SLIPPING + DEPARTING))
    assert shown.startswith("# Tickets\n")
    assert "| Tickets are numbered | So that nobody comes twice. | 1 number each |" in shown


def test_writes_beside_a_design_come_with_it(bare: CommandLine) -> None:
    write(bare.folder, "stalls/__init__.py", "")
    write(bare.folder, "stalls/design.py", SLIPPING)
    write(bare.folder, "stalls/writes.py", WRITING)
    for named in ("stalls.design", "stalls/design.py", bare.folder / "stalls" / "design.py"):
        name, *_, patterns, _ = bare.good("design", "list", "--designs", named).splitlines()[1].split()
        assert (name, patterns) == ("stalls", "1")
    assert "#### 1. Sells a ticket" in bare.good("design", "show", "stalls", "--designs", "stalls.design")


def test_designs_that_are_named_stand_for_those_that_are_installed(
    bare: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(bare.folder, "site/offered_fair.py", SLIPPING)
    install(bare.folder / "site", "autumn", "offered_fair")
    monkeypatch.syspath_prepend(str(bare.folder / "site"))
    assert "autumn" not in bare.good("design", "list", "--designs", FILE)


def test_the_same_design_named_twice_is_one(tmp_path: Path) -> None:
    path = str(write(tmp_path, "fair.py", SLIPPING))
    assert len(find_designs([path, path], {})) == 1


def test_two_designs_of_one_name_are_refused(tmp_path: Path) -> None:
    paths = [str(write(tmp_path, f"{folder}/fair.py", SLIPPING)) for folder in ("a", "b")]
    with pytest.raises(DesignError, match="Two designs are called fair"):
        find_designs(paths, {})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1\n", "declares no table"),
        ("x = \n", "cannot be read: .*line 1"),
        ("import nothing_of_that_name\n", "nothing_of_that_name.*broken.py, line 1"),
        ("\n1 / 0\n", "ZeroDivisionError.*broken.py, line 2"),
        (SLIPPING + "\nfrom zataku.table.lint import check\n\ncheck(fair)\n", "is refused. .*unpadded-number"),
        (SLIPPING + GRANTING + GRANTING.replace("rights =", "more ="), "declares 2 matrices"),
    ],
    ids=["empty", "syntax", "import", "failing", "checked", "matrices"],
)
def test_a_design_that_cannot_be_loaded_says_why(tmp_path: Path, text: str, says: str) -> None:
    path = write(tmp_path, "broken.py", text)
    with pytest.raises(DesignError, match=f"(?s){says}"):
        find_designs([str(path)], {})


@pytest.mark.parametrize("name", ["absent.py", "some/where", "no_such_module", "no_such.module", "zataku.no_such"])
def test_a_design_that_is_not_there_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match="There is no (file|module)"):
        find_designs([name], {})


def test_the_lint_ends_with_one_when_something_is_found(host: CommandLine) -> None:
    assert "no findings, 1 waived." in host.good("design", "lint")
    more = write(host.folder, "fair.py", SLIPPING)
    said = host("design", "lint", "--designs", more)
    assert said.code == 1
    assert "unpadded-number: TicketsOfAFair Ticket.SK" in said.out
    assert host("design", "lint", "fair", "--designs", more).code == 1
    assert host("design", "lint", "reading_circle", "--designs", more).code == 0
    assert host("design", "lint", "ReadingCircle", "--designs", more).code == 0


def test_a_name_that_no_design_has_is_refused(host: CommandLine) -> None:
    assert "There is no design chess. There are: reading_circle." in host.refused("design", "show", "chess")


def test_a_design_is_shown_as_markdown_in_a_pipe(host: CommandLine) -> None:
    shown = host.good("design", "show", "reading_circle")
    assert shown.startswith("# ")
    assert "on_shelf" in shown
    assert shown == host.good("design", "export", "markdown", "reading_circle")


def test_a_template_is_json_or_yaml_by_the_name_of_its_file(host: CommandLine) -> None:
    template = json.loads(host.good("design", "export", "cloudformation", "reading_circle", "--env", "dev"))
    [table] = [it for it in template["Resources"].values() if it["Type"] == "AWS::DynamoDB::Table"]
    assert table["Properties"]["TableName"] == "ReadingCircle-dev"
    assert table["DeletionPolicy"] == "Delete"
    said = host("design", "export", "cloudformation", "reading_circle", "--output", "circle.yaml")
    assert (said.code, said.out, said.err) == (0, "", "Written to circle.yaml.\n")
    assert (host.folder / "circle.yaml").read_text().startswith("AWSTemplateFormatVersion: ")


def test_policies_need_a_matrix_of_rights(host: CommandLine) -> None:
    rightless = write(host.folder, "slipping_fair.py", SLIPPING)
    line = host.refused("design", "export", "iam", "slipping_fair", "--designs", rightless)
    assert "has no matrix of rights" in line
    granting = write(host.folder, "granting_fair.py", SLIPPING + GRANTING)
    policies = json.loads(host.good("design", "export", "iam", "granting_fair", "--designs", granting))
    assert policies.keys() == {"GateFunction"}
    assert "table/TicketsOfAFair" in json.dumps(policies)


def test_a_file_that_cannot_be_written_is_said_in_one_line(host: CommandLine) -> None:
    line = host.refused("design", "export", "markdown", "reading_circle", "--output", "no/such/folder.md")
    assert "no/such/folder.md: No such file or directory" in line


def test_a_reader_who_has_seen_enough_is_no_error(host: CommandLine) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "zataku", "design", "show", "reading_circle"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")
