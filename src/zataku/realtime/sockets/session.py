"""What one browser says: each message is read, held against the limits, and handed on."""

import asyncio
import secrets
from collections.abc import Callable, Coroutine

import msgspec
import structlog

from zataku.errors import InvalidRequest, NotFound, PayloadTooLarge, Problem, RateLimited, RequestError
from zataku.realtime.messages import Do, Done, FromBrowser, Join, Leave, No, Pass, Wrong
from zataku.realtime.sockets.handler import SocketHandler
from zataku.realtime.sockets.hub import Hub
from zataku.realtime.sockets.limits import TokenBucket
from zataku.realtime.sockets.socket import Socket

_POLICY_VIOLATION = 1008
_NONSENSE = 4  # what a message that cannot be read costs, in commands

_decoder: msgspec.json.Decoder[FromBrowser] = msgspec.json.Decoder(FromBrowser)
_log = structlog.get_logger(__name__)


class SocketSession:
    """The messages of one socket.

    Commands run side by side, so that a slow room does not hold up another. Whatever concerns a topic that is just
    being joined or left waits until it is.
    """

    __slots__ = ("_hub", "_joining", "_listener", "_running", "_socket")

    def __init__(self, hub: Hub, listener: SocketHandler, socket: Socket) -> None:
        self._hub, self._listener, self._socket = hub, listener, socket
        # Most sockets are silent most of the time, so these are made when they are needed. The value says whether the
        # task is a command, which goes on when the socket ends.
        self._running: dict[asyncio.Task[None], bool] | None = None
        self._joining: dict[str, asyncio.Task[None]] | None = None

    async def take_text(self, text: str) -> None:
        """A text message came. Waits while too many commands are under way, and the browser with it."""
        limits, socket = self._hub.limits, self._socket
        size = len(text) if text.isascii() else len(text.encode())
        self._count(size)
        if size > limits.text:
            self._wrong(PayloadTooLarge(f"A message may have {limits.text} bytes. Send less.", limit=limits.text))
            return
        try:
            message = _decoder.decode(text)
        except (msgspec.DecodeError, RecursionError) as unreadable:
            self._wrong(InvalidRequest(f"The message could not be read: {unreadable}"))
            return
        refused = self._over(socket.passing if isinstance(message, Pass) else socket.commands)
        if refused is not None:
            self._refuse(message.id if isinstance(message, Join | Do) else None, refused.problem)
            return
        await self._hand_on(message)

    async def take_binary(self, payload: bytes) -> None:
        """A binary message came: two bytes of its channel number, and what it is."""
        limits, socket = self._hub.limits, self._socket
        self._count(len(payload))
        if len(payload) - 2 > limits.binary:
            self._wrong(PayloadTooLarge(f"A message may have {limits.binary} bytes. Send less.", limit=limits.binary))
            return
        if len(payload) < 2:
            self._wrong(InvalidRequest("A binary message begins with two bytes of its channel number."))
            return
        refused = self._over(socket.passing)
        if refused is not None:
            self._refuse(None, refused.problem)
            return
        topic = self._hub.topic_of(socket, int.from_bytes(payload[:2]))
        if topic is None:
            # It may have been on its way when the topic was left, so it costs no more than sense.
            self._refuse(None, NotFound("You have not joined the topic of this channel.").problem)
            return
        await self._at_once(topic, lambda: self._listener.binary(socket, topic, payload[2:]))

    async def end(self) -> list[asyncio.Task[None]]:
        """The socket has ended: nothing is joined any more. Gives the commands that are still under way."""
        running = self._running or {}
        moving = [task for task, goes_on in running.items() if not goes_on]
        for task in moving:
            task.cancel()
        if moving:
            await asyncio.wait(moving)
        return [task for task, goes_on in running.items() if goes_on]

    async def _hand_on(self, message: FromBrowser) -> None:
        match message:
            case Join():
                await self._start(self._join(message, self._joins(message.to)), joins=message.to)
            case Leave():
                await self._start(self._leave(message, self._joins(message.to)), joins=message.to)
            case Do():
                await self._start(self._do(message, self._joins(message.to)), goes_on=True)
            case Pass():
                await self._at_once(message.to, lambda: self._listener.passed(self._socket, message))

    async def _join(self, asked: Join, before: asyncio.Task[None] | None) -> None:
        if await self._still_there(before):
            try:
                await self._listener.join(self._socket, asked)
            except Exception as failed:  # noqa: BLE001 - it is logged, and the browser is told
                self._refuse(asked.id, _problem(failed, asked.to))

    async def _leave(self, asked: Leave, before: asyncio.Task[None] | None) -> None:
        if await self._still_there(before):
            try:
                await self._listener.leave(self._socket, asked)
            except Exception as failed:  # noqa: BLE001 - it is logged, and the browser is told
                self._refuse(None, _problem(failed, asked.to))

    async def _do(self, asked: Do, before: asyncio.Task[None] | None) -> None:
        if await self._still_there(before):
            try:
                answer = await self._listener.do(self._socket, asked)
            except Exception as failed:  # noqa: BLE001 - it is logged, and the browser is told
                self._refuse(asked.id, _problem(failed, asked.to))
            else:
                result = None if answer is None else msgspec.Raw(answer)
                self._hub.send(self._socket, Done(id=asked.id, result=result))

    async def _at_once(self, topic: str, act: Callable[[], None]) -> None:
        """Do something that does not wait, after whatever else moves in or out of the topic just now."""
        before = self._joins(topic)
        if before is None:
            self._act(topic, act)
        else:
            await self._start(self._act_later(topic, act, before), joins=topic)

    async def _act_later(self, topic: str, act: Callable[[], None], before: asyncio.Task[None]) -> None:
        if await self._still_there(before):
            self._act(topic, act)

    def _act(self, topic: str, act: Callable[[], None]) -> None:
        try:
            act()
        except RequestError:
            pass  # nobody waits for an answer
        except Exception as failed:  # noqa: BLE001 - it is logged, and the browser is told
            self._refuse(None, _problem(failed, topic))

    async def _start(self, work: Coroutine[None, None, None], joins: str | None = None, goes_on: bool = False) -> None:
        """Let something run beside the reading, which waits while there is too much under way."""
        running = self._running = self._running or {}
        task = asyncio.get_running_loop().create_task(work)
        running[task] = goes_on
        task.add_done_callback(self._ended)
        if joins is not None:
            self._joining = self._joining or {}
            self._joining[joins] = task
        while len(running) >= self._hub.limits.running:
            await asyncio.wait(list(running), return_when=asyncio.FIRST_COMPLETED)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if self._running is not None:
            self._running.pop(task, None)
            self._running = self._running or None
        if self._joining is not None:
            self._joining = {topic: joining for topic, joining in self._joining.items() if joining is not task} or None

    def _joins(self, topic: str) -> asyncio.Task[None] | None:
        return None if self._joining is None else self._joining.get(topic)

    async def _still_there(self, before: asyncio.Task[None] | None) -> bool:
        if before is not None:
            await asyncio.wait([before])
        return not self._socket.closed

    def _count(self, size: int) -> None:
        self._hub.counts.messages_in += 1
        self._hub.counts.bytes_in += size

    def _over(self, allowance: TokenBucket, price: float = 1) -> RateLimited | None:
        """What to say to somebody who sends too much; whoever goes on nevertheless is closed."""
        wait = allowance.take(self._hub.clock.now(), price)
        if wait == 0:
            return None
        self._hub.counts.refused += 1
        if allowance.overdrawn:
            self._hub.close(self._socket, _POLICY_VIOLATION, "Too many messages.")
        return RateLimited("Too many messages. Wait a moment.", retry_after=round(wait, 3))

    def _wrong(self, refused: RequestError) -> None:
        """Nonsense is answered, and costs more than sense."""
        over = self._over(self._socket.commands, _NONSENSE)
        self._refuse(None, (over or refused).problem)

    def _refuse(self, number: int | None, problem: Problem) -> None:
        answer = Wrong(error=problem) if number is None else No(id=number, error=problem)
        self._hub.send(self._socket, answer)


def _problem(failed: Exception, topic: str) -> Problem:
    if isinstance(failed, RequestError):
        return failed.problem
    reference = secrets.token_hex(6)
    _log.error("A message could not be dealt with.", reference=reference, topic=topic, exc_info=failed)
    return Problem("internal", "Something broke on our side. The server's log has it.", {"reference": reference})
