"""Transactions: every item is judged as it was before, then all of them change or none."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import cast

import msgspec

from zataku.table.backend import port
from zataku.table.backend.errors import (
    BadInput,
    ConditionFailed,
    Reason,
    SameItemTwice,
    TokenReused,
    TransactionCancelled,
)
from zataku.table.backend.limits import TOKEN_SECONDS
from zataku.table.backend.validation import check_transaction, check_transaction_size
from zataku.table.embedded.catalog import Catalog
from zataku.table.embedded.write_group import Group
from zataku.table.embedded.writes import Decision, Prepared, carry_out, decided, prepared

_TOKENS_FORGOTTEN_AT_ONCE = 20


class Transaction:
    """A transaction that has been checked as far as that is possible without looking at its items."""

    __slots__ = ("_digest", "_token", "_writes", "lay", "weight")

    def __init__(self, catalog: Catalog, writes: Sequence[port.TransactWrite], token: str | None) -> None:
        check_transaction(writes, token)
        self._writes = [prepared(catalog, write) for write in writes]
        self._token = token
        # The sizes of the items as they were found.
        self.lay: list[int] = []
        self._digest = b"" if token is None else fingerprint(writes)
        self.weight = sum(write.weight for write in self._writes)
        refuse_repeats(self._writes)
        check_transaction_size(sum(write.row.size for write in self._writes if write.row is not None))

    def __call__(self, group: Group) -> list[Decision] | None:
        """Carry it out in the writer's transaction; None when it was done before."""
        if self._token is not None and self._done_before(group, self._token):
            found = [group.look(group.catalog.part(each.write.table.name), each.pk, each.sk) for each in self._writes]
            self.lay += [0 if each is None else each.size for each in found]
            return None
        decisions = self._decisions(group)
        check_transaction_size(sum(decision.new.size for decision in decisions if decision.new is not None))
        done = [carry_out(group, decision) for decision in decisions]
        if self._token is not None:
            group.change("INSERT OR REPLACE INTO tokens VALUES (?, ?, ?)", self._token, self._digest, group.now)
        return done

    def _done_before(self, group: Group, token: str) -> bool:
        oldest = group.now - TOKEN_SECONDS
        row = group.row("SELECT digest FROM tokens WHERE token = ? AND at > ?", token, oldest)
        if row is None:
            old = "SELECT token FROM tokens WHERE at <= ? LIMIT ?"
            group.row(f"DELETE FROM tokens WHERE token IN ({old})", oldest, _TOKENS_FORGOTTEN_AT_ONCE)
            return False
        if row[0] != self._digest:
            raise TokenReused("The token came before with another transaction. Take a new token for new work.")
        return True

    def _decisions(self, group: Group) -> list[Decision]:
        decisions: list[Decision] = []
        reasons: list[Reason] = []
        for write in self._writes:
            try:
                decisions.append(decided(group, write, self.lay))
                reasons.append(Reason())
            except ConditionFailed as error:
                reasons.append(Reason("condition_failed", error.message, error.current))
            except BadInput as error:
                reasons.append(Reason("invalid", error.message))
        if len(decisions) < len(reasons):
            codes = ", ".join(reason.code or "none" for reason in reasons)
            raise TransactionCancelled(f"The transaction was cancelled, nothing was written: {codes}.", reasons)
        return decisions


def refuse_repeats(writes: list[Prepared]) -> None:
    """An item may be named once in a transaction or batch."""
    if len({(write.write.table.name, write.pk, write.sk) for write in writes}) < len(writes):
        raise SameItemTwice("One item is named twice. Join the two writes into one.")


def fingerprint(writes: object) -> bytes:
    """The same bytes for the same content, in this process and the next."""
    return blake2b(_canonical(writes).encode("utf-8", "surrogatepass"), digest_size=20).digest()


def _canonical(value: object) -> str:
    if isinstance(value, port.TableSchema):
        return repr(value.name)
    if isinstance(value, msgspec.Struct):
        return f"{type(value).__name__}({_canonical(msgspec.structs.astuple(value))})"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_canonical, cast("list[object]", value))) + "]"
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return "{" + ",".join(sorted(f"{name!r}:{_canonical(part)}" for name, part in pairs)) + "}"
    if isinstance(value, set | frozenset):
        return "<" + ",".join(sorted(map(_canonical, cast("set[object]", value)))) + ">"
    return repr(value)
