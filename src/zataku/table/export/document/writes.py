"""The part of the document about writes: the steps of each, their conditions, and its budget."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from zataku.table.export.document.access_patterns import attributes_read
from zataku.table.export.document.notation import key_notation
from zataku.table.export.document.tables import pattern_head
from zataku.table.schema.analysis.sample_calls import sample_plan
from zataku.table.schema.entity import binding_of
from zataku.table.schema.plan import Check, CheckAbsent, Delete, Plan, Put, Save, Step, Update, Upsert, WritePattern
from zataku.table.schema.table import Table


def write_section(table: Table, level: str) -> Iterator[str]:
    """The declared writes, each a conditional write or a transaction."""
    if not table.writes:
        return
    yield f"{level} Writes"
    for number, (name, pattern) in enumerate(sorted(table.writes.items(), key=_declaration_order), 1):
        yield from pattern_head(f"{level}# {number}.", name, pattern.metadata.doc, pattern.function)
        plan = sample_plan(pattern)
        yield (
            "The steps depend on arguments of which no example is given."
            if isinstance(plan, Exception)
            else "\n".join(["```text", *_lines(plan), "```"])
        )
        if pattern.metadata.budget is not None:
            yield f"Budget: {pattern.metadata.budget.text()}."


def _declaration_order(declared: tuple[str, WritePattern[..., Any]]) -> tuple[str, int]:
    """The position of a declaration in its file, since the order of imports varies."""
    code = declared[1].function.__code__
    return code.co_filename, code.co_firstlineno


def _lines(plan: Plan[Any]) -> Iterator[str]:
    yield "TransactWriteItems:" if len(plan.steps) > 1 else f"{_verb(plan.steps[0])}Item:"
    # Equal lines are steps on different items of one kind.
    for line, times in Counter(map(_line, plan.steps)).items():
        yield f"  {line}" if times == 1 else f"  {times} × {line}"


def _verb(step: Step[Any]) -> str:
    match step:
        case Put():
            return "Put"
        case Save() | Update():
            return "Update"
        case Delete():
            return "Delete"
        case _:
            return "ConditionCheck"


def _line(step: Step[Any]) -> str:
    binding = binding_of(step.kind)
    keys = ", ".join(f"{name} = {key_notation(binding, template)}" for name, template in binding.key_templates.items())
    conditions = list(_conditions(step))
    return f"{_verb(step)} {step.kind.__name__} ({keys})" + (f", {' and '.join(conditions)}" if conditions else "")


def _conditions(step: Step[Any]) -> Iterator[str]:
    if isinstance(step, Save):
        yield f"if {binding_of(step.kind).version or 'what changes'} is still as read"
        return
    if isinstance(step, CheckAbsent) or (isinstance(step, Put) and step.if_absent):
        yield "if none exists"
    when = None if isinstance(step, CheckAbsent) else step.when
    if when is not None:
        yield f"on condition of {', '.join(attributes_read(when.expression))}" + (
            " of one that exists" if isinstance(step, Upsert) else ""
        )
    elif isinstance(step, Upsert):
        yield "created if there is none"
    elif isinstance(step, Update | Check):
        yield "if it exists"
