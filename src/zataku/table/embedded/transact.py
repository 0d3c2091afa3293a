"""Transactions: every item is judged as it was before, then all of them change or none."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import cast

import msgspec

from zataku.table import backend
from zataku.table.embedded.catalog import Catalog
from zataku.table.embedded.group import Group
from zataku.table.embedded.writes import Decision, Prepared, carry_out, decided, prepared
from zataku.table.errors import (
    BadInput,
    ConditionFailed,
    Reason,
    SameItemTwice,
    TokenReused,
    TooManyItems,
    TransactionCancelled,
    TransactionTooLarge,
)
from zataku.table.limits import TOKEN_CHARACTERS, TOKEN_SECONDS, TRANSACTION_BYTES, TRANSACTION_ITEMS

_TOKENS_FORGOTTEN_AT_ONCE = 20


class Transaction:
    """A transaction that has been checked as far as that is possible without looking at its items."""

    __slots__ = ("_digest", "_token", "_writes", "weight")

    def __init__(self, catalog: Catalog, writes: Sequence[backend.TransactWrite], token: str | None) -> None:
        if not writes:
            raise BadInput("The transaction is empty. Give it at least one write.")
        if len(writes) > TRANSACTION_ITEMS:
            raise TooManyItems(f"The transaction names {len(writes)} items; {TRANSACTION_ITEMS} are allowed. Split it.")
        if token is not None and not 1 <= len(token) <= TOKEN_CHARACTERS:
            raise BadInput(
                f"An idempotency token has 1 to {TOKEN_CHARACTERS} characters, not {len(token)}. Shorten it."
            )
        self._writes = [prepared(catalog, write) for write in writes]
        self._token = token
        self._digest = b"" if token is None else fingerprint(writes)
        self.weight = sum(write.weight for write in self._writes)
        refuse_repeats(self._writes)
        _refuse_size(sum(write.row.size for write in self._writes if write.row is not None))

    def __call__(self, group: Group) -> None:
        """Carry it out in the writer's transaction."""
        if self._token is not None and self._done_before(group, self._token):
            return
        decisions = self._decisions(group)
        _refuse_size(sum(decision.new.size for decision in decisions if decision.new is not None))
        for decision in decisions:
            carry_out(group, decision)
        if self._token is not None:
            group.change("INSERT OR REPLACE INTO tokens VALUES (?, ?, ?)", self._token, self._digest, group.now)

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
                decisions.append(decided(group, write))
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


def _refuse_size(size: int) -> None:
    if size > TRANSACTION_BYTES:
        raise TransactionTooLarge(f"The items add up to {size} bytes; {TRANSACTION_BYTES} are allowed. Split the work.")


def fingerprint(writes: object) -> bytes:
    """The same bytes for the same content, in this process and the next."""
    return blake2b(_canonical(writes).encode("utf-8", "surrogatepass"), digest_size=20).digest()


def _canonical(value: object) -> str:
    if isinstance(value, backend.TableSchema):
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
