"""The rule about numbers inside sort keys."""

from collections.abc import Iterator
from typing import Any

from zataku.table.lint.report import Violation
from zataku.table.schema.analysis.annotations import PlainType, types_of_field
from zataku.table.schema.codec import NUMBERS
from zataku.table.schema.entity_bindings import Binding
from zataku.table.schema.key_template import KeyTemplate
from zataku.table.schema.table import Table


def unpadded_number(table: Table) -> Iterator[Violation]:
    """A number inside a sort key is padded with zeros.

    Sort keys of text are compared character by character, so MOVE#10 comes before MOVE#2. A number in the sort key of
    the table or of an index needs a width (`MOVE#{turn_number:03d}`). A sort key that is a number itself sorts
    correctly, and so do numbers whose limits give them all the same number of digits.
    """
    for attribute, location in _sort_keys(table).items():
        for binding in table.bindings:
            template = binding.templates.get(attribute)
            unpadded = [] if template is None or template.is_single_field else _unpadded(binding, template)
            if template is not None and unpadded:
                yield Violation(
                    f"{binding.entity.__name__}.{attribute}",
                    f"{template.text} is the sort key of {location}, but holds {', '.join(unpadded)} without padding, "
                    "so that 10 sorts before 2.",
                    f"Pad it to the width of its largest value, such as {_padded(template, unpadded)}, or sort by a "
                    "key attribute of type N.",
                )


def _sort_keys(table: Table) -> dict[str, str]:
    """The attributes that are sort keys, each with the name of its table or index."""
    locations = {} if table.sk is None else {table.sk.name: table.name}
    for index in table.indexes.values():
        if index.schema.sk is not None:
            locations.setdefault(index.schema.sk.name, index.schema.name)
    return locations


def _unpadded(binding: Binding[Any], template: KeyTemplate) -> list[str]:
    slots = [slot for slot in template.slots if slot.width is None]
    return [slot.field for slot in slots if any(map(_varies_in_length, types_of_field(binding, slot.field)))]


def _varies_in_length(plain: PlainType) -> bool:
    """True when the type has numbers whose text is not in their order."""
    if plain.type in NUMBERS:
        low, high = plain.minimum, plain.maximum
        return plain.type is not int or low is None or high is None or low < 0 or len(str(low)) != len(str(high))
    numbers = [choice for choice in plain.choices or () if type(choice) is int]
    return len({len(str(number)) for number in numbers}) > 1


def _padded(template: KeyTemplate, unpadded: list[str]) -> str:
    text = template.text
    for field in unpadded:
        text = text.replace(f"{{{field}}}", f"{{{field}:03d}}")
    return text
