"""The rule about keys that two kinds of items can share."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from zataku.table.lint.report import Violation
from zataku.table.lint.template_matcher import common_key
from zataku.table.schema.entity_bindings import Binding
from zataku.table.schema.key_template import KeyTemplate
from zataku.table.schema.table import Table


def colliding_keys(table: Table) -> Iterator[Violation]:
    """No two kinds of items can have the same primary key.

    A table holds one item per key, whatever its kind: with `A#{a}` + META for one entity and `A#{b}` + META for
    another, writing the second replaces the first without a word. The discriminator does not help, because it is an
    attribute of the item and not part of its key. Values are taken not to contain the separators of their template.
    """
    for first, second in combinations(table.bindings, 2):
        keys = _shared_key(first, second)
        if keys is not None:
            names = first.entity.__name__, second.entity.__name__
            example = ", ".join(f"{attribute} = {key!r}" for attribute, key in keys.items())
            yield Violation(
                " and ".join(names),
                f"{names[0]} ({_templates(first)}) and {names[1]} ({_templates(second)}) can have the same key, "
                f"such as {example}: each would replace the other.",
                "Put something into the key that only one of them has, such as the name of the kind: "
                f"{names[0].upper()}#…",
            )


def _shared_key(first: Binding[Any], second: Binding[Any]) -> dict[str, str] | None:
    keys: dict[str, str] = {}
    for attribute, template in first.key_templates.items():
        other = second.key_templates[attribute]
        key = None if _are_kept_apart(template, other) else common_key((first, template), (second, other))
        if key is None:
            return None
        keys[attribute] = key
    return keys


def _are_kept_apart(template: KeyTemplate, other: KeyTemplate) -> bool:
    """True when one refuses to make a key that could be one of the other's."""
    return other in template.conflicting or template in other.conflicting


def _templates(binding: Binding[Any]) -> str:
    return " + ".join(template.text for template in binding.key_templates.values())
