"""Ministack with one repair: a backup also stores the attribute definitions of its table, as on AWS.

Ministack itself reads them from the table, which may be deleted when the backup is restored.
"""

import sys
from typing import Any

from ministack import app
from ministack.services import dynamodb

_create_backup = dynamodb._create_backup
_create_table = dynamodb._create_table
_attributes: dict[str, Any] = {}


def create_backup(parameters: dict[str, Any]) -> Any:
    """Create a backup and store the table's attribute definitions."""
    table = dynamodb._tables.get(parameters.get("TableName"))
    if table:
        _attributes[parameters["TableName"]] = table["AttributeDefinitions"]
    return _create_backup(parameters)


def create_table(parameters: dict[str, Any]) -> Any:
    """Create a table, with the attribute definitions of its backup when the call has none."""
    definitions = parameters.get("AttributeDefinitions") or _attributes.get(parameters.get("TableName"))
    return _create_table(parameters | {"AttributeDefinitions": definitions})


if __name__ == "__main__":
    dynamodb._create_backup = create_backup
    dynamodb._create_table = create_table
    sys.argv = sys.argv[:1]
    app.main()
