"""Templates are what CloudFormation takes, for every design and every setting."""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
import yaml
from cfnlint.config import ConfigMixIn
from cfnlint.decode.decode import decode_str
from cfnlint.helpers import REGION_PRIMARY
from cfnlint.runner import Runner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.designs import board, connections, drawing, kifu, live, measures, pieces, ranking
from tests.table.export.table_strategies import tables
from tests.table.lint import flawed_designs as literal
from zataku.table import READ, DesignError, Grant, OnDemand, PermissionMatrix, Provisioned, Table
from zataku.table.export import template, to_json, to_yaml
from zataku.table.export.cloudformation.resources import table_id

# Two templates, since linting one takes a while and one template has each name once.
DESIGNS: dict[str, Sequence[Table]] = {
    "designs": [
        *(board.board, connections.connections, drawing.drawing, drawing.steady, drawing.fixed, kifu.kifu),
        *(measures.measures, measures.blobs, measures.words, pieces.pieces, ranking.ranking),
    ],
    "documents": [
        *live.TABLES,
        *(literal.moves_without_padding(), literal.rounds_without_padding(), literal.all_users_in_one_partition()),
    ],
}


@cache
def linter() -> Runner:
    """cfn-lint with its rules, which takes a while to read them."""
    return Runner(ConfigMixIn(regions=[REGION_PRIMARY]))


def cfn_lint_problems(text: str) -> list[str]:
    """What cfn-lint says, errors and warnings."""
    whole, errors = decode_str(text)
    matches = errors or linter().validate_template(whole)
    return [f"{match.rule.id} {match.message} at {match.path}" for match in matches]


def resources(whole: dict[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    return {name: made for name, made in whole["Resources"].items() if made["Type"] == kind}


@pytest.mark.parametrize("env", ["dev", "prod"])
@pytest.mark.parametrize("name", DESIGNS)
def test_cfn_lint_accepts_the_designs(name: str, env: str) -> None:
    rights = live.matrix if name == "documents" else None
    assert cfn_lint_problems(to_json(template(DESIGNS[name], env=env, rights=rights))) == []


def test_cfn_lint_reports_an_error() -> None:
    whole = template([drawing.drawing], env="prod")
    whole["Resources"]["EsiritoriGameTable"]["Properties"]["BillingMode"] = "FREE"
    assert any("E3030" in problem for problem in cfn_lint_problems(to_json(whole)))


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(made=st.lists(tables(), min_size=3, max_size=4, unique_by=table_id), env=st.sampled_from(["dev", "prod"]))
def test_cfn_lint_accepts_any_tables(made: list[Table], env: str) -> None:
    assert cfn_lint_problems(to_json(template(made, env=env))) == []


def test_yaml_and_json_say_the_same_and_share_no_parts() -> None:
    whole = template(live.TABLES, env="dev", rights=live.matrix)
    text = to_yaml(whole)
    assert yaml.safe_load(text) == json.loads(to_json(whole)) == whole
    # CloudFormation reads no YAML aliases.
    assert "&id" not in text
    assert cfn_lint_problems(text) == []


def test_the_same_design_gives_the_same_text() -> None:
    first, second = (to_json(template(live.TABLES, env="dev", rights=live.matrix)) for _ in range(2))
    assert first == second


def test_tables_of_prod_outlive_their_stack() -> None:
    for env, policy, protected in (("prod", "Retain", True), ("dev", "Delete", False)):
        made = resources(template(live.TABLES, env=env), "AWS::DynamoDB::Table")
        assert {(it["DeletionPolicy"], it["UpdateReplacePolicy"]) for it in made.values()} == {(policy, policy)}
        assert {it["Properties"]["DeletionProtectionEnabled"] for it in made.values()} == {protected}


def test_an_environment_of_its_own_can_be_retained_too() -> None:
    (made,) = resources(template([drawing.fixed], env="staging"), "AWS::DynamoDB::Table").values()
    assert (made["DeletionPolicy"], made["Properties"]["TableName"]) == ("Retain", "FixedTraffic-staging")


def test_logical_ids_are_the_same_in_every_environment() -> None:
    dev, prod = (template(live.TABLES, env=env, rights=live.matrix)["Resources"] for env in ("dev", "prod"))
    assert list(dev) == list(prod)
    assert list(dev)[:3] == ["LiveCommentRoomsTable", "LiveCommentCommentsTable", "LiveCommentConnectionsTable"]


def test_only_keys_are_declared_as_attributes() -> None:
    (made,) = resources(template([kifu.kifu], env="prod"), "AWS::DynamoDB::Table").values()
    names = [each["AttributeName"] for each in made["Properties"]["AttributeDefinitions"]]
    assert names == ["pk", "sk", "cgsi_pk", "clsi_sk", "created", "latest_update"]


def test_on_demand_maxima_hold_for_the_table_and_each_global_index() -> None:
    (made,) = resources(template([drawing.drawing], env="prod"), "AWS::DynamoDB::Table").values()
    properties = made["Properties"]
    maxima = {"MaxReadRequestUnits": 500, "MaxWriteRequestUnits": 200}
    assert properties["OnDemandThroughput"] == maxima
    assert [index["OnDemandThroughput"] for index in properties["GlobalSecondaryIndexes"]] == [maxima, maxima]


def test_one_maximum_alone_can_be_declared() -> None:
    table = Table("ReadsAreCapped", capacity=OnDemand(max_reads=10))
    (made,) = resources(template([table], env="prod"), "AWS::DynamoDB::Table").values()
    assert made["Properties"]["OnDemandThroughput"] == {"MaxReadRequestUnits": 10}


def test_provisioned_units_follow_the_load_on_the_table_and_each_global_index() -> None:
    whole = template([drawing.steady], env="prod")
    targets = resources(whole, "AWS::ApplicationAutoScaling::ScalableTarget")
    policies = resources(whole, "AWS::ApplicationAutoScaling::ScalingPolicy")
    seen = [
        (made["Properties"]["ResourceId"]["Fn::Sub"], made["Properties"]["ScalableDimension"])
        for made in targets.values()
    ]
    assert seen == [
        ("table/${SteadyTrafficTable}", "dynamodb:table:ReadCapacityUnits"),
        ("table/${SteadyTrafficTable}", "dynamodb:table:WriteCapacityUnits"),
        ("table/${SteadyTrafficTable}/index/ByOwner", "dynamodb:index:ReadCapacityUnits"),
        ("table/${SteadyTrafficTable}/index/ByOwner", "dynamodb:index:WriteCapacityUnits"),
    ]
    assert {(it["Properties"]["MinCapacity"], it["Properties"]["MaxCapacity"]) for it in targets.values()} == {
        (5, 100),
        (5, 50),
    }
    aims = {it["Properties"]["TargetTrackingScalingPolicyConfiguration"]["TargetValue"] for it in policies.values()}
    assert (len(policies), aims) == (4, {60})


def test_units_without_a_maximum_stay_where_they_are() -> None:
    whole = template([drawing.fixed], env="prod")
    assert list(whole["Resources"]) == ["FixedTrafficTable"]
    throughput = whole["Resources"]["FixedTrafficTable"]["Properties"]["ProvisionedThroughput"]
    assert throughput == {"ReadCapacityUnits": 2, "WriteCapacityUnits": 1}


def test_outputs_hold_names_arns_streams_and_policies() -> None:
    outputs = template([live.comments], env="dev", rights=PermissionMatrix({"Reader": [Grant(live.comments, READ)]}))[
        "Outputs"
    ]
    assert {name: made["Value"] for name, made in outputs.items()} == {
        "LiveCommentCommentsTableName": {"Ref": "LiveCommentCommentsTable"},
        "LiveCommentCommentsTableArn": {"Fn::GetAtt": ["LiveCommentCommentsTable", "Arn"]},
        "LiveCommentCommentsTableStreamArn": {"Fn::GetAtt": ["LiveCommentCommentsTable", "StreamArn"]},
        "ReaderPolicyArn": {"Ref": "ReaderPolicy"},
    }


def test_one_template_of_an_environment_brings_the_stores_own_table() -> None:
    whole = template(live.TABLES, env="dev", rights=live.matrix, store_table=True)
    assert whole["Resources"]["ZatakuStoreTable"]["Properties"]["TableName"] == "ZatakuStore-dev"
    looking, keeping, following = whole["Resources"]["ZatakuStorePolicy"]["Properties"]["PolicyDocument"]["Statement"]
    assert len(looking["Resource"]) == 4
    assert [it["Fn::Sub"].rpartition(":")[2] for it in keeping["Resource"]] == ["table/ZatakuStore-dev"]
    assert [it["Fn::Sub"].rpartition("/")[2] for it in following["Resource"]] == ["*"]
    assert "ZatakuStorePolicy" not in template(live.TABLES, env="dev", store_table=True)["Resources"]
    assert cfn_lint_problems(to_json(whole)) == []


def test_two_tables_that_would_share_a_logical_id_are_refused() -> None:
    with pytest.raises(DesignError, match="Two resources of the template would be named NightGamesTable"):
        template([Table("Night-Games"), Table("Night_Games")], env="prod")


def test_a_matrix_about_other_tables_is_refused() -> None:
    with pytest.raises(DesignError, match="names LiveComment-Comments-{env}, which is not in the template"):
        template([live.rooms, live.connections], env="dev", rights=live.matrix)


def test_a_template_without_tables_is_refused() -> None:
    with pytest.raises(DesignError, match="at least one table"):
        template([], env="dev")


def test_more_resources_than_cloudformation_takes_are_refused() -> None:
    many = [Table(f"Scaled-{at}", capacity=Provisioned(1, 1, 5, 5)) for at in range(101)]
    with pytest.raises(DesignError, match="505 resources, but CloudFormation takes 500. Split it by tables"):
        template(many, env="dev")
