"""Keys as a design document writes them: `GAME#<gameId>`."""

from typing import Any

from zataku.table.schema.binding import Binding
from zataku.table.schema.key_template import KeyTemplate, Slot


def key_notation(binding: Binding[Any], template: KeyTemplate, known: dict[str, str] | None = None) -> str:
    """A template with attribute names in angle brackets; `known` has the values of fields that are always the same."""
    fixed = known or {}

    def told(part: str | Slot) -> str:
        if isinstance(part, str):
            return part
        value = fixed.get(part.field)
        return slot_notation(binding, part) if value is None else value.zfill(part.width or 0)

    return "".join(told(part) for part in template.parts)


def slot_notation(binding: Binding[Any], part: Slot) -> str:
    """One field of a template; a number padded with zeros says to how many digits."""
    padding = "" if part.width is None else f":0{part.width}d"
    return f"<{attribute_name(binding, part.field)}{padding}>"


def attribute_name(binding: Binding[Any], field: str) -> str:
    """The name of a field on disk; that of a derived value is its own."""
    found = binding.fields.get(field)
    return field if found is None else found.attribute
