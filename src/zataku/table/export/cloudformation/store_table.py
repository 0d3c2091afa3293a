"""The store's own table beside a design's, for stores that may make no tables themselves."""

from collections.abc import Sequence
from typing import Any

from zataku.table.export.cloudformation.resource_names import arn
from zataku.table.schema.table import Table

# What a store keeps for itself: its secret, sums of units, places in streams. One in each environment.
STORE_TABLE = Table("ZatakuStore", pk="pk", sk="sk")

_LOOKING = ("DescribeTable", "DescribeTimeToLive", "DescribeContinuousBackups")
_KEEPING = ("GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem")


def opening_policy(tables: Sequence[Table], env: str) -> dict[str, Any]:
    """What every function needs beside its own rights: to see that the tables are right, and to use the store's own."""
    own = arn(STORE_TABLE.schema(env).name)
    names = [table.schema(env).name for table in tables]
    statements = [_allow(_LOOKING, [*map(arn, names), own]), _allow(_KEEPING, [own])]
    streams = [arn(f"{table.schema(env).name}/stream/*") for table in tables if table.stream is not None]
    if streams:
        statements.append(_allow(("ListStreams",), streams))
    return {"Version": "2012-10-17", "Statement": statements}


def _allow(actions: Sequence[str], resources: list[dict[str, Any]]) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": [f"dynamodb:{action}" for action in actions], "Resource": resources}
