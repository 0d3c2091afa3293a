"""IAM policies of a permission matrix: the least actions, on exactly the tables, indexes and streams they are for."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import msgspec

from zataku.table.backend.errors import DesignError
from zataku.table.export.cloudformation.resources import arn
from zataku.table.schema.table import Table
from zataku.table.store.permissions import ACTIONS, INDEX_ACTIONS, STREAM, Action, Grant, Permissions
from zataku.table.store_factory import METADATA_TABLE

PolicyDocument: TypeAlias = dict[str, Any]
# Turns what follows `table/` in an ARN into the resource of a statement.
ToResource: TypeAlias = Callable[[str], Any]

# The most characters of a managed policy, white space not counted.
_MAX_CHARACTERS = 6144
_DESCRIBE_ACTIONS = ("DescribeTable", "DescribeTimeToLive", "DescribeContinuousBackups")
_METADATA_ACTIONS = ("GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem")


def policy_document(
    rights: Permissions,
    *,
    env: str,
    partition: str = "${Partition}",
    region: str = "${Region}",
    account: str = "${Account}",
) -> PolicyDocument:
    """The policy of one function. Without a partition, region and account, ARNs have AWS's own placeholders."""
    return _document(rights, env, lambda rest: f"arn:{partition}:dynamodb:{region}:{account}:table/{rest}")


def template_policy(rights: Permissions, env: str) -> PolicyDocument:
    """The same policy for a template, with the partition, region and account of its stack."""
    return _document(rights, env, arn)


def opening_policy(tables: Sequence[Table], env: str) -> PolicyDocument:
    """The policy to open a store, which every function needs: describe the tables, use the metadata table."""
    metadata = arn(METADATA_TABLE.schema(env).name)
    names = [table.schema(env).name for table in tables]
    statements = [_allow(_DESCRIBE_ACTIONS, [*map(arn, names), metadata]), _allow(_METADATA_ACTIONS, [metadata])]
    streams = [arn(f"{table.schema(env).name}/stream/*") for table in tables if table.stream is not None]
    if streams:
        statements.append(_allow(("ListStreams",), streams))
    return {"Version": "2012-10-17", "Statement": statements}


def _document(rights: Permissions, env: str, to_resource: ToResource) -> PolicyDocument:
    """A policy document with up to three statements a grant: items, queries with their indexes, the stream."""
    statements = [
        _allow(actions, resources)
        for grant in rights.grants
        for actions, resources in _parts(grant, grant.table.schema(env).name, to_resource)
    ]
    document: PolicyDocument = {"Version": "2012-10-17", "Statement": statements}
    size = len("".join(msgspec.json.encode(document).decode().split()))
    if size > _MAX_CHARACTERS:
        raise DesignError(
            f"The policy of {rights.function} has {size:,} characters, but a managed policy takes "
            f"{_MAX_CHARACTERS:,}. Split the function, or grant it fewer indexes."
        )
    return document


def _parts(grant: Grant, name: str, to_resource: ToResource) -> Sequence[tuple[list[Action], list[Any]]]:
    indexes = [to_resource(f"{name}/index/{index.name}") for index in grant.indexes]
    # Without an index, queries are about the same resource as everything else.
    with_indexes = INDEX_ACTIONS if indexes else frozenset[Action]()
    parts = (
        (grant.actions - STREAM - with_indexes, [to_resource(name)]),
        (grant.actions & with_indexes, [to_resource(name), *indexes]),
        (grant.actions & STREAM, [to_resource(f"{name}/stream/*")]),
    )
    return [([action for action in ACTIONS if action in chosen], resources) for chosen, resources in parts if chosen]


def _allow(actions: Sequence[str], resources: list[Any]) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": [f"dynamodb:{action}" for action in actions], "Resource": resources}
