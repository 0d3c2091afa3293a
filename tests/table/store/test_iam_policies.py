"""An IAM policy allows exactly the calls that the restricted handle allows."""

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.designs import live
from tests.table.store.backend_calls import ENV, Call, calls
from tests.table.store.iam_evaluation import allowed
from zataku.table import CHECK, READ, STREAM, DesignError, Grant, NotGranted, PermissionMatrix, Permissions, Table
from zataku.table.backend.port import Backend
from zataku.table.export import policy_document
from zataku.table.export.cloudformation.policies import template_policy
from zataku.table.store.permissions import ACTIONS
from zataku.table.store.restricted_backend import RestrictedBackend

ACCOUNT = {"partition": "aws", "region": "eu-central-1", "account": "123456789012"}
PREFIX = "arn:aws:dynamodb:eu-central-1:123456789012:table/"
CALLS = calls()


class ReachedStore(Exception):
    """The call was passed on to the store."""


class ReachedBackend:
    """A backend whose every call raises ReachedStore."""

    def __getattr__(self, name: str) -> object:
        async def call(*arguments: object, **options: object) -> None:
            raise ReachedStore(name)

        return call


def handle(rights: Permissions) -> Backend:
    grants = {grant.table.schema(ENV).name: grant for grant in rights.grants}
    return RestrictedBackend(ReachedBackend(), rights.function, grants)  # pyright: ignore[reportArgumentType]


async def allowed_by_handle(rights: Permissions) -> list[bool]:
    """For each call, whether the handle allows it."""
    backend = handle(rights)
    return [await is_allowed(backend, call) for call in CALLS]


async def is_allowed(backend: Backend, call: Call) -> bool:
    try:
        await call.run(backend)
    except ReachedStore:
        return True
    except NotGranted:
        return False
    raise AssertionError(f"{call.name} neither reached the store nor was refused")


def allowed_by_policy(rights: Permissions) -> list[bool]:
    """For each call, whether the policy allows it."""
    policy = policy_document(rights, env=ENV, **ACCOUNT)
    permissions = {need: allowed(policy, need[0], PREFIX + need[1]) for call in CALLS for need in call.needs}
    return [all(permissions[need] for need in call.needs) for call in CALLS]


@st.composite
def random_rights(draw: st.DrawFn) -> Permissions:
    """A function with any actions on some of the tables and some of their indexes."""
    grants: list[Grant] = []
    chosen = draw(st.lists(st.sampled_from(live.TABLES), min_size=1, unique_by=lambda table: table.name))
    for table in chosen:
        actions = draw(st.frozensets(st.sampled_from(ACTIONS), min_size=1))
        actions = (actions if table.stream else actions - STREAM) or READ
        indexes = draw(st.sampled_from(["all", tuple(table.indexes.values()), ()]))
        grants.append(Grant(table, actions, indexes))
    return PermissionMatrix({"SomeFunction": grants})["SomeFunction"]


@settings(max_examples=settings.default.max_examples * 3 // 5)
@given(rights=random_rights())
def test_the_policy_and_the_handle_agree_on_every_call(rights: Permissions) -> None:
    assert asyncio.run(allowed_by_handle(rights)) == allowed_by_policy(rights)


@pytest.mark.parametrize("rights", [*live.matrix], ids=lambda rights: rights.function)
async def test_the_policy_and_the_handle_agree_on_the_documented_matrix(rights: Permissions) -> None:
    decisions = await allowed_by_handle(rights)
    assert decisions == allowed_by_policy(rights)
    assert set(decisions) == {True, False}


def test_a_policy_does_not_cover_another_environment() -> None:
    policy = policy_document(live.matrix["CreateRoomFunction"], env="dev", **ACCOUNT)
    assert allowed(policy, "PutItem", f"{PREFIX}LiveComment-Rooms-dev")
    assert not allowed(policy, "PutItem", f"{PREFIX}LiveComment-Rooms-prod")
    assert not allowed(policy, "DeleteTable", f"{PREFIX}LiveComment-Rooms-dev")


def test_a_policy_does_not_cover_a_table_whose_name_has_the_same_prefix() -> None:
    policy = policy_document(live.matrix["CreateRoomFunction"], env="dev", **ACCOUNT)
    assert not allowed(policy, "GetItem", f"{PREFIX}LiveComment-Rooms-dev2")


def test_a_condition_check_grants_no_other_action() -> None:
    policy = policy_document(live.matrix["PostCommentFunction"], env="dev", **ACCOUNT)
    rooms, sockets = f"{PREFIX}LiveComment-Rooms-dev", f"{PREFIX}LiveComment-Connections-dev"
    assert [action for action in ACTIONS if allowed(policy, action, rooms)] == ["ConditionCheckItem"]
    assert allowed(policy, "DeleteItem", sockets)
    assert not allowed(policy, "PutItem", sockets)
    assert allowed(policy, "Query", f"{sockets}/index/roomId-index")
    assert not allowed(policy, "Query", f"{PREFIX}LiveComment-Rooms-dev/index/hostId-index")


def test_without_an_account_the_arns_have_placeholders() -> None:
    policy = policy_document(live.matrix["GetUserRoomsFunction"], env="prod")
    assert policy["Statement"][0]["Resource"] == [
        "arn:${Partition}:dynamodb:${Region}:${Account}:table/LiveComment-Rooms-prod"
    ]


def test_a_template_policy_uses_the_pseudo_parameters_of_cloudformation() -> None:
    rights = live.matrix["PostCommentFunction"]
    text = json.dumps(template_policy(rights, "dev"))
    for name, value in (("Partition", "aws"), ("Region", "eu-central-1"), ("AccountId", "123456789012")):
        text = text.replace(f"${{AWS::{name}}}", value)

    def substitute(node: dict[str, object]) -> object:
        return node["Fn::Sub"] if node.keys() == {"Fn::Sub"} else node

    assert json.loads(text, object_hook=substitute) == policy_document(rights, env="dev", **ACCOUNT)


def test_a_policy_above_the_size_limit_of_iam_is_refused() -> None:
    table = Table("ATableWithManyIndexes" + "x" * 200)
    for at in range(20):
        table.index(f"Index{at}" + "y" * 200, pk=f"pk{at}")
    rights = PermissionMatrix({"Reader": [Grant(table, READ)]})["Reader"]
    with pytest.raises(DesignError, match="a managed policy takes 6,144"):
        policy_document(rights, env="prod")
    policy_document(PermissionMatrix({"Reader": [Grant(table, CHECK)]})["Reader"], env="prod")
