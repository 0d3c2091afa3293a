"""The owner of a room in this process: its actor, its presence, and the service for other processes."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import msgspec
import structlog
from msgspec.structs import replace

from zataku.clock import has_passed
from zataku.errors import RequestError
from zataku.platform.identity import Identity
from zataku.realtime.rooms.actor import CommandResult, Ending, RoomActor
from zataku.realtime.rooms.behaviour import Command, RoomBehaviour
from zataku.realtime.rooms.bus_messages import (
    CallReply,
    CommandCall,
    OwnerLeft,
    PresenceQuery,
    PresenceReport,
    RoomClosed,
    RoomReset,
    RoomSnapshot,
    RoomUpdate,
    SnapshotCall,
    TransientCall,
    decode_command,
    encode,
)
from zataku.realtime.rooms.context import RoomContext, RoomMoved, process_channel, room_channel
from zataku.realtime.rooms.leases import HeldLease
from zataku.realtime.rooms.mirror import Mirror
from zataku.realtime.rooms.presence import RoomPresence
from zataku.realtime.rooms.rpc import INTERNAL_ERROR, CommandDeduplicator, encode_error

HEARTBEAT_SECONDS = 1.0
FLUSH_SECONDS = 0.5
PRESENCE_SECONDS = 1.0
"""The least time between two heartbeats, two flushes and two counts of those present."""
IDLE_SECONDS = 60.0
"""A room without people and commands is released after so long."""

log = structlog.get_logger(__name__)


class LocalOwner:
    """A room that runs in this process."""

    def __init__(
        self,
        context: RoomContext,
        topic: str,
        behaviour: RoomBehaviour[Any],
        state: Any,
        lease: HeldLease,
        mirror: Mirror,
    ) -> None:
        self._context = context
        self._topic = topic
        self._behaviour = behaviour
        self._lease = lease
        self._mirror = mirror
        self._presence = RoomPresence()
        self._deduplicator = CommandDeduplicator(context.clock)
        self._counted_at = self._flushed_at = self._heartbeat_at = 0.0
        self._empty_since = context.clock.now()
        self._actor: RoomActor[Any] = RoomActor(
            topic,
            behaviour,
            state,
            lease=lease,
            owner=context.process,
            clock=context.clock,
            # Alone, the mirror of this process is the only receiver of updates.
            publish=mirror.apply if context.is_alone else self._publish,
        )

    def ask(self, command: Command) -> Awaitable[CommandResult]:
        """Execute and store a command. Raises `RequestError`, or `RoomMoved` when the room does not run here."""
        return self._actor.ask(command)

    def handle_transient(self, command: Command) -> None:
        """Execute a transient command at once."""
        self._actor.handle_transient(command)

    async def snapshot(self, viewer: Identity, since: str | None, *, with_body: bool) -> RoomSnapshot:
        """The room as a viewer may see it. Raises `RequestError`, or `RoomMoved`."""
        return await self._actor.snapshot(viewer, since, with_body=with_body)

    # Lifetime

    async def run(self) -> Ending:
        """Run the room to its end, then release its lease and publish that."""
        leases = self._context.leases
        self._update_presence(self._context.clock.now())
        try:
            ending = await self._actor.run()
        except asyncio.CancelledError:
            leases.forget(self._lease)
            raise
        if ending == "lost":
            leases.forget(self._lease)
        else:
            await leases.release(self._lease)
        if ending != "closed":
            self._actor.leave(is_released=ending != "lost")
        return ending

    def stop(self) -> None:
        """Finish the current batch and flush; `run` returns then."""
        self._actor.stop()

    def lose(self) -> None:
        """Write nothing more: another process has the room, or the table was replaced."""
        self._actor.lose()

    def lose_to(self, epoch: int) -> None:
        """Another process announced its ownership: give the room up if its epoch is higher."""
        if epoch > self._actor.epoch:
            self._actor.lose()

    @property
    def present(self) -> int:
        """How many people are in the room now."""
        return self._presence.total

    @property
    def is_idle(self) -> bool:
        """True when there have been neither people nor commands for a while."""
        return self._context.clock.now() - max(self._empty_since, self._actor.used_at) > IDLE_SECONDS

    def run_timers(self, now: float) -> None:
        """Do what is due at this time: tick, presence, flush, heartbeat."""
        if self._presence.total:
            self._empty_since = now
        if not self._lease.is_fresh:
            # The room may be another's by now: nothing is published until the lease is confirmed.
            return
        self._actor.tick()
        if has_passed(self._counted_at, now, PRESENCE_SECONDS):
            self._update_presence(now)
        if has_passed(self._flushed_at, now, FLUSH_SECONDS):
            self._flushed_at = now
            self._actor.flush_soon()
        if has_passed(self._heartbeat_at, now, HEARTBEAT_SECONDS) and self._has_followers:
            self._heartbeat_at = now
            self._context.bus.publish(room_channel(self._topic), encode(self._actor.heartbeat()))

    # Service for other processes

    def serve(self, call: CommandCall | SnapshotCall | TransientCall | PresenceReport) -> None:
        """Execute a call of another process. From now on that process receives all updates."""
        self._presence.add(call.sender, (), self._context.clock.now())
        if isinstance(call, TransientCall):
            self._serve_transient(call)
        elif isinstance(call, PresenceReport):
            self._add_report(call)
        else:
            self._context.background.start(self._reply(call))

    def _serve_transient(self, call: TransientCall) -> None:
        try:
            command = decode_command(self._behaviour, call.command, transient=True)
        except RequestError:
            return
        self._actor.handle_transient(command)

    async def _reply(self, call: CommandCall | SnapshotCall) -> None:
        reply = CallReply(sender=self._context.process, topic=self._topic, id=call.id)
        try:
            if isinstance(call, CommandCall):
                result = await self._execute_once(decode_command(self._behaviour, call.command))
                reply = replace(reply, result=None if result is None else msgspec.json.encode(result))
            else:
                snapshot = await self._actor.snapshot(call.viewer, call.since, with_body=call.with_body)
                reply = replace(reply, snapshot=snapshot)
        except RequestError as error:
            reply = replace(reply, error=encode_error(error))
        except RoomMoved as moved:
            reply = replace(reply, has_moved=True, maybe_executed=moved.maybe_executed)
        except Exception:  # the caller is in another process and needs a reply
            log.exception("remote_call_failed", topic=self._topic)
            reply = replace(reply, error=INTERNAL_ERROR)
        self._context.bus.publish(process_channel(call.sender), encode(reply))

    async def _execute_once(self, command: Command) -> CommandResult:
        return await self._deduplicator.execute_once(command.id, lambda: self._actor.ask(command))

    def _add_report(self, report: PresenceReport) -> None:
        now = self._context.clock.now()
        if report.is_complete:
            self._presence.replace(report.sender, report.joined, now)
        else:
            self._presence.remove(report.sender, report.left)
            self._presence.add(report.sender, report.joined, now)
        if self._presence.count_in(report.sender) != report.total:
            query = PresenceQuery(sender=self._context.process, topic=self._topic)
            self._context.bus.publish(process_channel(report.sender), encode(query))

    # Updates

    @property
    def _has_followers(self) -> bool:
        return self._presence.process_count > 1

    def _publish(self, update: RoomUpdate) -> None:
        self._mirror.apply(update)
        # Changes of ownership are published even without known followers: a process may wait for an earlier owner.
        if self._has_followers or isinstance(update, RoomReset | OwnerLeft | RoomClosed):
            self._context.bus.publish(room_channel(self._topic), encode(update))

    def _update_presence(self, now: float) -> None:
        self._presence.replace(self._context.process, self._mirror.accounts, now)
        self._presence.remove_silent(now, own_process=self._context.process)
        change = self._presence.take_change()
        if change is not None:
            self._counted_at = now
            self._actor.presence_changed(change, self._presence.total)
