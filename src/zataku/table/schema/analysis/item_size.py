"""How large an item can become."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from zataku.table.backend.limits import ITEM_BYTES, PARTITION_KEY_BYTES, SORT_KEY_BYTES
from zataku.table.backend.values import size_of
from zataku.table.lint.report import Violation
from zataku.table.schema.analysis.annotations import key_type, types_of_field
from zataku.table.schema.analysis.value_size import SizeBound, max_text_size, max_value_size
from zataku.table.schema.binding import Binding
from zataku.table.schema.key_template import KeyTemplate
from zataku.table.schema.table import Table

_NAMED_IN_MESSAGE = 3


class MaxItemSize(Struct, frozen=True):
    """The largest size of an item, or None when a field has no limit.

    `by_field` has the share of each field, and of each key, the tag and the revision by their names on disk, names
    included.
    `endless` are the places inside the item that lack a limit, such as `turns[].answer`.
    """

    bytes: int | None
    by_field: dict[str, int | None]
    endless: tuple[str, ...] = ()


def max_item_size(binding: Binding[Any]) -> MaxItemSize:
    """The most bytes that an item of the entity can have, by the limits of its types.

    Texts count 4 bytes a character, or fewer where a pattern says which characters they have. A text in a key of the
    table is at most as long as that key may be, and a text or bytes with a NewType is an id of at most 2,048 bytes.
    """
    shares: dict[str, SizeBound] = {}
    for field in binding.stored:
        shares[field.name] = _with_name(field.attribute, _field(binding, field.name))
    if binding.tag_field is not None:
        shares[binding.tag_field] = _with_name(binding.tag_field, SizeBound(size_of(binding.tag)))
    if (binding.revision or 1) > 1:
        name = binding.table.revision
        shares[name] = _with_name(name, SizeBound(size_of(binding.revision)))
    kept = {field.attribute for field in binding.stored}
    for attribute, template in binding.templates.items():
        # A key that is just a field of the same name is stored once.
        if attribute not in kept:
            shares[attribute] = _with_name(attribute, _key(binding, attribute, template))
    endless = tuple(place for share in shares.values() for place in share.endless)
    total = None if endless else sum(share.bytes or 0 for share in shares.values())
    return MaxItemSize(total, {name: share.bytes for name, share in shares.items()}, endless)


def item_too_large(table: Table) -> Iterator[Violation]:
    """No item can pass 400 KB.

    DynamoDB refuses an item of more than 409,600 bytes, names included. The largest item follows from the limits of
    the fields: `Meta(max_length=...)` of texts, lists and maps, at any depth. A field without a limit makes an item
    without one.
    """
    for binding in table.bindings:
        size, name = max_item_size(binding), binding.entity.__name__
        if size.bytes is None:
            places = ", ".join(size.endless)
            yield Violation(
                name,
                f"{name} has no largest size, because there is no limit to {places}.",
                "Limit texts, lists and maps, and what is in them: Annotated[str, Meta(max_length=...)].",
            )
        elif size.bytes > ITEM_BYTES:
            yield Violation(
                name,
                f"{name} can have {size.bytes:,} bytes, but an item takes {ITEM_BYTES:,}. "
                f"The most is in {_heaviest(size)}.",
                "Lower the limits, or give what grows an item of its own.",
            )


def _heaviest(size: MaxItemSize) -> str:
    known = [(share, name) for name, share in size.by_field.items() if share is not None]
    return ", ".join(f"{name} ({share:,})" for share, name in sorted(known, reverse=True)[:_NAMED_IN_MESSAGE])


def _with_name(attribute: str, bound: SizeBound) -> SizeBound:
    return bound if bound.bytes is None else SizeBound(bound.bytes + size_of(attribute))


def _field(binding: Binding[Any], field: str) -> SizeBound:
    found = max_value_size(binding.fields[field].annotation, field)
    if any(key_type(arm) is None for arm in types_of_field(binding, field)):
        return found
    limits = [_key_limit(binding.table, key) for key, made in binding.key_templates.items() if field in made.fields]
    known = limits if found.bytes is None else [*limits, found.bytes]
    return SizeBound(min(known)) if known else found


def _key(binding: Binding[Any], attribute: str, template: KeyTemplate) -> SizeBound:
    limit = _key_limit(binding.table, attribute)
    total = 0
    for part in template.parts:
        if isinstance(part, str):
            total += size_of(part)
            continue
        texts = [max_text_size(arm, part.width) for arm in types_of_field(binding, part.field)]
        # What has no limit of its own is held back by that of the key.
        total += max((limit if text is None else text for text in texts), default=limit)
    return SizeBound(min(total, limit))


def _key_limit(table: Table, attribute: str) -> int:
    """The most bytes of a key attribute; one that is both kinds of key has to fit the smaller limit."""
    sorts = {index.schema.sk.name for index in table.indexes.values() if index.schema.sk is not None}
    if table.sk is not None:
        sorts.add(table.sk.name)
    return SORT_KEY_BYTES if attribute in sorts else PARTITION_KEY_BYTES
