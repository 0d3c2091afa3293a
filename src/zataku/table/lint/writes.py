"""The rule about declared writes: each can be carried out."""

from collections.abc import Iterator
from typing import Any

from zataku.table.backend.errors import SameItemTwice, TableError
from zataku.table.backend.port import PutItem, TransactWrite, UpdateItem
from zataku.table.backend.table_schema import TableSchema
from zataku.table.backend.validation import check_changes, check_item, check_transaction
from zataku.table.lint.report import Violation
from zataku.table.schema.analysis.sample_calls import sample_plan
from zataku.table.schema.entity import binding_of
from zataku.table.schema.plan import Check, CheckAbsent, Delete, Plan, Put, Save, Step, Update, Upsert
from zataku.table.schema.table import Table
from zataku.table.store import upsert_requests, write_requests

_NOW = 1_771_669_800.0


def failing_write(table: Table) -> Iterator[Violation]:
    """Every declared write can be carried out.

    The lint calls each write with its example, or with arguments that fit its annotations, and compiles the plan as a
    store does: an edit that would leave an index key stale, a value that its field refuses, one item twice, or more
    than 100 items would fail for every caller.
    """
    for name, pattern in table.writes.items():
        plan = sample_plan(pattern)
        if isinstance(plan, Exception):
            yield Violation(
                name,
                f"{name} cannot be tried out: {type(plan).__name__}: {plan}",
                "Annotate its parameters, or give arguments that it takes: @table.write(example={...}).",
            )
            continue
        problem = _refusal(plan)
        if isinstance(problem, SameItemTwice):
            # Two ids of one kind have the same sample, which says nothing about other arguments.
            plan = sample_plan(pattern, distinct=True)
            problem = _refusal(plan) if isinstance(plan, Plan) else problem
        if problem is not None:
            yield Violation(
                name,
                f"{name} is refused with sample arguments: {problem.message}",
                "Change the plan, or give arguments that it accepts: @table.write(example={...}).",
            )


def _refusal(plan: Plan[Any]) -> TableError | None:
    """The error that a store would raise before it writes anything."""
    try:
        requests = [request for step in plan.steps if (request := _request(step)) is not None]
        if len(plan.steps) > 1:
            check_transaction(requests, None)
            _refuse_repeated_items(requests)
        for request in requests:
            if isinstance(request, PutItem):
                check_item(request.table, request.item)
            elif isinstance(request, UpdateItem):
                check_changes(request.table, request)
    except TableError as problem:
        return problem
    return None


def _request(step: Step[Any]) -> TransactWrite | None:
    schema: TableSchema = binding_of(step.kind).table.schema()
    match step:
        case Put():
            return write_requests.put(schema, step.entity, step.when, step.if_absent, _NOW)
        case Save():
            return write_requests.save(schema, step.entity, step.was)[1]
        case Upsert():
            return upsert_requests.upsert(schema, step.key, step.edits, step.when, _NOW)
        case Update():
            return write_requests.update(schema, step.key, step.edits, step.when, _NOW)
        case Delete():
            return write_requests.delete(schema, step.key, step.when)
        case Check():
            return write_requests.check(schema, step.key, step.when, _NOW)
        case CheckAbsent():
            return write_requests.check_absent(schema, step.key, _NOW)


def _refuse_repeated_items(requests: list[TransactWrite]) -> None:
    seen: set[tuple[str, object]] = set()
    for request in requests:
        key = request.table.key_of(request.item) if isinstance(request, PutItem) else request.key
        if (request.table.name, key) in seen:
            raise SameItemTwice(
                f"A transaction takes one operation per item, and {key} of {request.table.name} has two."
            )
        seen.add((request.table.name, key))
