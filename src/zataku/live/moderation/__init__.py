"""Moderation of live rooms: the fourth table, the actions of a host with their writes, and who carries them out."""
