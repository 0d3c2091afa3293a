"""CloudFormation templates of a design: tables, scaling, alarms, policies."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import msgspec

from zataku.table.backend.errors import DesignError
from zataku.table.backend.table_parameters import table_parameters
from zataku.table.backend.table_schema import TableSchema
from zataku.table.export.cloudformation.alarms import cloudwatch_alarms
from zataku.table.export.cloudformation.policies import opening_policy, template_policy
from zataku.table.export.cloudformation.resources import (
    NamedResource,
    design_name,
    join_named,
    logical_id,
    output,
    reference,
    table_id,
)
from zataku.table.export.cloudformation.scaling_policies import scaling_resources
from zataku.table.schema.table import Table
from zataku.table.store.permissions import PermissionMatrix, Permissions
from zataku.table.store_factory import METADATA_TABLE

Template: TypeAlias = dict[str, Any]

# AWS's own limits of a template.
_TEMPLATE_BYTES = 1_000_000
_RESOURCES = 500
_OUTPUTS = 200
_DESCRIPTION_BYTES = 1024

_ALARM_TOPIC: Template = {
    "Parameters": {
        "AlarmTopicArn": {
            "Type": "String",
            "Default": "",
            "Description": "The SNS topic that alarms are sent to; empty for alarms that only appear in CloudWatch.",
        }
    },
    "Conditions": {"HasAlarmTopic": {"Fn::Not": [{"Fn::Equals": [reference("AlarmTopicArn"), ""]}]}},
}


def template(
    tables: Sequence[Table], *, env: str, rights: PermissionMatrix | None = None, store_table: bool = False
) -> Template:
    """The template of some tables in one environment, with a policy for each function of a permission matrix.

    The parameter `AlarmTopicArn` names the SNS topic that alarms are sent to; when empty, they only appear in
    CloudWatch. `store_table` adds the store's metadata table, which one template of an environment must have when
    stores are opened with `manage` off, and the policy to open a store, which every function needs in addition to its
    own.
    """
    if not tables:
        raise DesignError("A template needs at least one table.")
    missing = [table for table in (rights.tables if rights else ()) if table not in tables]
    if missing:
        raise DesignError(f"The permission matrix names {missing[0].name}, which is not in the template. Add it.")
    policies = [_policy(permissions, env) for permissions in rights or ()]
    if store_table:
        policies += [_opening_policy(tables, env)] if rights else []
        tables = (*tables, METADATA_TABLE)
    document: Template = {"AWSTemplateFormatVersion": "2010-09-09", "Description": _description(tables, env)}
    if any(table.alarms for table in tables):
        document |= _ALARM_TOPIC
    document["Resources"] = join_named(
        [*(resource for table in tables for resource in _resources(table, env)), *policies]
    )
    document["Outputs"] = join_named(
        [
            *(named_output for table in tables for named_output in _outputs(table)),
            *(_policy_output(name) for name, _ in policies),
        ]
    )
    _check_limits(document)
    return document


def to_json(document: Template) -> str:
    """The template as JSON text, in the order of its entries."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def to_yaml(document: Template) -> str:
    """The template as YAML text, in the order of its entries."""
    # A copy without shared parts: YAML would write those as aliases, which CloudFormation does not read.
    plain = msgspec.json.decode(msgspec.json.encode(document))
    return msgspec.yaml.encode(plain).decode()


def _resources(table: Table, env: str) -> Iterator[NamedResource]:
    policy = table.deletion_policy(env)
    schema = table.schema(env)
    tags = {"design": design_name(table), "environment": env}
    yield (
        table_id(table),
        {
            "Type": "AWS::DynamoDB::Table",
            "DeletionPolicy": policy,
            "UpdateReplacePolicy": policy,
            "Properties": _table_properties(schema, tags),
        },
    )
    yield from scaling_resources(table, env)
    for alarm in cloudwatch_alarms(table, reference(table_id(table))):
        properties = {
            "AlarmName": f"{schema.name}-{alarm.name}",
            "AlarmDescription": alarm.description,
            **alarm.properties,
            "AlarmActions": {"Fn::If": ["HasAlarmTopic", [reference("AlarmTopicArn")], reference("AWS::NoValue")]},
        }
        name = logical_id(f"{design_name(table)}-{alarm.name}", "Alarm")
        yield name, {"Type": "AWS::CloudWatch::Alarm", "Properties": properties}


def _table_properties(schema: TableSchema, tags: dict[str, str]) -> dict[str, Any]:
    properties = table_parameters(schema)
    if schema.ttl is not None:
        properties["TimeToLiveSpecification"] = {"AttributeName": schema.ttl, "Enabled": True}
    if schema.stream is not None:
        properties["StreamSpecification"] = {"StreamViewType": schema.stream}
    properties["PointInTimeRecoverySpecification"] = {"PointInTimeRecoveryEnabled": schema.recovery}
    if schema.encryption == "managed":
        properties["SSESpecification"] = {"SSEEnabled": True}
    properties["DeletionProtectionEnabled"] = schema.protected
    properties["Tags"] = [{"Key": key, "Value": value} for key, value in tags.items()]
    return properties


def _outputs(table: Table) -> Iterator[NamedResource]:
    name = table_id(table)
    yield f"{name}Name", output(f"The name of {design_name(table)}.", reference(name))
    yield f"{name}Arn", output(f"The ARN of {design_name(table)}.", {"Fn::GetAtt": [name, "Arn"]})
    if table.stream is not None:
        stream = {"Fn::GetAtt": [name, "StreamArn"]}
        yield f"{name}StreamArn", output(f"The ARN of the stream of {design_name(table)}.", stream)


def _policy(rights: Permissions, env: str) -> NamedResource:
    properties = {
        "Description": f"What {rights.function} may do with the tables of {env}.",
        "PolicyDocument": template_policy(rights, env),
    }
    return logical_id(rights.function, "Policy"), {"Type": "AWS::IAM::ManagedPolicy", "Properties": properties}


def _opening_policy(tables: Sequence[Table], env: str) -> NamedResource:
    properties = {
        "Description": f"What opening the store of {env} takes.",
        "PolicyDocument": opening_policy(tables, env),
    }
    return logical_id(METADATA_TABLE.name, "Policy"), {"Type": "AWS::IAM::ManagedPolicy", "Properties": properties}


def _policy_output(name: str) -> NamedResource:
    return f"{name}Arn", output(f"The ARN of {name}.", reference(name))


def _description(tables: Sequence[Table], env: str) -> str:
    names = ", ".join(design_name(table) for table in tables)
    return f"Tables of {env}: {names}.".encode()[:_DESCRIPTION_BYTES].decode(errors="ignore")


def _check_limits(document: Template) -> None:
    counts = (("resources", len(document["Resources"]), _RESOURCES), ("outputs", len(document["Outputs"]), _OUTPUTS))
    sizes = (*counts, ("bytes", len(to_json(document).encode()), _TEMPLATE_BYTES))
    for unit, count, maximum in sizes:
        if count > maximum:
            raise DesignError(
                f"The template has {count:,} {unit}, but CloudFormation takes {maximum:,}. Split it by tables."
            )
