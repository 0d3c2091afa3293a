"""Transactions whose outcome is known, even when a reply is lost."""

import secrets
from collections.abc import Sequence
from hashlib import blake2b

from zataku.table.backend.cost import ConsumedCapacity
from zataku.table.backend.errors import (
    Conflict,
    ResultUnknown,
    StoreUnreachable,
    TableError,
    Throttled,
    TransactionCancelled,
)
from zataku.table.backend.port import TransactWrite
from zataku.table.backend.validation import check_transaction, check_transaction_size
from zataku.table.dynamodb.client import Answer, Client
from zataku.table.dynamodb.consumed_capacity import REPORTED, charge_cancellation, charge_writes
from zataku.table.dynamodb.writes import checked
from zataku.table.store.retry import Retry

_TOKEN_BYTES = 16


class Transactions:
    """Carries out transactions, each under a token of its own.

    The service does a transaction once however often it comes with the same token, so that one whose reply was lost is
    simply sent again. Tokens hold for a whole account there; ours are mixed with the store's name, so that two stores
    never meet.
    """

    def __init__(self, client: Client, retry: Retry, store: str) -> None:
        self._client = client
        self._retry = retry
        self._store = store

    async def __call__(
        self, writes: Sequence[TransactWrite], token: str | None, consumed: ConsumedCapacity | None
    ) -> None:
        """All of the writes or none."""
        check_transaction(writes, token)
        every = checked(writes)
        check_transaction_size(sum(each.size for each in every))
        items = [{each.operation: each.parameters} for each in every]
        try:
            charge_writes(consumed, await self._sent(items, self._token(token)))
        except TransactionCancelled as cancelled:
            charge_cancellation(consumed, [each.write for each in every], cancelled)
            raise

    def _token(self, token: str | None) -> str:
        if token is None:
            # Unlike any other in the account, so not from a source of chance that a test may repeat.
            return secrets.token_hex(_TOKEN_BYTES)
        return blake2b(f"{self._store}\0{token}".encode(), digest_size=_TOKEN_BYTES).hexdigest()

    async def _sent(self, items: list[Answer], token: str) -> Answer:
        unknown: TableError | None = None
        for tries in range(1, self._retry.max_attempts + 1):
            try:
                return await self._client.call(
                    "TransactWriteItems", TransactItems=items, ClientRequestToken=token, **REPORTED
                )
            except ResultUnknown as problem:
                unknown = problem
            except (Conflict, Throttled, StoreUnreachable, TransactionCancelled) as problem:
                # After a lost reply these say nothing of the first attempt, which may still be under way.
                if unknown is None or (isinstance(problem, TransactionCancelled) and not problem.conflict):
                    raise
            await self._retry.wait(tries)
        assert unknown is not None
        raise unknown
