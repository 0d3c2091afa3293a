"""The six designs of Zataku: free of lint findings, with budgets to the unit, and documented."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from msgspec import structs

from tests.support.cost_assertions import declared_budgets
from tests.support.stores import METERED_STORES, StoreName, temporary_store
from tests.table.export.cloudformation.test_template import cfn_lint_problems
from zataku.cli.design_commands import export_design
from zataku.table import Entity, QueryPattern
from zataku.table.design_catalogue import Design, find_designs, load_examples
from zataku.table.export import template, to_json
from zataku.table.export.document.writes import sample_plan
from zataku.table.lint import lint_all
from zataku.table.schema.analysis.sample_values import sample_item
from zataku.table.schema.entity import binding_of

ROOT = Path(__file__).parents[1]
DESIGNS = {design.name: design for design in find_designs((), {}) if design.origin.startswith(str(ROOT))}
TABLES = {
    "drawing": ["EsiritoriGame"],
    "kifu": ["ShogiProject"],
    "live": [
        "LiveComment-Rooms-{env}",
        "LiveComment-Comments-{env}",
        "LiveComment-Connections-{env}",
        "LiveComment-Moderation-{env}",
    ],
    "othello": ["VoteBoardGame"],
    "platform": ["Zataku-Platform"],
    "ranking": ["Hanwol_Bot_DEV_Single_Table"],
}
every_design = pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS.keys())


def test_the_six_designs_have_their_tables() -> None:
    assert {name: [table.name for table in design.tables] for name, design in DESIGNS.items()} == TABLES


@pytest.mark.parametrize(("env", "name"), [("prod", "VoteBoardGame"), ("dev", "VoteBoardGame-dev")])
def test_a_table_has_the_name_of_its_document_in_prod_and_a_suffix_elsewhere(env: str, name: str) -> None:
    assert DESIGNS["othello"].tables[0].schema(env).name == name


@every_design
def test_every_table_outside_prod_has_its_environment_in_its_name(design: Design) -> None:
    for table in design.tables:
        assert table.schema("dev").name.endswith("-dev")
        assert table.schema("prod").name == table.name.replace("{env}", "prod")


@every_design
def test_only_the_tables_of_prod_outlive_their_stack(design: Design) -> None:
    for table in design.tables:
        assert (table.deletion_policy("prod"), table.deletion_policy("dev")) == ("Retain", "Delete")


@every_design
def test_the_lint_has_no_finding_that_is_not_waived(design: Design) -> None:
    report = lint_all(design.tables)
    assert [finding.text() for finding in report.findings] == []


@every_design
def test_every_waiver_and_every_departure_has_a_figure(design: Design) -> None:
    for table in design.tables:
        for waiver in table.waivers:
            assert re.search(r"\d", waiver.limit), waiver
    for departure in design.departures:
        assert departure.reason.endswith("."), departure
        assert re.search(r"\d", departure.figure), departure


@every_design
def test_characters_with_a_meaning_in_markdown_are_marked_as_code(design: Design) -> None:
    texts = [text for entry in design.departures for text in (entry.difference, entry.reason, entry.figure)]
    texts += [text for table in design.tables for waiver in table.waivers for text in (waiver.reason, waiver.limit)]
    assert [text for text in texts if re.search(r"[<>*_\\\\]", re.sub("`[^`]*`", "", text))] == []


def test_the_five_designs_that_follow_a_document_list_their_departures() -> None:
    assert {name for name, design in DESIGNS.items() if design.departures} == DESIGNS.keys() - {"platform"}


@every_design
def test_every_access_pattern_has_a_budget(design: Design) -> None:
    assert [name for name, budget in declared_budgets(design.tables).items() if budget is None] == []


@every_design
def test_the_budget_of_a_query_says_how_much_it_reads(design: Design) -> None:
    patterns = [pattern for table in design.tables for pattern in table.patterns.values()]
    queries = [pattern.metadata for pattern in patterns if isinstance(pattern, QueryPattern)]
    assert [query.name for query in queries if query.budget and not query.budget.of] == []


@every_design
def test_every_access_pattern_has_a_cost_case(design: Design) -> None:
    assert import_module(f"tests.{design.name}.costs").CASES.keys() == declared_budgets(design.tables).keys()


@every_design
def test_the_document_lists_the_steps_of_every_write(design: Design) -> None:
    writes = {name: pattern for table in design.tables for name, pattern in table.writes.items()}
    assert [name for name, pattern in writes.items() if sample_plan(pattern) is None] == []


@every_design
def test_every_entity_has_an_example_that_survives_a_round_trip(design: Design) -> None:
    examples: dict[type[Entity], list[Entity]] = {}
    for example in load_examples(design):
        examples.setdefault(type(example), []).append(example)
    assert examples.keys() == {binding.entity for table in design.tables for binding in table.bindings}
    for kind, entities in examples.items():
        for entity in entities:
            item = sample_item(binding_of(kind), entity)
            assert item is not None
            assert binding_of(kind).decode(item) == entity
            assert kind(**structs.asdict(entity)) == entity


@every_design
def test_the_documents_are_current(design: Design) -> None:
    page = ROOT / "docs" / "designs" / f"{design.name}.md"
    assert page.read_text(encoding="utf-8") == export_design("markdown", design, "prod"), "Run make designs."


def test_every_document_has_a_design() -> None:
    assert {page.stem for page in (ROOT / "docs" / "designs").glob("*.md")} == DESIGNS.keys()


@every_design
def test_departures_and_waivers_are_in_the_document(design: Design) -> None:
    text = export_design("markdown", design, "prod")
    assert text.count("## Departures\n") == bool(design.departures)
    assert text.count("### Waivers\n") == sum(bool(table.waivers) for table in design.tables)


@pytest.mark.parametrize("env", ["dev", "prod"])
def test_one_template_of_all_six_passes_cfn_lint(env: str) -> None:
    rights = DESIGNS["live"].matrix
    rendered = template([table for design in DESIGNS.values() for table in design.tables], env=env, rights=rights)
    assert cfn_lint_problems(to_json(rendered)) == []


@pytest.mark.parametrize("name", METERED_STORES)
async def test_one_store_holds_all_six(name: StoreName, tmp_path: Path) -> None:
    tables = [table for design in DESIGNS.values() for table in design.tables]
    async with temporary_store(name, tmp_path, tables) as store:
        assert {state.status for state in await store.index_states()} == {"active"}
