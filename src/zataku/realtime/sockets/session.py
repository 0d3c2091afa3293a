"""The session of one socket: from the handshake to its end, its messages are decoded, limited and handed on."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from typing import Any, TypeAlias

import msgspec
import structlog

from zataku.clock import now_ms
from zataku.errors import (
    INTERNAL_FAILURE,
    InvalidRequest,
    NotFound,
    PayloadTooLarge,
    Problem,
    RateLimited,
    RequestError,
)
from zataku.platform.identity import Identity
from zataku.realtime.messages import (
    ClientMessage,
    CommandDone,
    CommandMessage,
    CommandRefused,
    Join,
    Leave,
    MessageRejected,
    TransientMessage,
    Welcome,
)
from zataku.realtime.sockets.connection import Connection, text_frame
from zataku.realtime.sockets.handler import SocketHandler
from zataku.realtime.sockets.hub import Hub
from zataku.realtime.sockets.limits import SOCKETS_PER_TURN, SocketLimits
from zataku.realtime.sockets.protocol import EXTENSION, PreparedFrameProtocol
from zataku.realtime.sockets.slow_readers import CHECK_SECONDS
from zataku.realtime.sockets.socket import Socket
from zataku.realtime.sockets.turn_queue import TurnQueue
from zataku.token_buckets import TokenBucket

Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, Any]]]
Send: TypeAlias = Callable[[Any], Awaitable[None]]

INVALID_MESSAGE_TOKENS = 4
"""What a message that cannot be decoded costs, in commands."""
ADDRESS_RETRY_SECONDS = 1.0
"""The least seconds that a client waits when its address has sent too much."""
_POLICY_VIOLATION = 1008

_decoder: msgspec.json.Decoder[ClientMessage] = msgspec.json.Decoder(ClientMessage)
log = structlog.get_logger(__name__)


class Endpoint:
    """Serves the sockets of a process. It needs the protocol of `uvicorn_options`."""

    def __init__(self, hub: Hub, handler: SocketHandler) -> None:
        self._hub, self._handler = hub, handler
        self._finishing: set[asyncio.Task[None]] = set()

    async def serve(
        self, scope: Mapping[str, Any], receive: Receive, send: Send, *, identity: Identity, address: str
    ) -> None:
        """Serve one socket, from the handshake to its end, whose identity and origin are already checked."""
        connection: Connection = scope["extensions"][EXTENSION]
        await receive()  # the client's request to connect
        await send({"type": "websocket.accept"})
        try:
            socket = self._hub.open(connection, identity, address)
        except RateLimited as limited:
            # A browser can read a message, but not the status of a failed handshake.
            connection.write(text_frame(msgspec.json.encode(MessageRejected(error=limited.problem))))
            connection.close(_POLICY_VIOLATION, limited.message)
            return
        session = SocketSession(self._hub, self._handler, socket)
        connection.set_frame_counter(session.count_frame)
        try:
            await session.run(receive)
        finally:
            await self._end(socket, session)

    async def _end(self, socket: Socket, session: "SocketSession") -> None:
        socket.is_closed = True
        try:
            for task in await session.cancel():
                self._finishing.add(task)
                task.add_done_callback(self._finishing.discard)
        finally:
            try:
                self._handler.disconnected(socket)
            finally:
                self._hub.forget(socket)


def uvicorn_options(limits: SocketLimits) -> dict[str, Any]:
    """The options of uvicorn for sockets; the heartbeat is ours, and small messages are not compressed."""
    return {
        "ws": partial(PreparedFrameProtocol, turns=TurnQueue(SOCKETS_PER_TURN)),
        "ws_max_size": max(limits.max_text_bytes, limits.max_binary_bytes + 2),
        "ws_per_message_deflate": False,
        "ws_ping_interval": None,
        "ws_ping_timeout": None,
    }


class SocketSession:
    """The messages of one socket.

    Commands run concurrently, so that a slow room does not hold up another. A message to a topic that is just being
    joined or left waits until that is done.
    """

    __slots__ = ("_handler", "_hub", "_running", "_socket", "_transitions")

    def __init__(self, hub: Hub, handler: SocketHandler, socket: Socket) -> None:
        self._hub, self._handler, self._socket = hub, handler, socket
        # Most sockets are silent most of the time, so these are made on demand. The value says whether the task is a
        # command, which continues when the socket ends.
        self._running: dict[asyncio.Task[None], bool] | None = None
        self._transitions: dict[str, asyncio.Task[None]] | None = None

    async def run(self, receive: Receive) -> None:
        """Welcome the client and handle its messages until it disconnects."""
        hub, socket = self._hub, self._socket
        hub.send(socket, Welcome(now=now_ms(hub.clock), beat=int(hub.limits.heartbeat_seconds * 1000)))
        while True:
            # A client that does not read its replies gets no more of them: its messages wait in the network.
            while socket.is_behind(hub.limits) and not socket.is_closed:
                await hub.clock.sleep(CHECK_SECONDS)
            event = await receive()
            if event["type"] == "websocket.disconnect":
                return
            if socket.is_closed:
                continue
            text = event.get("text")
            if text is not None:
                await self.receive_text(text)
            else:
                await self.receive_binary(event["bytes"])

    async def receive_text(self, text: str) -> None:
        """Handle a text message. Waits while too many commands run, and the client's connection with it."""
        limits, socket = self._hub.limits, self._socket
        size = len(text) if text.isascii() else len(text.encode())
        self._count(size)
        if size > limits.max_text_bytes:
            self._refuse_invalid(_too_large(limits.max_text_bytes))
            return
        try:
            message = _decoder.decode(text)
        except (msgspec.DecodeError, RecursionError) as error:
            self._refuse_invalid(InvalidRequest(f"The message could not be read: {error}"))
            return
        match message:
            case TransientMessage():
                limited = self._rate_limit(socket.transient_bucket, socket.address_usage.transient_bucket)
            case CommandMessage():
                limited = self._rate_limit(socket.command_bucket, socket.address_usage.command_bucket)
            case Join() | Leave():
                limited = self._rate_limit(socket.command_bucket, socket.address_usage.join_bucket)
        if limited is not None:
            self._refuse(message.id if isinstance(message, Join | CommandMessage) else None, limited.problem)
            return
        await self._dispatch(message)

    async def receive_binary(self, payload: bytes) -> None:
        """Handle a binary message: two bytes of its channel number, then its payload."""
        limits, socket = self._hub.limits, self._socket
        self._count(len(payload))
        if len(payload) - 2 > limits.max_binary_bytes:
            self._refuse_invalid(_too_large(limits.max_binary_bytes))
            return
        if len(payload) < 2:
            self._refuse_invalid(InvalidRequest("A binary message begins with two bytes of its channel number."))
            return
        limited = self._rate_limit(socket.transient_bucket, socket.address_usage.transient_bucket)
        if limited is not None:
            self._refuse(None, limited.problem)
            return
        topic = self._hub.topic_of(socket, int.from_bytes(payload[:2]))
        if topic is None:
            # It may have been in flight when the topic was left, so it costs no more than a valid message.
            self._refuse(None, NotFound("You have not joined the topic of this channel.").problem)
            return
        await self._handle_now(topic, lambda: self._handler.handle_binary(socket, topic, payload[2:]))

    def count_frame(self, is_control: bool) -> None:
        """Count a control frame as a command and a fragment as a transient command; too many close the socket."""
        # Not as commands of the address: the heartbeats of a hall alone are many.
        self._spend(self._socket.command_bucket if is_control else self._socket.transient_bucket)
        if self._is_excess():
            self._socket.connection.pause(self._hub.limits.excess_pause_seconds)

    async def cancel(self) -> list[asyncio.Task[None]]:
        """Cancel joins and leaves: the socket has ended. Returns the commands that are still running."""
        running = self._running or {}
        transitions = [task for task, is_command in running.items() if not is_command]
        for task in transitions:
            task.cancel()
        if transitions:
            await asyncio.wait(transitions)
        return [task for task, is_command in running.items() if is_command]

    async def _dispatch(self, message: ClientMessage) -> None:
        match message:
            case Join():
                await self._start(self._join(message, self._transition_of(message.to)), transition=message.to)
            case Leave():
                await self._start(self._leave(message, self._transition_of(message.to)), transition=message.to)
            case CommandMessage():
                await self._start(self._execute(message, self._transition_of(message.to)), is_command=True)
            case TransientMessage():
                await self._handle_now(message.to, lambda: self._handler.handle_transient(self._socket, message))

    async def _join(self, message: Join, before: asyncio.Task[None] | None) -> None:
        if await self._is_open_after(before):
            try:
                await self._handler.join(self._socket, message)
            except Exception as error:  # noqa: BLE001 - it is logged, and the client gets a reference
                self._refuse(message.id, _problem_of(error, message.to))

    async def _leave(self, message: Leave, before: asyncio.Task[None] | None) -> None:
        if await self._is_open_after(before):
            try:
                await self._handler.leave(self._socket, message)
            except Exception as error:  # noqa: BLE001 - it is logged, and the client gets a reference
                self._refuse(None, _problem_of(error, message.to))

    async def _execute(self, message: CommandMessage, before: asyncio.Task[None] | None) -> None:
        if await self._is_open_after(before):
            try:
                reply = await self._handler.execute(self._socket, message)
            except Exception as error:  # noqa: BLE001 - it is logged, and the client gets a reference
                self._refuse(message.id, _problem_of(error, message.to))
            else:
                result = None if reply is None else msgspec.Raw(reply)
                self._hub.send(self._socket, CommandDone(id=message.id, result=result))

    async def _handle_now(self, topic: str, handle: Callable[[], None]) -> None:
        """Call something that does not wait, after a join or leave of its topic that is still running."""
        before = self._transition_of(topic)
        if before is None:
            self._try(topic, handle)
        else:
            await self._start(self._handle_after(topic, handle, before), transition=topic)

    async def _handle_after(self, topic: str, handle: Callable[[], None], before: asyncio.Task[None]) -> None:
        if await self._is_open_after(before):
            self._try(topic, handle)

    def _try(self, topic: str, handle: Callable[[], None]) -> None:
        try:
            handle()
        except RequestError:
            pass  # transient commands have no reply
        except Exception as error:  # noqa: BLE001 - it is logged, and the client gets a reference
            self._refuse(None, _problem_of(error, topic))

    async def _start(
        self, work: Coroutine[None, None, None], transition: str | None = None, is_command: bool = False
    ) -> None:
        """Start a task beside the reading, which waits while too many are running."""
        self._socket.connection.charge_command()
        running = self._running = self._running or {}
        task = asyncio.get_running_loop().create_task(work)
        running[task] = is_command
        task.add_done_callback(self._forget_task)
        if transition is not None:
            self._transitions = self._transitions or {}
            self._transitions[transition] = task
        while len(running) >= self._hub.limits.max_running_commands:
            await asyncio.wait(list(running), return_when=asyncio.FIRST_COMPLETED)

    def _forget_task(self, task: asyncio.Task[None]) -> None:
        if self._running is not None:
            self._running.pop(task, None)
            self._running = self._running or None
        if self._transitions is not None:
            remaining = {topic: running for topic, running in self._transitions.items() if running is not task}
            self._transitions = remaining or None

    def _transition_of(self, topic: str) -> asyncio.Task[None] | None:
        return None if self._transitions is None else self._transitions.get(topic)

    async def _is_open_after(self, before: asyncio.Task[None] | None) -> bool:
        if before is not None:
            await asyncio.wait([before])
        return not self._socket.is_closed

    def _count(self, size: int) -> None:
        self._hub.counters.messages_in += 1
        self._hub.counters.bytes_in += size

    def _rate_limit(self, own: TokenBucket, of_address: TokenBucket, tokens: float = 1) -> RateLimited | None:
        """The error for a client that sends too much, alone or with all of its address.

        Only what a client itself sends closes it: the others of its address may be honest.
        """
        wait = self._spend(own, tokens)
        if wait:
            self._count_refusal()
            return RateLimited("Too many messages. Wait a moment.", retry_after=round(wait, 3))
        wait = of_address.take(self._hub.clock.now(), tokens)
        if not wait:
            self._socket.excess_pause = 0
            return None
        self._hub.counters.refused += 1
        self._count_refusal()
        # Many wait for the same tokens.
        retry_after = round(max(wait, ADDRESS_RETRY_SECONDS), 3)
        return RateLimited("Too many messages come from your network. Wait a moment.", retry_after=retry_after)

    def _spend(self, own: TokenBucket, tokens: float = 1) -> float:
        """The seconds that the client has to wait, 0 within its limit; one that continues is closed."""
        wait = own.overdraw(self._hub.clock.now(), tokens)
        if wait:
            self._hub.counters.refused += 1
        if own.is_overdrawn:
            self._hub.close(self._socket, _POLICY_VIOLATION, "Too many messages.")
        return wait

    def _is_excess(self) -> bool:
        """Count something that an address may send only so often; True beyond that."""
        return self._socket.address_usage.excess_bucket.take(self._hub.clock.now()) > 0

    def _count_refusal(self) -> None:
        """Count a refused message; beyond what its address may send of them, a socket is read ever more slowly."""
        if self._is_excess():
            socket, limits = self._socket, self._hub.limits
            seconds = max(limits.excess_pause_seconds, 2 * socket.excess_pause)
            socket.excess_pause = min(seconds, limits.max_excess_pause_seconds)
            socket.connection.pause(socket.excess_pause)

    def _refuse_invalid(self, error: RequestError) -> None:
        """Answer an invalid message, which costs more than a valid one."""
        socket = self._socket
        limited = self._rate_limit(socket.command_bucket, socket.address_usage.command_bucket, INVALID_MESSAGE_TOKENS)
        self._refuse(None, (limited or error).problem)

    def _refuse(self, message_id: int | None, problem: Problem) -> None:
        reply = MessageRejected(error=problem) if message_id is None else CommandRefused(id=message_id, error=problem)
        self._hub.send(self._socket, reply)


def _too_large(limit: int) -> PayloadTooLarge:
    return PayloadTooLarge(f"A message may have {limit} bytes. Send less.", limit=limit)


def _problem_of(error: Exception, topic: str) -> Problem:
    if isinstance(error, RequestError):
        return error.problem
    reference = secrets.token_hex(6)
    log.error("socket_message_failed", reference=reference, topic=topic, exc_info=error)
    return Problem("internal", INTERNAL_FAILURE, {"reference": reference})
