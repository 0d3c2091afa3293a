"""Departures from AWS's documentation that the store copes with by itself, shown on the bare implementation.

Others are listed where they are met: `tests/contract/stores.py` (answers),
`tests/table/differential/departures.py` (answers and units of dynoxide), `tests/table/cost/test_server_units.py`
(units). Neither implementation ever reports a transaction conflict;
those come from strict mode and from the fronts in `tests/table/dynamodb/fronts.py`.
"""

import secrets
from typing import Any

import boto3
import pytest
from botocore.exceptions import ParamValidationError

from tests.support.dynamodb_servers import shared_server


def speaking(service: str) -> Any:
    return boto3.client(
        service,
        endpoint_url=shared_server("dynoxide").endpoint,
        region_name="us-east-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",
    )


def stream_of(name: str, *writes: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A table with these writes; its stream and the one shard of it."""
    tables = speaking("dynamodb")
    tables.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )
    for item in writes:
        tables.put_item(TableName=name, Item=item)
    arn = tables.describe_table(TableName=name)["Table"]["LatestStreamArn"]
    (shard,) = speaking("dynamodbstreams").describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
    return arn, shard


def iterator(arn: str, shard: dict[str, Any]) -> str:
    return speaking("dynamodbstreams").get_shard_iterator(
        StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
    )["ShardIterator"]


ITEM = {"pk": {"S": "p"}, "n": {"N": "1"}}


def test_dynoxide_tells_a_put_that_changes_nothing_as_a_change():
    """AWS writes no record then; our reader leaves it out."""
    arn, shard = stream_of(f"Departing-{secrets.token_hex(4)}", ITEM, ITEM)
    records = speaking("dynamodbstreams").get_records(ShardIterator=iterator(arn, shard))["Records"]
    assert [record["eventName"] for record in records] == ["INSERT", "MODIFY"]


def test_dynoxide_gives_an_open_shard_an_end():
    """On AWS only a closed shard has one; our reader believes the missing next iterator alone."""
    arn, shard = stream_of(f"Departing-{secrets.token_hex(4)}", ITEM)
    assert shard["SequenceNumberRange"]["EndingSequenceNumber"]
    assert speaking("dynamodbstreams").get_records(ShardIterator=iterator(arn, shard))["NextShardIterator"]


def test_dynoxide_names_the_shards_of_a_short_table_too_shortly():
    """AWS's shard ids have 28 characters at least, and boto3 sends no shorter ones; tests use longer table names."""
    arn, shard = stream_of(f"T{secrets.token_hex(3)}", ITEM)
    with pytest.raises(ParamValidationError, match="ShardId"):
        iterator(arn, shard)
