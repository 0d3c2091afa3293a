"""Fault injection around any backend: the errors and delays that AWS documents and an idle machine never shows."""
