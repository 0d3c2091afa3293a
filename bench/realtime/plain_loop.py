"""The peer: Starlette on uvicorn's own sans-I/O connections, with the plain broadcast loop."""

import sys

import uvicorn
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

sockets: set[WebSocket] = set()


async def room(socket: WebSocket) -> None:
    """Send every message of a client to all clients."""
    await socket.accept()
    sockets.add(socket)
    try:
        while True:
            text = await socket.receive_text()
            for member in list(sockets):
                await member.send_text(text)
    except WebSocketDisconnect:
        pass
    finally:
        sockets.discard(socket)


def main(port: int) -> None:
    """Serve until stopped. Without pings, which the load client would count, and without compression."""
    uvicorn.run(
        Starlette(routes=[WebSocketRoute("/socket", room)]),
        port=port,
        loop="uvloop",
        lifespan="off",
        log_level="warning",
        ws="websockets-sansio",
        ws_ping_interval=None,
        ws_per_message_deflate=False,
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
