"""Commands about designs: list, lint, show and export."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec
from cyclopts import App, Parameter

from zataku.cli.output import print_columns, print_markdown, print_note
from zataku.cli.store.options import Designs, Env
from zataku.table import BadInput, LacksCapability
from zataku.table.design_catalogue import Design, find_designs, load_examples, no_designs_error, select_designs
from zataku.table.export import design_document, policy_document, template, to_json, to_yaml
from zataku.table.lint import lint_all

app = App(name="design", help_format="plaintext")

ExportFormat: TypeAlias = Literal["markdown", "cloudformation", "iam"]


@app.command(name="list")
def list_designs(*, designs: Designs | None = None) -> int:
    """List all designs: their tables, what is in them, and what the lint finds."""
    headings = ("design", "tables", "entities", "indexes", "patterns", "findings")
    print_columns(headings, [_row(design) for design in _find_all(designs)], right=headings[2:5])
    return 0


def _row(design: Design) -> tuple[str, ...]:
    tables = design.tables
    report = lint_all(tables)
    waived = f" ({len(report.waived)} waived)" if report.waived else ""
    return (
        design.name,
        ", ".join(table.name for table in tables),
        str(sum(len(table.bindings) for table in tables)),
        str(sum(len(table.indexes) for table in tables)),
        str(sum(len(table.patterns) + len(table.writes) for table in tables)),
        f"{len(report.findings) or 'none'}{waived}",
    )


@app.command
def lint(*names: str, designs: Designs | None = None) -> int:
    """Check designs for mistakes. Ends with 1 when one is neither fixed nor waived.

    Parameters
    ----------
    names
        Designs to look at; all of them when none is named.
    """
    selected = _find_all(designs)
    if names:
        selected = select_designs(selected, names)
    report = lint_all(table for design in selected for table in design.tables)
    print(report.text())
    return 0 if report.is_clean else 1


@app.command
def show(name: str, /, *, env: Env = "prod", designs: Designs | None = None) -> int:
    """Show the document of a design: its tables, keys, indexes, access patterns and what they cost.

    Parameters
    ----------
    name
        The design, or one of its tables.
    """
    print_markdown(export_design("markdown", _find_one(name, designs), env))
    return 0


@app.command
def export(
    export_format: Annotated[ExportFormat, Parameter(name="FORMAT")],
    name: str,
    /,
    *,
    env: Env = "prod",
    output: Path | None = None,
    store_table: Annotated[bool, Parameter(negative=())] = False,
    designs: Designs | None = None,
) -> int:
    """Write a design for others: its document, its CloudFormation template, or the IAM policies of its functions.

    Parameters
    ----------
    export_format
        markdown, cloudformation or iam.
    name
        The design, or one of its tables.
    output
        File to write, replaced when it exists; the terminal when none is named. A template is YAML in a file that
        ends in .yaml, JSON otherwise.
    store_table
        Add the store's own table to the template. One template of each environment needs it when stores are opened
        with ?tables=verify.
    """
    yaml = output is not None and output.suffix in (".yaml", ".yml")
    text = export_design(export_format, _find_one(name, designs), env, yaml=yaml, store_table=store_table)
    if output is None:
        print(text, end="" if text.endswith("\n") else "\n")
    else:
        output.write_text(text, encoding="utf-8")
        print_note(f"Written to {output}.")
    return 0


def _find_all(designs: list[str] | None) -> list[Design]:
    catalogue = find_designs(designs or ())
    if not catalogue:
        raise no_designs_error()
    return catalogue


def _find_one(name: str, designs: list[str] | None) -> Design:
    return select_designs(find_designs(designs or ()), [name])[0]


def export_design(
    export_format: ExportFormat, design: Design, env: str, *, yaml: bool = False, store_table: bool = False
) -> str:
    """The design as text: a Markdown document, a CloudFormation template, or the policies of its functions."""
    match export_format:
        case "markdown":
            return design_document(
                design.tables,
                title=design.title,
                env=env,
                departures=design.departures,
                rights=design.matrix,
                introduction=design.doc,
                examples=load_examples(design),
            )
        case "cloudformation":
            resources = template(design.tables, env=env, rights=design.matrix, store_table=store_table)
            return _yaml(resources) if yaml else to_json(resources)
        case "iam":
            return _policies(design, env)


def _yaml(resources: dict[str, object]) -> str:
    try:
        return to_yaml(resources)
    except ImportError:
        raise LacksCapability(
            "YAML needs the package PyYAML, which is not installed: pip install pyyaml. Or write JSON."
        ) from None


def _policies(design: Design, env: str) -> str:
    if design.matrix is None:
        raise BadInput(
            f"The design {design.name} has no permission matrix, so there are no policies. Declare a "
            "zataku.table.store.permissions.PermissionMatrix in its module."
        )
    documents = {rights.function: policy_document(rights, env=env) for rights in design.matrix}
    return msgspec.json.format(msgspec.json.encode(documents), indent=2).decode() + "\n"
