"""The embedded store beside raw apsw and beside dynoxide."""
