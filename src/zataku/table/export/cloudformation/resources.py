"""Parts of a template: logical ids, references, ARNs and outputs, and resources under their names."""

import re
from collections.abc import Iterable
from typing import Any, TypeAlias

from zataku.table.backend.errors import DesignError
from zataku.table.schema.table import Table

NamedResource: TypeAlias = tuple[str, dict[str, Any]]

_MAX_LENGTH = 255


def logical_id(name: str, kind: str) -> str:
    """A name of letters and digits for a resource."""
    words = re.split(r"[^A-Za-z0-9]+", name)
    return ("".join(word[:1].upper() + word[1:] for word in words) + kind)[-_MAX_LENGTH:]


def design_name(table: Table) -> str:
    """The table's name without its environment."""
    return table.name.replace("{env}", "").strip("-_.")


def table_id(table: Table) -> str:
    """The logical id of a table, the same in every environment."""
    return logical_id(design_name(table), "Table")


def arn(rest: str) -> dict[str, Any]:
    """The ARN of a table, or of a part of one, in the account and region of the stack."""
    return {"Fn::Sub": "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/" + rest}


def reference(name: str) -> dict[str, Any]:
    """A reference to a resource or parameter of the template."""
    return {"Ref": name}


def output(description: str, value: dict[str, Any]) -> dict[str, Any]:
    """An output of the template."""
    return {"Description": description, "Value": value}


def join_named(resources: Iterable[NamedResource]) -> dict[str, dict[str, Any]]:
    """The resources by their names, each of which must be unique."""
    by_name: dict[str, dict[str, Any]] = {}
    for name, resource in resources:
        if name in by_name:
            raise DesignError(f"Two resources of the template would be named {name}. Rename a table or function.")
        by_name[name] = resource
    return by_name
