"""The changes of a table, read from DynamoDB Streams by any number of processes together."""

from zataku.table.dynamodb.streams.following import Streams

__all__ = ["Streams"]
