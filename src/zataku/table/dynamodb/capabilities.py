"""What the service at the other end can do, found out by asking."""

import asyncio
from typing import Any

from zataku.table.backend.errors import LacksCapability, StoreUnreachable, TableError
from zataku.table.backend.port import Capability
from zataku.table.dynamodb.client import Client, Service

EVERYTHING: frozenset[Capability] = frozenset({"transactions", "streams", "ttl", "local-indexes", "backups"})

# Calls that change nothing wherever they end: about nothing, or about a table that nobody has. Local indexes have no
# call of their own; a service without them refuses the table.
_QUESTIONS: tuple[tuple[Capability, Service, str, dict[str, Any]], ...] = (
    ("transactions", "dynamodb", "TransactWriteItems", {"TransactItems": []}),
    ("streams", "dynamodbstreams", "ListStreams", {"Limit": 1}),
    ("ttl", "dynamodb", "DescribeTimeToLive", {"TableName": "zataku-asks-what-you-can-do"}),
    ("backups", "dynamodb", "ListBackups", {"Limit": 1}),
)


async def found_out(client: Client) -> frozenset[Capability]:
    """The capabilities of the service; one that the caller has no right to is taken to be there."""
    answers = await asyncio.gather(*(_knows(client, *question[1:]) for question in _QUESTIONS))
    lacking = {question[0] for question, known in zip(_QUESTIONS, answers, strict=True) if not known}
    return EVERYTHING - lacking


async def _knows(client: Client, service: Service, operation: str, parameters: dict[str, Any]) -> bool:
    try:
        await client.call(operation, service=service, **parameters)
    except LacksCapability:
        return False
    except StoreUnreachable:
        raise
    except TableError:
        # Refused for another reason, so it is known.
        return True
    return True
