"""Key templates such as `GAME#{game_id}` and `MOVE#{turn_number:03d}`."""

import re
from collections.abc import Callable, Iterable
from datetime import date
from decimal import Decimal
from enum import Enum
from string import Formatter
from uuid import UUID

import msgspec
from msgspec import Struct

from zataku.table.backend.errors import BadKey, DesignError, MissingKeyField, WrongType

_PADDED = re.compile(r"0([1-9][0-9]?)d")


class Slot(Struct, frozen=True):
    """A field in a template; `width` is the number of digits that a number is padded to.

    `separator` is the literal text after the slot: a value that contains it could be read as another key.
    """

    field: str
    width: int | None = None
    separator: str = ""

    @property
    def max_number(self) -> int | None:
        """The largest number that fits the padding, or None for a slot without padding."""
        return None if self.width is None else 10**self.width - 1


class KeyTemplate:
    """The text of a key with slots for fields."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.parts = _parsed(text)
        self.slots = tuple(part for part in self.parts if isinstance(part, Slot))
        self.fields = tuple(dict.fromkeys(slot.field for slot in self.slots))
        self.prefix = self.parts[0] if self.parts and isinstance(self.parts[0], str) else ""
        # The key is the same for every item.
        self.is_constant = not self.slots
        # The key is one field, with the field's own type.
        self.is_single_field = len(self.parts) == 1 and bool(self.slots) and self.slots[0].width is None
        self._pattern = re.compile("".join(_as_pattern(part) for part in self.parts), re.DOTALL)
        # Templates of other items whose keys this one could render.
        self.conflicting: tuple[KeyTemplate, ...] = ()
        # The template for the % operator, and for each slot what a value needs to be inserted without conversion.
        self._format = "".join(_as_format(part) for part in self.parts)
        self._slots = tuple((slot.field, slot.max_number, slot.separator, slot) for slot in self.slots)

    def __repr__(self) -> str:
        return f"KeyTemplate({self.text!r})"

    def find_conflicts(self, others: Iterable["KeyTemplate"]) -> None:
        """Set the templates of other items whose keys this one could render.

        `GAME#{id}` renders a key of `GAME#{id}#TURN#{n}` when an id contains the separator; such an id is refused.
        """
        sample = self._sample
        self.conflicting = tuple(
            other
            for other in others
            if other.text != self.text and self.matches(other._sample) and not other.matches(sample)
        )

    @property
    def _sample(self) -> str:
        parts = (part if isinstance(part, str) else "0" * (part.width or 1) for part in self.parts)
        return "".join(parts)

    def render(self, value_of: Callable[[str], object]) -> str | None:
        """The key text, or None when a field is None: the item then stays out of the index."""
        values: list[object] = []
        add = values.append
        for field, max_number, separator, slot in self._slots:
            value = value_of(field)
            if value is None:
                return None
            # Most keys consist of text and padded numbers. This runs for every read and write, so they go unconverted.
            if max_number is None:
                fits = type(value) is str and value and not (separator and separator in value)
            else:
                fits = type(value) is int and 0 <= value <= max_number
            add(value if fits else _rendered(slot, value, self.text))
        key = self._format % tuple(values)
        for other in self.conflicting:
            if other.matches(key):
                raise BadKey(
                    f"{key!r} from {self.text!r} could pass for a key of {other.text!r}. Use values without separators."
                )
        return key

    def require(self, value_of: Callable[[str], object], entity: str) -> str:
        """The key text; a missing field is an error."""
        key = self.render(value_of)
        if key is None:
            missing = next(name for name in self.fields if value_of(name) is None)
            raise MissingKeyField(
                f"{entity} needs {missing} for its key {self.text!r}. Give it a value.",
                field=missing,
                template=self.text,
            )
        return key

    def parse(self, key: object) -> dict[str, str] | None:
        """The texts of the slots, or None when the key is not of this template."""
        if not isinstance(key, str):
            return None
        match = self._pattern.fullmatch(key)
        return match.groupdict() if match else None

    def matches(self, key: object) -> bool:
        """True when the key may come from this template."""
        return isinstance(key, str) and self._pattern.fullmatch(key) is not None

    def owns(self, key: object) -> bool:
        """True when a stored key is of this template, and not of another one whose keys this one refuses to render."""
        fits = self.is_single_field or self.matches(key)
        return fits and not any(other.matches(key) for other in self.conflicting)


def _parsed(text: str) -> tuple[str | Slot, ...]:
    parts: list[str | Slot] = []
    try:
        pieces = list(Formatter().parse(text))
    except ValueError as problem:
        raise DesignError(f"The key template {text!r} cannot be read: {problem}.") from None
    for at, (literal, field, spec, conversion) in enumerate(pieces):
        if literal:
            parts.append(literal)
        if field is None:
            continue
        if not field.isidentifier() or conversion:
            raise DesignError(f"The key template {text!r} has a slot {{{field}}}. A slot holds one field name.")
        width = _PADDED.fullmatch(spec) if spec else None
        if spec and not width:
            raise DesignError(f"The key template {text!r} has the format {spec!r}. Only padding such as 03d is known.")
        separator = pieces[at + 1][0] if at + 1 < len(pieces) else ""
        if any(isinstance(part, Slot) and part.field == field for part in parts):
            raise DesignError(f"The key template {text!r} has {{{field}}} twice. Once is enough to tell items apart.")
        if parts and isinstance(parts[-1], Slot):
            raise DesignError(f"The key template {text!r} has two slots side by side. Put a separator between them.")
        parts.append(Slot(field, int(width[1]) if width else None, separator))
    if not parts:
        raise DesignError("A key template is empty. Give the key a text or a field.")
    return tuple(parts)


def _as_format(part: str | Slot) -> str:
    if isinstance(part, str):
        return part.replace("%", "%%")
    return "%s" if part.width is None else f"%0{part.width}d"


def _as_pattern(part: str | Slot) -> str:
    if isinstance(part, str):
        return re.escape(part)
    if part.width is not None:
        return f"(?P<{part.field}>[0-9]{{{part.width}}})"
    return f"(?P<{part.field}>.+?)" if part.separator else f"(?P<{part.field}>.+)"


def _rendered(slot: Slot, value: object, template: str) -> str | int:
    if isinstance(value, Enum):
        value = value.value
    if slot.width is not None:
        if type(value) is not int:
            raise WrongType(f"{slot.field} goes into {template!r} as a padded number, so it must be an int.")
        if value < 0 or len(str(value)) > slot.width:
            raise BadKey(
                f"{slot.field} = {value} does not fit {slot.width} digits in {template!r} and would sort wrongly. "
                "Give a number that fits, or declare a wider padding."
            )
        return value
    if isinstance(value, date):
        # As the attribute is stored, so that an update, which reads only the attribute, makes the same key.
        value = msgspec.to_builtins(value)
    elif isinstance(value, UUID) or type(value) in (int, Decimal):
        value = str(value)
    if not isinstance(value, str):
        raise WrongType(
            f"{slot.field} goes into {template!r}, so it must be a string or int, not {type(value).__name__}."
        )
    if not value:
        raise BadKey(f"{slot.field} is empty, but goes into the key {template!r}. Give it a value.")
    if slot.separator and slot.separator in value:
        raise BadKey(
            f"{slot.field} contains {slot.separator!r}, which separates the parts of {template!r}. Use another value."
        )
    return value
