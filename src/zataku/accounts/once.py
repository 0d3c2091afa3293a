"""Writes that happen once, even when the reply to them is lost and they are tried again."""

from typing import TypeVar
from uuid import uuid4

from zataku.table import Entity, Plan, Store, TransactionCancelled

E = TypeVar("E", bound=Entity)


async def once(store: Store, plan: Plan[E]) -> E | None:
    """Carry the plan out. Raises TransactionCancelled when things are not as it demands."""
    return await store.write(plan, token=str(uuid4()))


async def happened(store: Store, plan: Plan[E]) -> bool:
    """Carry the plan out; False, and nothing is changed, when things are not as it demands."""
    try:
        await once(store, plan)
    except TransactionCancelled as refused:
        if refused.conflict:
            # Only others were in the way, for longer than the store has patience.
            raise
        return False
    return True
