"""The rule about partition keys that many items share."""

from collections.abc import Iterator
from datetime import date
from math import prod
from typing import Any

from zataku.table.lint.report import Violation
from zataku.table.schema.analysis.annotations import choices_of_field, types_of_field
from zataku.table.schema.analysis.key_sources import indexed_bindings, key_source
from zataku.table.schema.entity_bindings import Binding
from zataku.table.schema.key_template import KeyTemplate
from zataku.table.schema.table import Table

# A partition with at most this many items causes no load.
_MAX_SMALL_SET = 100
_ADVICE = (
    "Put an id or a shard number into the partition key, or waive it with the number of items and the rate at which "
    "it still holds."
)


def hot_partition(table: Table) -> Iterator[Violation]:
    """A growing set does not share one partition key.

    One partition of a table or index takes about 1,000 write units and 3,000 read units a second, however large the
    table is. A partition key that is constant, or made only of a few choices (Literal, Enum, bool) or of a date,
    sends all items, or all items of a day, to one partition. A set of at most 100 items per partition is not growing:
    a single settings item, an item per choice, a two-digit bucket.
    """
    for binding in table.bindings:
        if _is_shared(binding, binding.pk):
            yield _violation(binding, binding.pk, table.pk.name, table.name)
    for name, index in table.indexes.items():
        # A local index uses the partitions of its table, which are checked above.
        for binding in [] if index.schema.local else indexed_bindings(table, index.schema):
            template = key_source(binding, index.schema.pk)
            if template is not None and _is_shared(binding, template):
                yield _violation(binding, template, name, name)


def _violation(binding: Binding[Any], template: KeyTemplate, key: str, location: str) -> Violation:
    entity = binding.entity.__name__
    if template.is_constant:
        sharing = f"Every {entity} is in the one partition {template.text!r} of {location}"
    else:
        same = " and ".join(template.fields)
        sharing = f"Every {entity} with the same {same} is in one partition of {location} ({template.text})"
    return Violation(
        f"{entity}.{key}",
        f"{sharing}, which takes about 1,000 write units and 3,000 read units a second.",
        _ADVICE,
    )


def _is_shared(binding: Binding[Any], template: KeyTemplate) -> bool:
    if not all(_has_few_values(binding, field) for field in template.fields):
        return False
    counts = [_value_count(binding, field) for field in binding.key_fields if field not in template.fields]
    bounded = [count for count in counts if count is not None]
    return len(bounded) < len(counts) or prod(bounded) > _MAX_SMALL_SET


def _has_few_values(binding: Binding[Any], field: str) -> bool:
    """True for choices and dates, whose values many items share. A bounded number counts as a shard number."""
    types = types_of_field(binding, field)
    return bool(types) and all(plain.type is date or plain.choices is not None for plain in types)


def _value_count(binding: Binding[Any], field: str) -> int | None:
    """How many values a field of the key can have, or None when there is no limit."""
    choices = choices_of_field(binding, field)
    if choices is not None:
        return len(choices)
    templates = binding.key_templates.values()
    slots = [slot for template in templates for slot in template.slots if slot.field == field]
    limits = [10**slot.width for slot in slots if slot.width is not None]
    limits += [
        plain.maximum - plain.minimum + 1
        for plain in types_of_field(binding, field)
        if plain.type is int and plain.minimum is not None and plain.maximum is not None
    ]
    return min(limits, default=None)
