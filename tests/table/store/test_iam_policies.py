"""A policy lets through what the handle lets through, call by call, and nothing else."""

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

PLACE = {"partition": "aws", "region": "eu-central-1", "account": "123456789012"}
PREFIX = "arn:aws:dynamodb:eu-central-1:123456789012:table/"
CALLS = calls()


class Reached(Exception):
    """The call got through to the store."""


class Shore:
    """Behind the handle: whatever is asked of it, it says that it was reached."""

    def __getattr__(self, name: str) -> object:
        async def reached(*given: object, **named: object) -> None:
            raise Reached(name)

        return reached


def handle(rights: Permissions) -> Backend:
    grants = {grant.table.schema(ENV).name: grant for grant in rights.grants}
    return RestrictedBackend(Shore(), rights.function, grants)  # pyright: ignore[reportArgumentType]


async def by_handle(rights: Permissions) -> list[bool]:
    """For each call, whether the handle lets it through."""
    backend = handle(rights)
    return [await gets_through(backend, call) for call in CALLS]


async def gets_through(backend: Backend, call: Call) -> bool:
    try:
        await call.make(backend)
    except Reached:
        return True
    except NotGranted:
        return False
    raise AssertionError(f"{call.name} neither reached the store nor was refused")


def by_policy(rights: Permissions) -> list[bool]:
    """For each call, whether IAM would let it through."""
    policy = policy_document(rights, env=ENV, **PLACE)
    judged = {need: allowed(policy, need[0], PREFIX + need[1]) for call in CALLS for need in call.needs}
    return [all(judged[need] for need in call.needs) for call in CALLS]


@st.composite
def some_rights(draw: st.DrawFn) -> Permissions:
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
@given(rights=some_rights())
def test_the_policy_and_the_handle_agree_on_every_call(rights: Permissions) -> None:
    assert asyncio.run(by_handle(rights)) == by_policy(rights)


@pytest.mark.parametrize("rights", [*live.matrix], ids=lambda rights: rights.function)
async def test_every_call_of_the_documents_matrix(rights: Permissions) -> None:
    judged = await by_handle(rights)
    assert judged == by_policy(rights)
    assert set(judged) == {True, False}


def test_another_environment_is_out_of_reach() -> None:
    policy = policy_document(live.matrix["CreateRoomFunction"], env="dev", **PLACE)
    assert allowed(policy, "PutItem", f"{PREFIX}LiveComment-Rooms-dev")
    assert not allowed(policy, "PutItem", f"{PREFIX}LiveComment-Rooms-prod")
    assert not allowed(policy, "DeleteTable", f"{PREFIX}LiveComment-Rooms-dev")


def test_a_table_whose_name_begins_alike_is_out_of_reach() -> None:
    policy = policy_document(live.matrix["CreateRoomFunction"], env="dev", **PLACE)
    assert not allowed(policy, "GetItem", f"{PREFIX}LiveComment-Rooms-dev2")


def test_the_condition_check_of_the_departures() -> None:
    policy = policy_document(live.matrix["PostCommentFunction"], env="dev", **PLACE)
    rooms, sockets = f"{PREFIX}LiveComment-Rooms-dev", f"{PREFIX}LiveComment-Connections-dev"
    assert [action for action in ACTIONS if allowed(policy, action, rooms)] == ["ConditionCheckItem"]
    assert allowed(policy, "DeleteItem", sockets)
    assert not allowed(policy, "PutItem", sockets)
    assert allowed(policy, "Query", f"{sockets}/index/roomId-index")
    assert not allowed(policy, "Query", f"{PREFIX}LiveComment-Rooms-dev/index/hostId-index")


def test_without_a_place_arns_have_placeholders() -> None:
    policy = policy_document(live.matrix["GetUserRoomsFunction"], env="prod")
    assert policy["Statement"][0]["Resource"] == [
        "arn:${Partition}:dynamodb:${Region}:${Account}:table/LiveComment-Rooms-prod"
    ]


def test_a_template_fills_in_its_own_place() -> None:
    rights = live.matrix["PostCommentFunction"]
    text = json.dumps(template_policy(rights, "dev"))
    for name, value in (("Partition", "aws"), ("Region", "eu-central-1"), ("AccountId", "123456789012")):
        text = text.replace(f"${{AWS::{name}}}", value)

    def substituted(found: dict[str, object]) -> object:
        return found["Fn::Sub"] if found.keys() == {"Fn::Sub"} else found

    assert json.loads(text, object_hook=substituted) == policy_document(rights, env="dev", **PLACE)


def test_a_policy_that_iam_would_refuse_for_its_size() -> None:
    table = Table("ATableWithManyIndexes" + "x" * 200)
    for at in range(20):
        table.index(f"Index{at}" + "y" * 200, pk=f"pk{at}")
    rights = PermissionMatrix({"Reader": [Grant(table, READ)]})["Reader"]
    with pytest.raises(DesignError, match="a managed policy takes 6,144"):
        policy_document(rights, env="prod")
    policy_document(PermissionMatrix({"Reader": [Grant(table, CHECK)]})["Reader"], env="prod")
