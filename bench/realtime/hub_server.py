"""Our server: the hub, the protocol and the sessions as they ship, with the smallest handler that broadcasts."""

import sys
from random import Random

import msgspec
import uvicorn

from bench.realtime.messages import ROOM
from zataku.clock import SystemClock
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.messages import CommandMessage, Join, Joined, Leave, TransientBroadcast, TransientMessage
from zataku.realtime.sockets.hub import Hub
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.session import Endpoint, Receive, Send, uvicorn_options
from zataku.realtime.sockets.socket import Socket

# All sockets have one address here, and the load client counts bytes, so no heartbeat may come between the messages.
LIMITS = SocketLimits(
    max_sockets_per_account=1_000_000,
    max_sockets_per_address=1_000_000,
    address_join_burst=1_000_000,
    address_transient_burst=1_000_000_000,
    heartbeat_seconds=3600,
    ping_seconds=3600,
)
IDENTITY = Identity(account_id=AccountId("00000000-0000-4000-8000-000000000000"), role="guest", language="en")


class BroadcastHandler:
    """Broadcasts every transient command to its topic."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def join(self, socket: Socket, message: Join) -> None:
        channel = self._hub.subscribe(socket, message.to)
        self._hub.send(socket, Joined(id=message.id, to=message.to, channel=channel))

    async def leave(self, socket: Socket, message: Leave) -> None:
        self._hub.unsubscribe(socket, message.to)

    async def execute(self, socket: Socket, message: CommandMessage) -> None:
        pass

    def handle_transient(self, _: Socket, message: TransientMessage) -> None:
        self._hub.broadcast(message.to, msgspec.json.encode(TransientBroadcast(to=message.to, events=[message.what])))

    def handle_binary(self, _: Socket, topic: str, payload: bytes) -> None:
        self._hub.broadcast_binary(topic, payload)

    async def catch_up(self, _socket: Socket, _topic: str) -> None:
        sys.exit("A reader fell behind: the load client is too slow to measure anything.")

    def disconnected(self, socket: Socket) -> None:
        pass


class Application:
    """An ASGI application that serves sockets only."""

    def __init__(self) -> None:
        self._hub = Hub(SystemClock(), Random(0), LIMITS)
        self._handler = BroadcastHandler(self._hub)
        self._endpoint = Endpoint(self._hub, self._handler)
        self._started = False

    async def __call__(self, scope: dict[str, object], receive: Receive, send: Send) -> None:
        if not self._started:
            self._started = True
            await self._hub.start(self._handler.catch_up)
        await self._endpoint.serve(scope, receive, send, identity=IDENTITY, address=ROOM)


def main(port: int) -> None:
    """Serve until stopped."""
    uvicorn.run(Application(), port=port, loop="uvloop", lifespan="off", log_level="warning", **uvicorn_options(LIMITS))


if __name__ == "__main__":
    main(int(sys.argv[1]))
