"""Fault injection around any backend: everything AWS documents and a quiet machine never shows."""
