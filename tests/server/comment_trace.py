"""Prints the modules that a live comment passes through, from a WebSocket to the disk and to the other WebSockets.

A program of its own, since it profiles every thread of a server: the test beside it starts it. A module is on the path
when it is on the call stack at a point where the comment is handed on: to the room's actor, to the queue of the writer
thread, to SQLite, and to the sockets. The rules and the declared write are pure steps on the way. Modules that only
wait for the connection or for the room's task are left out.
"""

import asyncio
import json
import os
import socket
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect

import zataku
from zataku.server.settings import Settings

SOURCE = f"{Path(zataku.__file__).parent}{os.sep}"
HANDED_ON = (
    "realtime/sockets/protocol",
    "realtime/sockets/session",
    "realtime/rooms/actor",
    "table/embedded/queue",
    "realtime/sockets/flush_queue",
)
"""Modules each of whose calls is a point where the comment is handed on."""
PURE_STEPS = ("live/rules/comments", "live/writes")
"""Modules that the comment passes without being handed on by them."""
SQLITE_CALLS = {"execute", "executemany"}
"""C functions at the end of the way to the disk."""
WAITING = ("server/",)
"""Packages that only wait for the connection while messages pass."""
ACTOR_TASK = ("realtime/rooms/actor", "run")
"""The body of the room's task; its callers wait for it to end."""
COMMENTS = 8
LIMIT_SECONDS = 20


class Recorder:
    """Collects the modules on the call stack at the points of interest while it is recording."""

    def __init__(self) -> None:
        self.is_recording = False
        self.modules: list[str] = []

    def profile(self, frame: FrameType, event: str, arg: Any) -> None:
        """The hook of `sys.setprofile`."""
        if not self.is_recording or event not in ("call", "c_call"):
            return
        module = module_of(frame)
        if module in PURE_STEPS:
            self.modules.append(module)
        elif module in HANDED_ON if event == "call" else module and getattr(arg, "__name__", "") in SQLITE_CALLS:
            self.modules += stack_of(frame)


def module_of(frame: FrameType) -> str | None:
    """The module of a frame as `table/store/store`; None for a module outside of the package."""
    path = frame.f_code.co_filename
    return path[len(SOURCE) : -len(".py")] if path.startswith(SOURCE) else None


def stack_of(frame: FrameType | None) -> list[str]:
    """The modules of the package on a call stack, outermost first, without those that only wait for the task to end."""
    modules: list[str] = []
    while frame is not None:
        module = module_of(frame)
        if module is not None and not module.startswith(WAITING):
            modules.append(module)
        if (module, frame.f_code.co_name) == ACTOR_TASK:
            break
        frame = frame.f_back
    return modules[::-1]


async def open_client(url: str) -> tuple[httpx.AsyncClient, ClientConnection]:
    """A guest with a socket; waits until the server is ready."""
    http = httpx.AsyncClient(base_url=url, headers={"Origin": url}, timeout=LIMIT_SECONDS)
    (await http.get("/api/me")).raise_for_status()
    cookie = "; ".join(f"{name}={value}" for name, value in http.cookies.items())
    return http, await connect(
        f"{url.replace('http', 'ws', 1)}/socket", additional_headers={"Cookie": cookie}, origin=url
    )


async def wait_for(connection: ClientConnection, *tags: str) -> None:
    """Read messages until one of each tag has arrived."""
    missing = set(tags)
    while missing:
        message = json.loads(await asyncio.wait_for(connection.recv(), LIMIT_SECONDS))
        missing.discard(message["t"])
        assert message["t"] not in ("refused", "wrong"), message


async def send_comments(url: str, recorder: Recorder) -> list[str]:
    """Send comments one after another; the modules that each of them passes, in the order of the last one."""
    http, receiver = await open_client(url)
    topic = f"live/{(await http.post('/api/live/rooms', json={'name': 'trace'})).json()['roomId']}"
    # One sender for each comment, so that rate limits do not matter.
    senders = [(await open_client(url))[1] for _ in range(COMMENTS)]
    for connection in (receiver, *senders):
        await connection.send(json.dumps({"t": "join", "id": 0, "to": topic}))
        await wait_for(connection, "joined")
    passed: list[list[str]] = []
    for number, sender in enumerate(senders):
        recorder.modules.clear()
        recorder.is_recording = True
        command = {"k": "comment", "content": f"comment {number}"}
        await sender.send(json.dumps({"t": "do", "id": 1, "to": topic, "what": command}))
        await asyncio.gather(wait_for(sender, "done", "events"), wait_for(receiver, "events"))
        recorder.is_recording = False
        passed.append(list(dict.fromkeys(recorder.modules)))
    always = set.intersection(*map(set, passed))
    return [module for module in passed[-1] if module in always]


def main() -> None:
    """Serve in a profiled thread, send comments from this one, print the path."""
    from zataku.server.process.uvicorn_server import run

    recorder = Recorder()
    listening = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data=folder, env="test", demo=False)
        serve: Callable[[], object] = lambda: run(settings, listening, public_url=url, loopback=url)  # noqa: E731
        threading.setprofile(recorder.profile)
        threading.Thread(target=serve, daemon=True).start()
        print(json.dumps(asyncio.run(send_comments(url, recorder))))
        sys.stdout.flush()
        # The server's threads are not waited for: the folder is all that it leaves.
        os._exit(0)


if __name__ == "__main__":
    main()
