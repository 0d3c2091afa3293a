"""The commands of one batch of a live room, in the groups that share a write, and their replies."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from zataku.errors import RequestError
from zataku.live import messages
from zataku.live.limits import SenderId
from zataku.live.rules.comments import Submission
from zataku.live.server_commands import RoomCommand
from zataku.realtime.rooms.behaviour import DEFERRED, Command, Reply

CommentAction: TypeAlias = messages.Upvote | messages.RetractComment
"""A command of the audience about one comment. It waits for the comments of its batch, never the other way round."""


class Batch:
    """The commands of one call of `handle`, with a reply for each: deferred until it is set.

    `end` is the index of the first command that none may overtake, the number of commands without one.
    """

    def __init__(self, commands: Sequence[Command]) -> None:
        self.commands = commands
        self.bodies: list[RoomCommand] = [command.body for command in commands]
        self.replies: list[Reply] = [DEFERRED] * len(commands)
        reorderable = (messages.PostComment, messages.Upvote, messages.RetractComment)
        ends = (index for index, body in enumerate(self.bodies) if not isinstance(body, reorderable))
        self.end = next(ends, len(commands))

    def sender(self, index: int) -> SenderId:
        """The sender of a command."""
        return SenderId(self.commands[index].sender.account_id)

    def submission(self, index: int, message: messages.PostComment) -> Submission:
        """The comment of a command."""
        command = self.commands[index]
        return Submission(index, self.sender(index), message, command.id, command.is_retry, command.sender.name)

    def comments(self) -> list[int]:
        """The indexes of the comments before the end."""
        return [index for index in range(self.end) if isinstance(self.bodies[index], messages.PostComment)]

    def actions(self) -> Iterable[int]:
        """The indexes of the comment actions before the end."""
        return (index for index in range(self.end) if isinstance(self.bodies[index], CommentAction))

    def sharing_write(self, index: int) -> list[int]:
        """The indexes of the comment actions that are stored together with one: upvotes on the same comment."""
        body = self.bodies[index]
        if not isinstance(body, messages.Upvote):
            return [index]
        # Who upvotes a comment and takes that back, or the reverse, does so in this order.
        reverse = replace(body, on=not body.on)
        undecided = {self.sender(at) for at in range(self.end) if self.bodies[at] == reverse}
        same = (at for at in range(self.end) if self.bodies[at] == body and self.replies[at] is DEFERRED)
        return [at for at in same if at == index or self.sender(at) not in undecided]

    def refuse(self, indexes: Iterable[int], error: RequestError) -> None:
        """Reply to some commands with one error."""
        for index in indexes:
            self.replies[index] = error
