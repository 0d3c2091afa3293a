"""Who hears one topic in this process, and what waits for them until the tick ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zataku.realtime.sockets.socket import Socket


class Subscribers:
    """The sockets that hear a topic.

    `members` are told everything. `muted` fell behind and are told nothing until they have been brought up to date.
    While the topic is `busy`, messages with their places in the order of all are `gathered`, those for some only with
    the sockets they are for; `told` counts both. Who came `late` in the tick is not told what was gathered before.
    `spare` is how many messages need not wait for the tick's end, and `written` when the last one went out.
    """

    __slots__ = ("busy", "channel", "gathered", "late", "members", "muted", "spare", "told", "topic", "written")

    def __init__(self, topic: str, channel: int) -> None:
        self.topic, self.channel = topic, channel
        self.members: dict[Socket, None] = {}
        self.muted: set[Socket] = set()
        self.busy = False
        self.gathered: list[tuple[int, bytes]] = []
        self.told = 0
        self.spare = 0
        self.written = 0.0
        self.late: dict[Socket, int] = {}

    @property
    def empty(self) -> bool:
        """True when nobody is left."""
        return not self.members and not self.muted

    def gathered_for(self, socket: Socket) -> list[tuple[int, bytes]]:
        """What waits for one of them."""
        if not self.gathered or socket not in self.members:
            return []
        return self.gathered[self.late.get(socket, 0) :]
