"""Rooms: one actor per room in the process that owns it, and mirrors of it in all processes."""
