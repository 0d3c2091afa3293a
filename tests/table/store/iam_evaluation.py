"""Evaluation of IAM policies that have only Allow statements.

A request is allowed when a statement has an action and a resource that match it. `*` matches any text and `?` one
character; actions are compared without regard to case.
"""

import re
from typing import Any


def allowed(policy: dict[str, Any], action: str, arn: str) -> bool:
    """True when the policy allows the action on the resource."""
    assert policy["Version"] == "2012-10-17"
    return any(_allows(statement, f"dynamodb:{action}", arn) for statement in policy["Statement"])


def _allows(statement: dict[str, Any], action: str, arn: str) -> bool:
    assert statement.keys() == {"Effect", "Action", "Resource"}
    assert statement["Effect"] == "Allow"
    action_matches = any(_matches(pattern.lower(), action.lower()) for pattern in statement["Action"])
    return action_matches and any(_matches(pattern, arn) for pattern in statement["Resource"])


def _matches(pattern: str, text: str) -> bool:
    parts = (".*" if letter == "*" else "." if letter == "?" else re.escape(letter) for letter in pattern)
    return re.fullmatch("".join(parts), text) is not None
