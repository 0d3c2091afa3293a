"""Ministack with one repair: it looks for the attributes of a backed-up table in the table, which may be gone by then.

AWS keeps them in the backup. Everything else, the items above all, is restored by ministack itself.
"""

import sys
from typing import Any

from ministack import app
from ministack.services import dynamodb

_create_backup = dynamodb._create_backup
_create_table = dynamodb._create_table
_attributes: dict[str, Any] = {}


def create_backup(asked: dict[str, Any]) -> Any:
    """As before, and remember the attributes."""
    table = dynamodb._tables.get(asked.get("TableName"))
    if table:
        _attributes[asked["TableName"]] = table["AttributeDefinitions"]
    return _create_backup(asked)


def create_table(asked: dict[str, Any]) -> Any:
    """As before, with the attributes of the backup where none are given."""
    known = asked.get("AttributeDefinitions") or _attributes.get(asked.get("TableName"))
    return _create_table(asked | {"AttributeDefinitions": known})


if __name__ == "__main__":
    dynamodb._create_backup = create_backup
    dynamodb._create_table = create_table
    sys.argv = sys.argv[:1]
    app.main()
