"""The file of an embedded store: its format, connections to it, lock, backups and restores."""
