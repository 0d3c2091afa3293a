"""Departures of dynoxide from AWS's documentation that the store compensates for.

Others are listed where they matter: `tests/contract/stores.py` (responses),
`tests/table/differential/departures.py` (responses and units of dynoxide), `tests/table/cost/test_server_units.py`
(units). Neither implementation ever reports a transaction conflict; those come from strict mode and from
`tests/table/dynamodb/fault_proxy.py`.
"""

import secrets
from typing import Any

import boto3
import pytest
from botocore.exceptions import ParamValidationError

from tests.support.dynamodb_servers import shared_server


def boto3_client(service: str) -> Any:
    return boto3.client(
        service,
        endpoint_url=shared_server("dynoxide").endpoint,
        region_name="us-east-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",
    )


def stream_of(name: str, *items: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Create a table, put the items, and return the ARN of its stream and its only shard."""
    tables = boto3_client("dynamodb")
    tables.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )
    for item in items:
        tables.put_item(TableName=name, Item=item)
    arn = tables.describe_table(TableName=name)["Table"]["LatestStreamArn"]
    (shard,) = boto3_client("dynamodbstreams").describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
    return arn, shard


def iterator(arn: str, shard: dict[str, Any]) -> str:
    return boto3_client("dynamodbstreams").get_shard_iterator(
        StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
    )["ShardIterator"]


ITEM = {"pk": {"S": "p"}, "n": {"N": "1"}}


def test_dynoxide_records_a_put_that_changes_nothing():
    """AWS writes no record then; our reader skips it."""
    arn, shard = stream_of(f"Departing-{secrets.token_hex(4)}", ITEM, ITEM)
    records = boto3_client("dynamodbstreams").get_records(ShardIterator=iterator(arn, shard))["Records"]
    assert [record["eventName"] for record in records] == ["INSERT", "MODIFY"]


def test_dynoxide_gives_an_open_shard_an_ending_sequence_number():
    """On AWS only a closed shard has one; our reader takes a shard as closed only when the next iterator is missing."""
    arn, shard = stream_of(f"Departing-{secrets.token_hex(4)}", ITEM)
    assert shard["SequenceNumberRange"]["EndingSequenceNumber"]
    assert boto3_client("dynamodbstreams").get_records(ShardIterator=iterator(arn, shard))["NextShardIterator"]


def test_dynoxide_gives_a_table_with_a_short_name_too_short_shard_ids():
    """AWS's shard ids have at least 28 characters, and boto3 rejects shorter ones; tests use longer table names."""
    arn, shard = stream_of(f"T{secrets.token_hex(3)}", ITEM)
    with pytest.raises(ParamValidationError, match="ShardId"):
        iterator(arn, shard)
