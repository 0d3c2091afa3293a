"""The archive of a room: timeline, questions, search and exports. It is readable while the room is open, too."""
