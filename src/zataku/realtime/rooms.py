"""Rooms, wherever they run: in this process when it owns them, else in the one that does."""

from zataku.platform.identity import Identity


class Rooms:
    """Every room, across all processes."""

    async def ask(self, topic: str, who: Identity, what: bytes) -> bytes | None:
        """Have a kept command carried out and stored, by whichever process owns the room, and give its answer.

        For HTTP handlers and jobs. The room is taken when nobody runs it. Raises `Refused` with the room's reason;
        `Unavailable` when no owner could be had, and `Unsettled` when nobody knows whether it was stored.
        """
        raise NotImplementedError

    def here(self, topic: str) -> int:
        """How many people are in a room, as far as this process knows."""
        raise NotImplementedError

    def running(self, kind: str) -> dict[str, int]:
        """The topics of all rooms of a kind that run now in any process, and how many people are in each."""
        raise NotImplementedError
