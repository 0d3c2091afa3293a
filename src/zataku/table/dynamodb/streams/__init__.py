"""Change streams of tables, read from DynamoDB Streams by any number of processes together."""

from zataku.table.dynamodb.streams.consumer_registry import ConsumerRegistry

__all__ = ["ConsumerRegistry"]
