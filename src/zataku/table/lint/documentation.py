"""Whether the design explains itself."""

from collections.abc import Iterator

from zataku.table.lint.report import Violation
from zataku.table.schema.table import Table


def undocumented(table: Table) -> Iterator[Violation]:
    """Every entity says in a sentence what it is.

    The design document is written from the code: an entity's docstring is its paragraph there. Access patterns without
    a docstring are refused when they are declared.
    """
    for binding in table.bindings:
        # Looked up in the class itself: the docstring of Entity would say nothing about it.
        if not (vars(binding.entity).get("__doc__") or "").strip():
            name = binding.entity.__name__
            yield Violation(name, f"{name} has no docstring.", "Say in a sentence what one such item is.")
