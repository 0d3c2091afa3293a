"""Reads of the embedded store: threads that read, lookups by key, and pages."""
