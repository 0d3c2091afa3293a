"""The embedded store compared with raw apsw and with dynoxide."""
