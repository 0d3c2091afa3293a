"""Subscribers of one topic in this process, with the frames queued for the next flush."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zataku.realtime.sockets.socket import Socket


class Subscribers:
    """The sockets that are subscribed to a topic.

    `members` receive everything. `muted` fell behind and receive nothing until they have caught up. While the topic
    `is_busy`, broadcast frames are `queued` with their global sequence numbers; frames for some members only are queued
    at their sockets; `queued_count` counts both. `joined_at` is where a member that joined during the tick starts in
    the queue. `immediate_credit` is how many messages need not wait for the flush, `written_at` when the last one went
    out, `undelivered` how many deliveries to it have not reached all of their members.
    """

    __slots__ = (
        "channel",
        "immediate_credit",
        "is_busy",
        "joined_at",
        "members",
        "muted",
        "queued",
        "queued_count",
        "topic",
        "undelivered",
        "written_at",
    )

    def __init__(self, topic: str, channel: int) -> None:
        self.topic, self.channel = topic, channel
        self.members: dict[Socket, None] = {}
        self.muted: set[Socket] = set()
        self.is_busy = False
        self.queued: list[tuple[int, bytes]] = []
        self.queued_count = 0
        self.immediate_credit = 0
        self.written_at = 0.0
        self.undelivered = 0
        self.joined_at: dict[Socket, int] = {}

    @property
    def is_empty(self) -> bool:
        """True when no socket is left."""
        return not self.members and not self.muted

    def queued_for(self, socket: Socket) -> list[tuple[int, bytes]]:
        """The queued broadcasts that a socket still has to receive."""
        if not self.queued or socket not in self.members:
            return []
        return self.queued[self.joined_at.get(socket, 0) :]
