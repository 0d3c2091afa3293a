"""Commands that only the server sends to a live room. No client can: they are not part of `messages.Command`."""

from typing import TypeAlias

from zataku.live import messages
from zataku.realtime.rooms.behaviour import ServerCommand


class EraseSender(ServerCommand, frozen=True, kw_only=True, tag="erase_sender"):
    """The sender's account was removed: the room shows their comments as they are stored now."""


RoomCommand: TypeAlias = messages.Command | EraseSender
"""Every command that a room executes."""
