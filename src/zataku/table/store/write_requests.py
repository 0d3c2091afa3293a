"""Typed writes compiled to backend requests, with every index key that depends on a change recomputed."""

from collections.abc import Collection, Sequence
from types import SimpleNamespace
from typing import Any, TypeVar

from msgspec.structs import replace

from zataku.table.backend import expression as ex
from zataku.table.backend.condition_evaluation import equal
from zataku.table.backend.errors import BadInput, BadKey, BadUpdate, StaleIndexKey, WrongType
from zataku.table.backend.port import CheckItem, DeleteItem, ItemKey, PutItem, UpdateItem
from zataku.table.backend.table_schema import TableSchema
from zataku.table.backend.values import Item
from zataku.table.schema.codec import validated
from zataku.table.schema.entity import Derived, Entity, Key, binding_of
from zataku.table.schema.entity_bindings import Binding
from zataku.table.schema.field_bounds import bound_conditions
from zataku.table.schema.field_path import Condition, Edit
from zataku.table.schema.key_template import KeyTemplate

E = TypeVar("E", bound=Entity)

# The value of a field that only the stored item has.
UNKNOWN: Any = object()


def absent(schema: TableSchema, now: float) -> ex.Expression:
    """Condition that no item exists, or only an expired one that is not swept yet."""
    missing = ex.Missing((schema.pk.name,))
    if schema.ttl is None:
        return missing
    return ex.Either((missing, ex.Compare(ex.Attribute((schema.ttl,)), "<=", ex.Literally(int(now)))))


def alive(schema: TableSchema, now: float) -> ex.Expression:
    """Condition that an unexpired item exists."""
    exists = ex.Exists((schema.pk.name,))
    if schema.ttl is None:
        return exists
    return ex.All((exists, unexpired(schema.ttl, now)))


def unexpired(ttl: str, now: float) -> ex.Expression:
    """Condition that the item has not expired."""
    return ex.Not(ex.Compare(ex.Attribute((ttl,)), "<=", ex.Literally(int(now))))


def item_key(key: Key[Any]) -> ItemKey:
    """The key in the form of the backend port."""
    return key.pk, key.sk


def condition_of(entity: type[E], when: Condition[E] | None) -> ex.Expression | None:
    """The expression of a condition, which must be about this kind of item."""
    if when is None:
        return None
    if when.entity is not entity:
        raise WrongType(f"The condition is about {when.entity.__name__}, but the item is a {entity.__name__}.")
    return when.expression


def put(schema: TableSchema, entity: E, when: Condition[E] | None, if_absent: bool, now: float) -> PutItem:
    """Request that writes the whole entity."""
    condition = condition_of(type(entity), when)
    if if_absent:
        condition = ex.both(absent(schema, now), condition)
    binding = binding_of(type(entity))
    return PutItem(schema, binding.encode(entity), binding.write_condition(condition))


def delete(schema: TableSchema, key: Key[E], when: Condition[E] | None) -> DeleteItem:
    """Request that deletes the item."""
    return DeleteItem(schema, item_key(key), binding_of(key.entity).write_condition(condition_of(key.entity, when)))


def batched_put(schema: TableSchema, entity: Entity) -> PutItem:
    """Request that writes the whole entity in a batch, which takes no conditions."""
    return PutItem(schema, binding_of(type(entity)).encode(entity))


def batched_delete(schema: TableSchema, key: Key[Any]) -> DeleteItem:
    """Request that deletes the item in a batch."""
    return DeleteItem(schema, item_key(key))


def check(schema: TableSchema, key: Key[E], when: Condition[E] | None, now: float) -> CheckItem:
    """Request that requires the item to exist, and to meet the condition if any."""
    condition = binding_of(key.entity).write_condition(ex.both(alive(schema, now), condition_of(key.entity, when)))
    assert condition is not None
    return CheckItem(schema, item_key(key), condition)


def check_absent(schema: TableSchema, key: Key[E], now: float) -> CheckItem:
    """Request that requires the item to be absent."""
    condition = binding_of(key.entity).write_condition(absent(schema, now))
    assert condition is not None
    return CheckItem(schema, item_key(key), condition)


def update(
    schema: TableSchema, key: Key[E], edits: Sequence[Edit[E]], when: Condition[E] | None, now: float
) -> UpdateItem:
    """Request that edits an existing item."""
    if not edits:
        raise BadUpdate("An update needs at least one edit. Give one.")
    binding = binding_of(key.entity)
    actions = [checked_action(binding, edit) for edit in edits]
    changed = {edit.field: value_after(edit.action) for edit in edits}
    for attribute, template, sources in binding.dependent_index_keys:
        if not sources.isdisjoint(changed):
            actions.append(_index_key(binding, attribute, template, key, changed))
    actions += version_actions(binding, changed)
    condition = ex.both(alive(schema, now), condition_of(key.entity, when))
    condition = ex.both(condition, bounds_of(binding, edits))
    return UpdateItem(schema, item_key(key), tuple(actions), binding.write_condition(condition))


def version_actions(binding: Binding[E], changed: Collection[str]) -> list[ex.Action]:
    """The action that counts the version, unless an edit sets it."""
    if binding.version is None or binding.version in changed:
        return []
    return [ex.Increase((binding.fields[binding.version].attribute,), 1)]


def bounds_of(binding: Binding[E], edits: Sequence[Edit[E]]) -> ex.Expression | None:
    """Condition that no edit takes a field out of its bounds, nor counting takes the version."""
    bounded = [part for edit in edits for part in edit.bounded]
    if binding.version is not None and all(edit.field != binding.version for edit in edits):
        field = binding.fields[binding.version]
        limited = binding.version_limits.add((field.attribute,), 1, field.name)
        bounded += [(field.name, limited)] if limited is not None else []
    condition: ex.Expression | None = None
    for bound in bound_conditions(binding.entity, bounded):
        condition = ex.both(condition, bound)
    return condition


def checked_action(binding: Binding[E], edit: Edit[E]) -> ex.Action:
    """The action of an edit, which must be about this kind of item and none of its key fields."""
    if edit.entity is not binding.entity:
        raise WrongType(f"The edit is about {edit.entity.__name__}, but the item is a {binding.entity.__name__}.")
    if edit.field in binding.key_fields:
        raise BadUpdate(
            f"{binding.entity.__name__}.{edit.field} is part of the item's key and cannot change. "
            "Put the new item and delete the old one in a transaction."
        )
    return edit.action


def value_after(action: ex.Action) -> object:
    """The value of a top-level field after the action, where it is known without reading the item."""
    if len(action.route) == 1:
        if isinstance(action, ex.Drop):
            return None
        if isinstance(action, ex.Assign) and isinstance(action.value, ex.Literally):
            return action.value.value
    return UNKNOWN


def _index_key(
    binding: Binding[E], attribute: str, template: KeyTemplate, key: Key[E], changed: dict[str, object]
) -> ex.Action:
    """The action that recomputes an index key depending on the edits."""
    name = binding.entity.__name__
    values: dict[str, object] = {}
    for field in template.fields:
        value = known_value(binding, field, key, changed)
        if value is UNKNOWN:
            raise StaleIndexKey(
                f"The edits touch {', '.join(sorted(changed))}, on which the index key {attribute} = {template.text!r} "
                f"of {name} depends, but {field} is not known without the item. Set it too, or load the item and "
                "`save` it.",
                attribute=attribute,
                field=field,
            )
        values[field] = value
    index_key = binding.index_value(attribute, template, values.get)
    return ex.Drop((attribute,)) if index_key is None else ex.Assign((attribute,), ex.Literally(index_key))


def known_value(binding: Binding[E], field: str, key: Key[E], changed: dict[str, object]) -> object:
    """The value of a slot after the edits, from the edits and the key alone, or `UNKNOWN`."""
    derived = getattr(binding.entity, field, None)
    if not isinstance(derived, Derived):
        return changed.get(field, key.fields.get(field, UNKNOWN))
    sources: dict[str, object] = {}
    for source in derived.sources:
        if source in changed:
            value = changed[source]
            sources[source] = value if value is None or value is UNKNOWN else binding.field_value(source, value)
        else:
            sources[source] = key.fields.get(source, UNKNOWN)
    if UNKNOWN in sources.values() or derived.fget is None:
        return UNKNOWN
    try:
        return derived.fget(SimpleNamespace(**sources))
    except AttributeError:
        # The getter reads more of the entity than its declared sources.
        return UNKNOWN


def save(schema: TableSchema, entity: E, was: E) -> tuple[E, UpdateItem | None]:
    """The new state, and the request that writes the differences on condition that the old state is current.

    With a version field, the condition is the old version, which is incremented; without one, every attribute that
    changes must still have its old value. The request is None when nothing differs.
    """
    if type(entity) is not type(was):
        raise BadInput(f"`save` takes two states of one item, not {type(entity).__name__} and {type(was).__name__}.")
    binding = binding_of(type(entity))
    old, new = binding.encode(was), binding.encode(entity)
    for key in binding.table.keys:
        if not equal(old[key.name], new[key.name]):
            raise BadKey(
                f"`save` cannot move a {binding.entity.__name__} from {old[key.name]!r} to {new[key.name]!r}. "
                "Put the new item and delete the old one in a transaction."
            )
    changed = [name for name in {**old, **new} if not _same(name, old, new)]
    if binding.version is not None:
        counter = binding.fields[binding.version].attribute
        changed = [name for name in changed if name != counter]
    if not changed:
        return entity, None
    conditions: list[ex.Expression] = [ex.Exists((schema.pk.name,))]
    defaults = binding.defaults()
    actions: list[ex.Action] = [
        ex.Assign((name,), ex.Literally(new[name])) if name in new else ex.Drop((name,)) for name in changed
    ]
    if binding.version is not None:
        version = getattr(was, binding.version)
        field = binding.fields[binding.version]
        validated(version + 1, field.annotation, f"{binding.entity.__name__}.{field.name}")
        counter = binding.fields[binding.version].attribute
        conditions.append(_unchanged(counter, old, defaults))
        actions.append(ex.Assign((counter,), ex.Literally(version + 1)))
        entity = replace(entity, **{binding.version: version + 1})
    else:
        conditions.extend(_unchanged(name, old, defaults) for name in changed)
    condition = binding.write_condition(ex.All(tuple(conditions)))
    return entity, UpdateItem(schema, schema.key_of(old), tuple(actions), condition)


def _same(name: str, old: Item, new: Item) -> bool:
    return name in old and name in new and equal(old[name], new[name])


def _unchanged(name: str, old: Item, defaults: Item) -> ex.Expression:
    if name not in old:
        return ex.Missing((name,))
    same = ex.Compare(ex.Attribute((name,)), "=", ex.Literally(old[name]))
    # An item that was written before the field existed lacks it, and is read with the default.
    is_default = name in defaults and equal(defaults[name], old[name])
    return ex.Either((ex.Missing((name,)), same)) if is_default else same
