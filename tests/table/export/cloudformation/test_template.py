"""CloudFormation templates: valid for every design and setting, and what they declare."""

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
from tests.table.lint import flawed_designs
from zataku.table import READ, DesignError, Grant, OnDemand, PermissionMatrix, Provisioned, Table
from zataku.table.export import template, to_json, to_yaml
from zataku.table.export.cloudformation.resources import table_id

# Two templates only, because linting one takes a while; one would hold some logical ids twice.
DESIGNS: dict[str, Sequence[Table]] = {
    "designs": [
        *(board.board, connections.connections, drawing.drawing, drawing.steady, drawing.fixed, kifu.kifu),
        *(measures.measures, measures.blobs, measures.words, pieces.pieces, ranking.ranking),
    ],
    "documents": [
        *live.TABLES,
        flawed_designs.moves_without_padding(),
        flawed_designs.rounds_without_padding(),
        flawed_designs.all_users_in_one_partition(),
    ],
}


@cache
def linter() -> Runner:
    """cfn-lint with its rules, which take a while to load."""
    return Runner(ConfigMixIn(regions=[REGION_PRIMARY]))


def cfn_lint_problems(text: str) -> list[str]:
    """The errors and warnings of cfn-lint."""
    decoded, errors = decode_str(text)
    matches = errors or linter().validate_template(decoded)
    return [f"{match.rule.id} {match.message} at {match.path}" for match in matches]


def resources(rendered: dict[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    return {name: resource for name, resource in rendered["Resources"].items() if resource["Type"] == kind}


@pytest.mark.parametrize("env", ["dev", "prod"])
@pytest.mark.parametrize("name", DESIGNS)
def test_cfn_lint_accepts_the_designs(name: str, env: str) -> None:
    rights = live.matrix if name == "documents" else None
    assert cfn_lint_problems(to_json(template(DESIGNS[name], env=env, rights=rights))) == []


def test_cfn_lint_reports_an_error() -> None:
    rendered = template([drawing.drawing], env="prod")
    rendered["Resources"]["EsiritoriGameTable"]["Properties"]["BillingMode"] = "FREE"
    assert any("E3030" in problem for problem in cfn_lint_problems(to_json(rendered)))


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(declared=st.lists(tables(), min_size=3, max_size=4, unique_by=table_id), env=st.sampled_from(["dev", "prod"]))
def test_cfn_lint_accepts_any_tables(declared: list[Table], env: str) -> None:
    assert cfn_lint_problems(to_json(template(declared, env=env))) == []


def test_yaml_equals_json_and_has_no_aliases() -> None:
    rendered = template(live.TABLES, env="dev", rights=live.matrix)
    text = to_yaml(rendered)
    assert yaml.safe_load(text) == json.loads(to_json(rendered)) == rendered
    # CloudFormation does not support YAML aliases.
    assert "&id" not in text
    assert cfn_lint_problems(text) == []


def test_rendering_a_design_twice_gives_the_same_text() -> None:
    first, second = (to_json(template(live.TABLES, env="dev", rights=live.matrix)) for _ in range(2))
    assert first == second


def test_tables_are_retained_and_protected_in_prod_only() -> None:
    for env, policy, protected in (("prod", "Retain", True), ("dev", "Delete", False)):
        rendered = resources(template(live.TABLES, env=env), "AWS::DynamoDB::Table").values()
        assert {(table["DeletionPolicy"], table["UpdateReplacePolicy"]) for table in rendered} == {(policy, policy)}
        assert {table["Properties"]["DeletionProtectionEnabled"] for table in rendered} == {protected}


def test_another_environment_can_be_retained() -> None:
    (table,) = resources(template([drawing.fixed], env="staging"), "AWS::DynamoDB::Table").values()
    assert (table["DeletionPolicy"], table["Properties"]["TableName"]) == ("Retain", "FixedTraffic-staging")


def test_logical_ids_are_the_same_in_every_environment() -> None:
    dev, prod = (template(live.TABLES, env=env, rights=live.matrix)["Resources"] for env in ("dev", "prod"))
    assert list(dev) == list(prod)
    assert list(dev)[:3] == ["LiveCommentRoomsTable", "LiveCommentCommentsTable", "LiveCommentConnectionsTable"]


def test_only_keys_are_declared_as_attributes() -> None:
    (table,) = resources(template([kifu.kifu], env="prod"), "AWS::DynamoDB::Table").values()
    names = [attribute["AttributeName"] for attribute in table["Properties"]["AttributeDefinitions"]]
    assert names == ["pk", "sk", "cgsi_pk", "clsi_sk", "created", "latest_update"]


def test_on_demand_maxima_apply_to_the_table_and_each_global_index() -> None:
    (table,) = resources(template([drawing.drawing], env="prod"), "AWS::DynamoDB::Table").values()
    properties = table["Properties"]
    maxima = {"MaxReadRequestUnits": 500, "MaxWriteRequestUnits": 200}
    assert properties["OnDemandThroughput"] == maxima
    assert [index["OnDemandThroughput"] for index in properties["GlobalSecondaryIndexes"]] == [maxima, maxima]


def test_one_maximum_alone_can_be_declared() -> None:
    table = Table("ReadsAreCapped", capacity=OnDemand(max_reads=10))
    (resource,) = resources(template([table], env="prod"), "AWS::DynamoDB::Table").values()
    assert resource["Properties"]["OnDemandThroughput"] == {"MaxReadRequestUnits": 10}


def test_provisioned_units_are_auto_scaled_for_the_table_and_each_global_index() -> None:
    rendered = template([drawing.steady], env="prod")
    targets = resources(rendered, "AWS::ApplicationAutoScaling::ScalableTarget")
    policies = resources(rendered, "AWS::ApplicationAutoScaling::ScalingPolicy")
    dimensions = [
        (target["Properties"]["ResourceId"]["Fn::Sub"], target["Properties"]["ScalableDimension"])
        for target in targets.values()
    ]
    assert dimensions == [
        ("table/${SteadyTrafficTable}", "dynamodb:table:ReadCapacityUnits"),
        ("table/${SteadyTrafficTable}", "dynamodb:table:WriteCapacityUnits"),
        ("table/${SteadyTrafficTable}/index/ByOwner", "dynamodb:index:ReadCapacityUnits"),
        ("table/${SteadyTrafficTable}/index/ByOwner", "dynamodb:index:WriteCapacityUnits"),
    ]
    assert {
        (target["Properties"]["MinCapacity"], target["Properties"]["MaxCapacity"]) for target in targets.values()
    } == {(5, 100), (5, 50)}
    configurations = [policy["Properties"]["TargetTrackingScalingPolicyConfiguration"] for policy in policies.values()]
    assert [configuration["TargetValue"] for configuration in configurations] == [60] * 4


def test_provisioned_units_without_a_maximum_are_not_scaled() -> None:
    rendered = template([drawing.fixed], env="prod")
    assert list(rendered["Resources"]) == ["FixedTrafficTable"]
    throughput = rendered["Resources"]["FixedTrafficTable"]["Properties"]["ProvisionedThroughput"]
    assert throughput == {"ReadCapacityUnits": 2, "WriteCapacityUnits": 1}


def test_outputs_hold_names_arns_streams_and_policies() -> None:
    outputs = template([live.comments], env="dev", rights=PermissionMatrix({"Reader": [Grant(live.comments, READ)]}))[
        "Outputs"
    ]
    assert {name: output["Value"] for name, output in outputs.items()} == {
        "LiveCommentCommentsTableName": {"Ref": "LiveCommentCommentsTable"},
        "LiveCommentCommentsTableArn": {"Fn::GetAtt": ["LiveCommentCommentsTable", "Arn"]},
        "LiveCommentCommentsTableStreamArn": {"Fn::GetAtt": ["LiveCommentCommentsTable", "StreamArn"]},
        "ReaderPolicyArn": {"Ref": "ReaderPolicy"},
    }


def test_a_template_can_include_the_metadata_table_and_its_policy() -> None:
    rendered = template(live.TABLES, env="dev", rights=live.matrix, store_table=True)
    assert rendered["Resources"]["ZatakuStoreTable"]["Properties"]["TableName"] == "ZatakuStore-dev"
    describing, metadata, streams = rendered["Resources"]["ZatakuStorePolicy"]["Properties"]["PolicyDocument"][
        "Statement"
    ]
    assert len(describing["Resource"]) == 4
    assert [arn["Fn::Sub"].rpartition(":")[2] for arn in metadata["Resource"]] == ["table/ZatakuStore-dev"]
    assert [arn["Fn::Sub"].rpartition("/")[2] for arn in streams["Resource"]] == ["*"]
    assert "ZatakuStorePolicy" not in template(live.TABLES, env="dev", store_table=True)["Resources"]
    assert cfn_lint_problems(to_json(rendered)) == []


def test_two_tables_with_one_logical_id_are_refused() -> None:
    with pytest.raises(DesignError, match="Two resources of the template would be named NightGamesTable"):
        template([Table("Night-Games"), Table("Night_Games")], env="prod")


def test_a_permission_matrix_with_a_table_outside_the_template_is_refused() -> None:
    with pytest.raises(DesignError, match="names LiveComment-Comments-{env}, which is not in the template"):
        template([live.rooms, live.connections], env="dev", rights=live.matrix)


def test_a_template_without_tables_is_refused() -> None:
    with pytest.raises(DesignError, match="at least one table"):
        template([], env="dev")


def test_more_resources_than_cloudformation_allows_are_refused() -> None:
    declared = [Table(f"Scaled-{at}", capacity=Provisioned(1, 1, 5, 5)) for at in range(101)]
    with pytest.raises(DesignError, match="505 resources, but CloudFormation takes 500. Split it by tables"):
        template(declared, env="dev")
