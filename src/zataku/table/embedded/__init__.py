"""The embedded backend: DynamoDB's operations on one SQLite file."""

from zataku.table.embedded.backend import EmbeddedBackend

__all__ = ["EmbeddedBackend"]
