"""FIXME: say what this package holds."""
