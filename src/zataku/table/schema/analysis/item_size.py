"""The largest size that an item of an entity can have."""

from typing import Any

from msgspec import Struct

from zataku.table.backend.limits import PARTITION_KEY_BYTES, SORT_KEY_BYTES
from zataku.table.backend.values import size_of
from zataku.table.schema.analysis.annotations import key_type, types_of_field
from zataku.table.schema.analysis.value_size import SizeBound, max_text_size, max_value_size
from zataku.table.schema.entity_bindings import Binding
from zataku.table.schema.key_template import KeyTemplate
from zataku.table.schema.table import Table


class MaxItemSize(Struct, frozen=True):
    """The largest size of an item, or None when a field has no limit.

    `by_field` has the share of each field, and of each key, the tag and the revision by their names on disk, names
    included. `unbounded` lists the places inside the item that lack a limit, such as `turns[].answer`.
    """

    bytes: int | None
    by_field: dict[str, int | None]
    unbounded: tuple[str, ...] = ()


def max_item_size(binding: Binding[Any]) -> MaxItemSize:
    """The most bytes that an item of the entity can have, by the limits of its types.

    Texts count 4 bytes a character, or fewer where a pattern says which characters they have. A text in a key of the
    table is at most as long as that key may be, and a text or bytes with a NewType is an id of at most 2,048 bytes.
    """
    shares: dict[str, SizeBound] = {}
    for field in binding.stored:
        shares[field.name] = _with_name(field.attribute, _field_size(binding, field.name))
    if binding.tag_field is not None:
        shares[binding.tag_field] = _with_name(binding.tag_field, SizeBound(size_of(binding.tag)))
    if (binding.revision or 1) > 1:
        name = binding.table.revision
        shares[name] = _with_name(name, SizeBound(size_of(binding.revision)))
    field_attributes = {field.attribute for field in binding.stored}
    for attribute, template in binding.templates.items():
        # A key that is just a field of the same name is stored once.
        if attribute not in field_attributes:
            shares[attribute] = _with_name(attribute, _key_size(binding, attribute, template))
    unbounded = tuple(place for share in shares.values() for place in share.unbounded)
    total = None if unbounded else sum(share.bytes or 0 for share in shares.values())
    return MaxItemSize(total, {name: share.bytes for name, share in shares.items()}, unbounded)


def _with_name(attribute: str, bound: SizeBound) -> SizeBound:
    return bound if bound.bytes is None else SizeBound(bound.bytes + size_of(attribute))


def _field_size(binding: Binding[Any], field: str) -> SizeBound:
    bound = max_value_size(binding.fields[field].annotation, field)
    if any(key_type(plain) is None for plain in types_of_field(binding, field)):
        return bound
    limits = [
        _key_limit(binding.table, key) for key, template in binding.key_templates.items() if field in template.fields
    ]
    if bound.bytes is not None:
        limits.append(bound.bytes)
    return SizeBound(min(limits)) if limits else bound


def _key_size(binding: Binding[Any], attribute: str, template: KeyTemplate) -> SizeBound:
    limit = _key_limit(binding.table, attribute)
    total = 0
    for part in template.parts:
        if isinstance(part, str):
            total += size_of(part)
            continue
        sizes = [max_text_size(plain, part.width) for plain in types_of_field(binding, part.field)]
        # A value without a limit of its own is bounded by the limit of the key.
        total += max((limit if size is None else size for size in sizes), default=limit)
    return SizeBound(min(total, limit))


def _key_limit(table: Table, attribute: str) -> int:
    """The most bytes of a key attribute; one that is both kinds of key has to fit the smaller limit."""
    return SORT_KEY_BYTES if attribute in table.sort_attributes else PARTITION_KEY_BYTES
