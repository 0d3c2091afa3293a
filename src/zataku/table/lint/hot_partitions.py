"""Whether items spread over partitions."""

from collections.abc import Iterator
from datetime import date
from math import prod
from typing import Any

from zataku.table.lint.report import Violation
from zataku.table.schema.analysis.annotations import choices_of_field, types_of_field
from zataku.table.schema.analysis.key_sources import indexed_bindings, key_source
from zataku.table.schema.binding import Binding
from zataku.table.schema.key_template import KeyTemplate
from zataku.table.schema.table import Table

# A set that cannot outgrow this is furniture, not a growing set.
_FEW = 100
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
        if _crowded(binding, binding.pk):
            yield _slip(binding, binding.pk, table.pk.name, table.name)
    for name, index in table.indexes.items():
        # A local index lies in the partitions of its table, which are judged above.
        for binding in [] if index.schema.local else indexed_bindings(table, index.schema):
            template = key_source(binding, index.schema.pk)
            if template is not None and _crowded(binding, template):
                yield _slip(binding, template, name, name)


def _slip(binding: Binding[Any], template: KeyTemplate, place: str, where: str) -> Violation:
    entity = binding.entity.__name__
    if template.is_constant:
        who = f"Every {entity} lies in the one partition {template.text!r} of {where}"
    else:
        same = " and ".join(template.fields)
        who = f"Every {entity} with the same {same} lies in one partition of {where} ({template.text})"
    return Violation(
        f"{entity}.{place}",
        f"{who}, which takes about 1,000 write units and 3,000 read units a second.",
        _ADVICE,
    )


def _crowded(binding: Binding[Any], template: KeyTemplate) -> bool:
    if not all(_narrow(binding, field) for field in template.fields):
        return False
    apart = [_count(binding, field) for field in binding.key_fields if field not in template.fields]
    numbers = [number for number in apart if number is not None]
    return len(numbers) < len(apart) or prod(numbers) > _FEW


def _narrow(binding: Binding[Any], field: str) -> bool:
    """True when many items share a value of the field. A bounded number is not: that is what a shard looks like."""
    kinds = types_of_field(binding, field)
    return bool(kinds) and all(plain.type is date or plain.choices is not None for plain in kinds)


def _count(binding: Binding[Any], field: str) -> int | None:
    """How many values a field of the key can have, or None when there is no end to them."""
    choices = choices_of_field(binding, field)
    if choices is not None:
        return len(choices)
    slots = [slot for made in binding.key_templates.values() for slot in made.slots if slot.field == field]
    limits = [10**slot.width for slot in slots if slot.width is not None]
    limits += [
        plain.maximum - plain.minimum + 1
        for plain in types_of_field(binding, field)
        if plain.type is int and plain.minimum is not None and plain.maximum is not None
    ]
    return min(limits, default=None)
