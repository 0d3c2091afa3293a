"""Upserts compiled to backend requests: edits of an item that is created when there is none.

A created item is stored as `put` stores it: with its key fields, its discriminator, its revision, and the defaults of
the fields that no edit touches. Every field without a default must be set by an edit. An item that exists is edited as
by an update; an attribute that it lacks gets the default that reads show already.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeVar

from zataku.table.backend import expression as ex
from zataku.table.backend.errors import BadUpdate, StaleIndexKey
from zataku.table.backend.port import DeleteItem, Row, UpdateItem
from zataku.table.backend.table_schema import TableSchema
from zataku.table.backend.values import Value, unpack_row
from zataku.table.schema.analysis.sample_values import defaults_of
from zataku.table.schema.codec import to_value, validated
from zataku.table.schema.entity import Entity, Key, binding_of
from zataku.table.schema.entity_bindings import Binding
from zataku.table.schema.field_path import Condition, Edit
from zataku.table.schema.key_template import KeyTemplate
from zataku.table.store.write_requests import (
    UNKNOWN,
    bounds_of,
    checked_action,
    condition_of,
    item_key,
    known_value,
    unexpired,
    value_after,
    version_actions,
)

E = TypeVar("E", bound=Entity)


def upsert(
    schema: TableSchema, key: Key[E], edits: Sequence[Edit[E]], when: Condition[E] | None, now: float
) -> UpdateItem:
    """Request that edits an item, or creates it from the edits. `when` is about an item that exists."""
    if not edits:
        raise BadUpdate("An upsert needs at least one edit. Give one.")
    binding = binding_of(key.entity)
    actions = [checked_action(binding, edit) for edit in edits]
    changed = {edit.field: value_after(edit.action) for edit in edits}
    _require_all_fields(binding, edits)
    constants = {**_defaults(binding, changed), **_constants(binding, key)}
    actions += [_initial((name,), value) for name, value in constants.items()]
    initial = _initial_values(binding, edits)
    for attribute, template, sources in binding.dependent_index_keys:
        is_touched = not sources.isdisjoint(changed)
        actions += _index_key(binding, attribute, template, key, changed, initial, is_touched)
    actions += version_actions(binding, changed)
    exists = ex.both(None if schema.ttl is None else unexpired(schema.ttl, now), condition_of(key.entity, when))
    condition = None if exists is None else ex.Either((ex.Missing((schema.pk.name,)), exists))
    condition = ex.both(condition, bounds_of(binding, edits))
    return UpdateItem(schema, item_key(key), tuple(actions), binding.edit_condition(condition))


def expired_deletion(write: UpdateItem, row: Row | None, now: float) -> DeleteItem | None:
    """Request that deletes the expired item which made an upsert fail; None when it failed for another reason.

    An expired item counts as absent, so it must not be edited.
    """
    ttl = write.table.ttl
    expiry = None if row is None or ttl is None else unpack_row(row).get(ttl)
    if ttl is None or isinstance(expiry, bool) or not isinstance(expiry, int | Decimal) or expiry > int(now):
        return None
    expired = ex.Compare(ex.Attribute((ttl,)), "<=", ex.Literally(int(now)))
    return DeleteItem(write.table, write.key, expired)


def _require_all_fields(binding: Binding[E], edits: Sequence[Edit[E]]) -> None:
    given = {edit.field for edit in edits if len(edit.action.route) == 1 and _stores(edit.action)}
    given.update(binding.key_fields, () if binding.version is None else (binding.version,))
    missing = [field.name for field in binding.fields.values() if field.required and field.name not in given]
    if missing:
        name = binding.entity.__name__
        raise BadUpdate(
            f"The upsert would create a {name} without {', '.join(missing)}, which could not be read. Set "
            f"{'it' if len(missing) == 1 else 'them'} too: `set`, or `set_if_missing` to keep what is stored.",
            fields=missing,
        )


def _initial(route: ex.Route, value: Value) -> ex.Action:
    """The action that stores a value in a created item, and changes nothing in one that exists."""
    return ex.Assign(route, ex.IfMissing(route, ex.Literally(value)))


def _stores(action: ex.Action) -> bool:
    return isinstance(action, ex.Assign | ex.Increase | ex.Include)


def _constants(binding: Binding[E], key: Key[E]) -> dict[str, Value]:
    """The attributes that every item of this key has, beside the key itself."""
    keys = {attribute.name for attribute in binding.table.keys}
    constants = {
        field.attribute: to_value(key.fields[field.name])
        for field in binding.stored
        if field.name in binding.key_fields and field.attribute not in keys
    }
    if binding.tag_field is not None:
        constants[binding.tag_field] = binding.tag
    if (binding.revision or 1) > 1:
        constants[binding.table.revision] = binding.revision
    return constants


def _defaults(binding: Binding[E], changed: Mapping[str, object]) -> dict[str, Value]:
    """The attributes of fields that are left to their defaults.

    Without them, conditions, `add` and `save` would find nothing where a read shows the default.
    """
    fixed = {*binding.key_fields, *changed, *(() if binding.version is None else (binding.version,))}
    defaults = binding.defaults()
    left = [field for name, field in binding.fields.items() if name not in fixed and field.attribute in defaults]
    name = binding.entity.__name__
    # msgspec does not validate defaults.
    return {
        field.attribute: validated(
            defaults[field.attribute], field.annotation, f"The default of {name}.{field.name} cannot be stored"
        )
        for field in left
    }


def _initial_values(binding: Binding[E], edits: Sequence[Edit[E]]) -> dict[str, Value]:
    """The values of `set_if_missing` of required fields: an item that exists has another one, and keeps it."""
    return {
        edit.field: action.value.otherwise.value
        for edit in edits
        if isinstance(action := edit.action, ex.Assign)
        and len(action.route) == 1
        and isinstance(action.value, ex.IfMissing)
        and binding.fields[edit.field].required
    }


def _index_key(
    binding: Binding[E],
    attribute: str,
    template: KeyTemplate,
    key: Key[E],
    changed: Mapping[str, object],
    initial: Mapping[str, Value],
    is_touched: bool,
) -> list[ex.Action]:
    """The actions that give an index key to a created item and keep that of an existing one right."""
    route = (attribute,)
    after = _rendered(binding, attribute, template, key, changed)
    if after is not UNKNOWN:
        return [ex.Drop(route) if after is None else ex.Assign(route, ex.Literally(after))]
    sources = {source for field in template.fields for source in binding.sources(field)}
    known = {name: value for name, value in changed.items() if value is not UNKNOWN}
    defaults = {name: _stored_default(value) for name, value in defaults_of(binding.entity).items()}
    created = _rendered(binding, attribute, template, key, {**defaults, **changed, **initial})
    if created is None and not is_touched:
        # A created item stays out of the index, and an existing one keeps its place.
        return []
    is_known = created is not UNKNOWN and created is not None
    if is_known and sources.isdisjoint(known) and not _has_defaults(binding, sources):
        # Nothing that an existing item has changes its key.
        return [_initial(route, created)]
    name = binding.entity.__name__
    raise StaleIndexKey(
        f"The index key {attribute} = {template.text!r} of {name} is not known both for an item that is created and "
        "for one that exists. Set all its fields, or load the item and `save` or `put` it.",
        attribute=attribute,
    )


def _has_defaults(binding: Binding[E], sources: set[str]) -> bool:
    return any(not binding.fields[source].required for source in sources if source not in binding.key_fields)


def _stored_default(value: object) -> object:
    return None if value is None else to_value(value)


def _rendered(
    binding: Binding[E], attribute: str, template: KeyTemplate, key: Key[E], values: Mapping[str, object]
) -> Any:
    slots = {field: known_value(binding, field, key, dict(values)) for field in template.fields}
    if UNKNOWN in slots.values():
        return UNKNOWN
    return binding.index_value(attribute, template, slots.get)
