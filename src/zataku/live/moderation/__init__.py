"""Moderation of live rooms: the fourth table, the host's actions with their writes, and the moderator."""
