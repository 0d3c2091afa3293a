"""Commands about designs. They read declarations; no store is opened."""

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from zataku.cli import exporting
from zataku.cli.output import aside, columns, markdown
from zataku.cli.store_options import Designs, Env
from zataku.table.lint import lint_all
from zataku.table.schema.design_catalogue import Design, find_designs, no_designs_error, select_designs

app = App(name="design", help_format="plaintext")


@app.command(name="list")
def list_designs(*, designs: Designs | None = None) -> int:
    """List all designs: their tables, what is in them, and what the lint finds."""
    headings = ("design", "tables", "entities", "indexes", "patterns", "findings")
    columns(headings, [_row(design) for design in _found(designs)], right=headings[2:5])
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
    """Look for slips in designs. Ends with 1 when one is neither mended nor waived.

    Parameters
    ----------
    names
        Designs to look at; all of them when none is named.
    """
    found = _found(designs)
    report = lint_all(table for design in (select_designs(found, names) if names else found) for table in design.tables)
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
    markdown(exporting.exported("markdown", _one(name, designs), env))
    return 0


@app.command
def export(
    form: Annotated[exporting.Form, Parameter(name="FORMAT")],
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
    form
        markdown, cloudformation or iam.
    name
        The design, or one of its tables.
    output
        File to write, replaced when it is there; the terminal when none is named. A template is YAML in a file that
        ends in .yaml, JSON otherwise.
    store_table
        Add the store's own table to the template. One template of each environment needs it when stores are opened
        with ?tables=verify.
    """
    yaml = output is not None and output.suffix in (".yaml", ".yml")
    text = exporting.exported(form, _one(name, designs), env, yaml=yaml, store_table=store_table)
    if output is None:
        print(text, end="" if text.endswith("\n") else "\n")
    else:
        output.write_text(text, encoding="utf-8")
        aside(f"Written to {output}.")
    return 0


def _found(designs: list[str] | None) -> list[Design]:
    found = find_designs(designs or ())
    if not found:
        raise no_designs_error()
    return found


def _one(name: str, designs: list[str] | None) -> Design:
    return select_designs(find_designs(designs or ()), [name])[0]
