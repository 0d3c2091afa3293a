"""Upgrade of stored items to the current revision of their entities."""
