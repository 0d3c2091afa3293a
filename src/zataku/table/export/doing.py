"""The part of the document about writes: what each does to which items, on which conditions, and at what price."""

import inspect
from collections.abc import Iterator
from typing import Any, get_type_hints

from zataku.table.design import Table
from zataku.table.entity import binding_of
from zataku.table.export.asking import routes
from zataku.table.export.example import example_value
from zataku.table.export.notation import written
from zataku.table.export.tables import pattern_head
from zataku.table.plan import Plan, Step, WritePattern

_OPERATIONS = {"put": "PutItem", "save": "UpdateItem", "update": "UpdateItem", "delete": "DeleteItem"}
_VERBS = {"put": "Put", "save": "Update", "update": "Update", "delete": "Delete", "check": "ConditionCheck"}


def write_section(table: Table, level: str) -> Iterator[str]:
    """Everything that is written by one conditional write or one transaction."""
    if not table.writes:
        return
    yield f"{level} Writes"
    for number, (name, pattern) in enumerate(table.writes.items(), 1):
        yield from pattern_head(f"{level}# {number}.", name, pattern.facts.doc, pattern.function)
        plan = planned(pattern)
        if plan is not None:
            yield "\n".join(["```text", *_lines(plan), "```"])
        if pattern.facts.budget is not None:
            yield f"Budget: {pattern.facts.budget.words}."


def planned(pattern: WritePattern[..., Any]) -> Plan[Any] | None:
    """The plan for made-up arguments; None when the write does not take them."""
    given = pattern.facts.example or {}
    try:
        hints = get_type_hints(pattern.function, include_extras=True)
        arguments = {
            name: given[name] if name in given else example_value(name, hints[name])
            for name, parameter in inspect.signature(pattern.function).parameters.items()
            if name in given or parameter.default is parameter.empty
        }
        return pattern.function(**arguments)
    except Exception:  # noqa: BLE001 - a rule of the design may refuse what was made up
        return None


def _lines(plan: Plan[Any]) -> Iterator[str]:
    if len(plan.steps) == 1:
        (step,) = plan.steps
        yield f"{_OPERATIONS.get(step.verb, step.verb)}:"
    else:
        yield "TransactWriteItems:"
    told = [_line(step) for step in plan.steps]
    for line in dict.fromkeys(told):
        yield f"  {line}"


def _line(step: Step[Any]) -> str:
    binding = binding_of(step.kind)
    keys = ", ".join(f"{name} = {written(binding, made)}" for name, made in binding.key_templates.items())
    demands = list(_demands(step))
    return f"{_VERBS.get(step.verb, 'ConditionCheck')} {step.kind.__name__} ({keys})" + (
        f", {' and '.join(demands)}" if demands else ""
    )


def _demands(step: Step[Any]) -> Iterator[str]:
    if step.if_absent or step.verb == "check absent":
        yield "if there is none"
    if step.verb == "save":
        version = binding_of(step.kind).version
        yield f"if {version or 'what changes'} is still as read"
    if step.verb in ("update", "check") and step.when is None:
        yield "if it is there"
    if step.when is not None:
        yield f"on condition of {', '.join(dict.fromkeys(routes(step.when.expression)))}"
