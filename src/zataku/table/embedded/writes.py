"""Single writes: decided against what lies there, then carried out."""

from typing import NamedTuple

from zataku.table.backend import port
from zataku.table.backend.condition_evaluation import check_expression, holds
from zataku.table.backend.errors import ConditionFailed, WrongType
from zataku.table.backend.expression import Expression
from zataku.table.backend.update_evaluation import apply_update
from zataku.table.backend.validation import check_changes
from zataku.table.backend.values import Item
from zataku.table.embedded import keys
from zataku.table.embedded.catalog import Catalog, TablePart
from zataku.table.embedded.rows import Before, NewRow
from zataku.table.embedded.write_group import Found, Group


class Decision(NamedTuple):
    """What a write will do: `new` replaces what was found, None takes it away; `keep` writes nothing."""

    part: TablePart
    pk: bytes
    sk: bytes
    old: Found | None
    new: NewRow | None
    keep: bool = False

    def written(self) -> port.Written:
        """What the caller is told."""
        old = None if self.old is None else self.old.packed
        return port.Written(old, None if self.new is None else self.new.packed)


class Prepared(NamedTuple):
    """A write that has been checked as far as that is possible without looking at the item."""

    write: port.TransactWrite
    pk: bytes
    sk: bytes
    row: NewRow | None

    @property
    def weight(self) -> int:
        """About how many bytes it will write."""
        return 256 if self.row is None else self.row.size


def prepared(catalog: Catalog, write: port.TransactWrite) -> Prepared:
    """Check a write on the caller's side, so that the writer is left with little to do."""
    part = catalog.part(write.table.name)
    if write.condition is not None:
        check_expression(write.condition)
    if isinstance(write, port.PutItem):
        row = NewRow(part, write.item)
        return Prepared(write, row.pk, row.sk, row)
    pk, sk = keys.of_key(part.schema, write.key)
    if isinstance(write, port.UpdateItem):
        check_changes(part.schema, write)
    return Prepared(write, pk, sk, None)


def decided(group: Group, prepared: Prepared, lay: list[int]) -> Decision:
    """What the write will do to the item as it is now; raises when it is refused.

    The size of what was found goes into `lay` either way: a refused write is paid for too.
    """
    write, pk, sk, row = prepared
    part = group.catalog.part(write.table.name)
    found = group.look(part, pk, sk)
    lay.append(0 if found is None else found.size)
    if write.condition is not None:
        _demand(write.condition, found)
    if row is not None:
        return Decision(part, pk, sk, found, row.fitted(part))
    if isinstance(write, port.UpdateItem):
        return Decision(part, pk, sk, found, _updated(part, prepared, write, found))
    return Decision(part, pk, sk, found, None, isinstance(write, port.CheckItem))


def _demand(condition: Expression, found: Found | None) -> None:
    item: Item = {} if found is None else found.item
    if not holds(condition, item):
        raise ConditionFailed(
            "The item is not as the condition demands. Nothing was written.",
            current=None if found is None else found.packed,
        )


def _updated(part: TablePart, prepared: Prepared, write: port.UpdateItem, found: Found | None) -> NewRow:
    try:
        if found is None:
            return NewRow(part, apply_update(write.actions, keys.key_item(part.schema, write.key)))
        named = frozenset(action.route[0] for action in write.actions)
        before = Before(found.item, found.size, prepared.pk, prepared.sk, named)
        return NewRow(part, apply_update(write.actions, found.item), before)
    except TypeError as error:
        raise WrongType(f"The update mixes values that do not go together: {error}") from error


def carry_out(group: Group, decision: Decision) -> Decision:
    """Do what was decided; gives it back as it turned out, for the same item again changes nothing."""
    part, pk, sk, old, new, keep = decision
    if new is not None:
        return decision if group.store(part, old, new) else decision._replace(keep=True)
    if old is not None and not keep:
        group.remove(part, pk, sk, old)
    return decision


def single(prepared: Prepared, lay: list[int], group: Group) -> Decision:
    """One write by itself."""
    return carry_out(group, decided(group, prepared, lay))


def several(every: list[Prepared], group: Group) -> list[Decision]:
    """Many unconditional writes, each by itself."""
    return [carry_out(group, decided(group, each, [])) for each in every]
