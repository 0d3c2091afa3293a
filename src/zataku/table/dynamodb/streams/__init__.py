"""The changes of a table, read from DynamoDB Streams by any number of processes together."""

from zataku.table.dynamodb.streams.consumer_registry import Streams

__all__ = ["Streams"]
