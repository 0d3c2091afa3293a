"""The rules about entities: the size of their items, and their docstrings."""

from collections.abc import Iterator

from zataku.table.backend.errors import DesignError
from zataku.table.backend.limits import ITEM_BYTES
from zataku.table.lint.report import Violation
from zataku.table.schema.analysis.item_size import MaxItemSize, max_item_size
from zataku.table.schema.declaration_checks import check_ttl
from zataku.table.schema.table import Table

_FIELDS_IN_MESSAGE = 3


def item_too_large(table: Table) -> Iterator[Violation]:
    """No item can pass 400 KB.

    DynamoDB refuses an item of more than 409,600 bytes, names included. The largest item follows from the limits of
    the fields: `Meta(max_length=...)` of texts, lists and maps, at any depth. A field without a limit makes an item
    without one.
    """
    for binding in table.bindings:
        size, name = max_item_size(binding), binding.entity.__name__
        if size.bytes is None:
            places = ", ".join(size.unbounded)
            yield Violation(
                name,
                f"{name} has no largest size, because there is no limit to {places}.",
                "Limit texts, lists and maps, and what is in them: Annotated[str, Meta(max_length=...)].",
            )
        elif size.bytes > ITEM_BYTES:
            yield Violation(
                name,
                f"{name} can have {size.bytes:,} bytes, but an item takes {ITEM_BYTES:,}. "
                f"The most is in {_largest_fields(size)}.",
                "Lower the limits, or give what grows an item of its own.",
            )


def missing_ttl(table: Table) -> Iterator[Violation]:
    """An entity has the attribute that the time to live of its table names.

    Without one nothing ever expires: the name may be that of the field instead of the attribute it is stored as.
    """
    try:
        check_ttl(table)
    except DesignError as problem:
        message, _, advice = problem.message.partition(". ")
        yield Violation(str(table.ttl), f"{message}.", advice)


def undocumented(table: Table) -> Iterator[Violation]:
    """Every entity has a docstring.

    The design document is written from the code: an entity's docstring is its paragraph there. Access patterns without
    a docstring are refused when they are declared.
    """
    for binding in table.bindings:
        # Looked up in the class itself, since a class without a docstring inherits that of Entity.
        if not (vars(binding.entity).get("__doc__") or "").strip():
            name = binding.entity.__name__
            yield Violation(name, f"{name} has no docstring.", "Say in a sentence what one such item is.")


def _largest_fields(size: MaxItemSize) -> str:
    shares = [(share, name) for name, share in size.by_field.items() if share is not None]
    return ", ".join(f"{name} ({share:,})" for share, name in sorted(shares, reverse=True)[:_FIELDS_IN_MESSAGE])
