"""The embedded store: single-table designs on one SQLite file."""

from zataku.table.embedded.backend import EmbeddedBackend

__all__ = ["EmbeddedBackend"]
