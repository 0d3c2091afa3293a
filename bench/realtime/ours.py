"""Our side: the hub, the connections and the door as they ship, with the smallest listener that can tell a room."""

import sys
from random import Random

import msgspec
import uvicorn

from bench.realtime.talk import ROOM
from zataku.clock import SystemClock
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.messages import Do, Join, Joined, Leave, Pass, Passing
from zataku.realtime.sockets.endpoint import Endpoint, Receive, Send, uvicorn_options
from zataku.realtime.sockets.hub import Hub
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.socket import Socket

# All come from one address here, and the load client counts bytes, so that no beat may come between them.
LIMITS = SocketLimits(per_identity=1_000_000, per_address=1_000_000, beat=3600)
SOMEBODY = Identity(account_id=AccountId("00000000-0000-4000-8000-000000000000"), role="guest", language="en")


class Room:
    """Tells everybody what anybody passes."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def join(self, socket: Socket, asked: Join) -> None:
        channel = self._hub.subscribe(socket, asked.to)
        self._hub.send(socket, Joined(id=asked.id, to=asked.to, channel=channel))

    async def leave(self, socket: Socket, asked: Leave) -> None:
        self._hub.unsubscribe(socket, asked.to)

    async def do(self, socket: Socket, asked: Do) -> None:
        pass

    def passed(self, _: Socket, asked: Pass) -> None:
        self._hub.tell(asked.to, msgspec.json.encode(Passing(to=asked.to, events=[asked.what])))

    def binary(self, _: Socket, topic: str, payload: bytes) -> None:
        self._hub.tell_binary(topic, payload)

    async def behind(self, _socket: Socket, _topic: str) -> None:
        sys.exit("A reader fell behind: the load client is too slow to measure anything.")

    def gone(self, socket: Socket) -> None:
        pass


class Application:
    """ASGI: sockets, and nothing else."""

    def __init__(self) -> None:
        self._hub = Hub(SystemClock(), Random(0), LIMITS)
        self._room = Room(self._hub)
        self._endpoint = Endpoint(self._hub, self._room)
        self._started = False

    async def __call__(self, scope: dict[str, object], receive: Receive, send: Send) -> None:
        if not self._started:
            self._started = True
            await self._hub.start(self._room.behind)
        await self._endpoint.serve(scope, receive, send, identity=SOMEBODY, address=ROOM)


def main(port: int) -> None:
    """Serve until stopped."""
    uvicorn.run(Application(), port=port, loop="uvloop", lifespan="off", log_level="warning", **uvicorn_options(LIMITS))


if __name__ == "__main__":
    main(int(sys.argv[1]))
