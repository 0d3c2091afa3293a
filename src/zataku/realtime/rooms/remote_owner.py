"""The owner of a room in another process, as this process calls it."""

import asyncio

from msgspec import Raw

from zataku.clock import has_passed
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.rooms.actor import CommandResult
from zataku.realtime.rooms.behaviour import Command
from zataku.realtime.rooms.bus_messages import (
    CallReply,
    CommandCall,
    PresenceReport,
    RoomSnapshot,
    SnapshotCall,
    TransientCall,
    encode_command,
)
from zataku.realtime.rooms.context import RoomContext, RoomMoved
from zataku.realtime.rooms.mirror import Mirror
from zataku.realtime.rooms.rpc import RpcClient

OWNER_TIMEOUT_SECONDS = 3.0
"""An owner that was silent for so long is given up."""
PRESENCE_REPORT_SECONDS = 2.0
CHANGED_PRESENCE_REPORT_SECONDS = 1.0


class RemoteOwner:
    """The process that owns a room. With `shared_snapshot`, concurrent viewers share one call."""

    def __init__(
        self, context: RoomContext, topic: str, process: str, mirror: Mirror, *, shared_snapshot: bool
    ) -> None:
        self.process = process
        self._shared_snapshot = shared_snapshot
        self._snapshots: dict[str | None, asyncio.Future[RoomSnapshot]] = {}
        self._context = context
        self._topic = topic
        self._mirror = mirror
        self._rpc = RpcClient(context)
        self._received_at = context.clock.now()
        self._reported: frozenset[AccountId] = frozenset()
        self._reported_at = 0.0
        # By this the owner knows that this process follows the room, and publishes every update from now on.
        self.report_presence()

    async def ask(self, command: Command) -> CommandResult:
        """The reply to a command, as JSON. Raises `RequestError`, or `RoomMoved` when it must be sent again."""
        sender, encoded = self._context.process, encode_command(command)
        reply = await self._rpc.call(
            self.process,
            lambda call_id: CommandCall(sender=sender, topic=self._topic, id=call_id, command=encoded),
        )
        return None if reply.result is None else Raw(reply.result)

    async def snapshot(self, viewer: Identity, since: str | None, *, with_body: bool) -> RoomSnapshot:
        """The room as a viewer may see it. Raises `RequestError`, or `RoomMoved` when it must be fetched again."""
        if not self._shared_snapshot or not with_body:
            return await self._fetch_snapshot(viewer, since, with_body=with_body)
        snapshot = self._snapshots.get(since)
        if snapshot is None:
            snapshot = asyncio.ensure_future(self._fetch_snapshot(viewer, since, with_body=True))
            self._snapshots[since] = snapshot
            snapshot.add_done_callback(lambda done: self._forget_snapshot(since, done))
        # A viewer who disconnects while it is fetched must not cancel it for the others.
        return await asyncio.shield(snapshot)

    def handle_transient(self, command: Command) -> None:
        """Send a transient command."""
        call = TransientCall(sender=self._context.process, topic=self._topic, command=encode_command(command))
        self._rpc.send(self.process, call)

    def receive(self, reply: CallReply) -> None:
        """Take a reply from the bus."""
        if reply.sender == self.process:
            self.mark_alive()
        self._rpc.receive(reply)

    def mark_alive(self) -> None:
        """Note that something arrived from the owner."""
        self._received_at = self._context.clock.now()

    @property
    def is_silent(self) -> bool:
        """True when nothing has arrived from the owner for too long."""
        return self._context.clock.now() - self._received_at > OWNER_TIMEOUT_SECONDS

    def run_timers(self, now: float) -> None:
        """Do what is due at this time: expire calls and report presence."""
        self._rpc.expire(now)
        has_changed = self._mirror.accounts.keys() != self._reported
        seconds = CHANGED_PRESENCE_REPORT_SECONDS if has_changed else PRESENCE_REPORT_SECONDS
        if has_passed(self._reported_at, now, seconds):
            self._report(is_complete=False)

    def report_presence(self) -> None:
        """Report all accounts that are in the room in this process."""
        self._report(is_complete=True)

    def abandon_calls(self) -> None:
        """Fail all open calls, so that their callers find the next owner."""
        self._rpc.expire()

    def leave(self) -> None:
        """Report that no account is left in the room in this process."""
        self._rpc.expire()
        self._send_report((), (), 0, is_complete=True)

    async def _fetch_snapshot(self, viewer: Identity, since: str | None, *, with_body: bool) -> RoomSnapshot:
        sender, topic = self._context.process, self._topic
        reply = await self._rpc.call(
            self.process,
            lambda call_id: SnapshotCall(
                sender=sender, topic=topic, id=call_id, viewer=viewer, since=since, with_body=with_body
            ),
        )
        if reply.snapshot is None:
            raise RoomMoved
        return reply.snapshot

    def _forget_snapshot(self, since: str | None, done: asyncio.Future[RoomSnapshot]) -> None:
        del self._snapshots[since]
        if not done.cancelled():
            # Mark an error as seen: its viewers may have stopped waiting.
            done.exception()

    def _report(self, *, is_complete: bool) -> None:
        present = frozenset(self._mirror.accounts)
        before: frozenset[AccountId] = frozenset() if is_complete else self._reported
        self._reported, self._reported_at = present, self._context.clock.now()
        self._send_report(tuple(present - before), tuple(before - present), len(present), is_complete=is_complete)

    def _send_report(
        self, joined: tuple[AccountId, ...], left: tuple[AccountId, ...], total: int, *, is_complete: bool
    ) -> None:
        report = PresenceReport(
            sender=self._context.process,
            topic=self._topic,
            joined=joined,
            left=left,
            total=total,
            is_complete=is_complete,
        )
        self._rpc.send(self.process, report)
