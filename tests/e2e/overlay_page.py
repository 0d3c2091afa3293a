"""The overlay of a live room in a browser, and the room that it shows, with its host and clients."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import httpx
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, ViewportSize, WebSocketRoute

from tests.e2e.browser import TIMEOUT_MS
from tests.e2e.server_process import ServerProcess
from tests.e2e.socket_client import SocketClient, connected_clients

COMMENT_BURST = 5
"""How many comments one client may post without waiting."""

# Runs in the page: records the comments that have flown, and in each frame any two that overlap.
OBSERVER = """
() => {
  const observed = (window.observed = { flown: {}, overlaps: [], maxFlying: 0, frames: 0, wideBoxes: 0 })
  const flights = () => [...document.querySelectorAll('#stage > .flight')]
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes)
      for (const node of addedNodes)
        if (node.className === 'flight') observed.flown[node.dataset.comment] = node.textContent
  }).observe(document.getElementById('stage'), { childList: true })
  const check = () => {
    const boxes = flights().map((flight) => ({ flight, box: flight.getBoundingClientRect() }))
    observed.frames += 1
    observed.maxFlying = Math.max(observed.maxFlying, boxes.length)
    for (const [index, { flight, box }] of boxes.entries()) {
      if (box.width > innerWidth) observed.wideBoxes += 1
      for (const other of boxes.slice(index + 1)) {
        const isBeside = box.right <= other.box.left || other.box.right <= box.left
        if (!isBeside && box.bottom > other.box.top && other.box.bottom > box.top)
          observed.overlaps.push([flight.textContent.slice(0, 20), other.flight.textContent.slice(0, 20)])
      }
    }
    requestAnimationFrame(check)
  }
  requestAnimationFrame(check)
}
"""


# Runs in the page: counts the waves and seals that appear.
WAVE_COUNTER = """
() => {
  window.waves = 0
  const count = (node) => (waves += node.matches('.wave, .bravo'))
  const countAdded = (changes) => changes.forEach(({ addedNodes }) => addedNodes.forEach(count))
  new MutationObserver(countAdded).observe(stage, { childList: true })
}
"""


class Room:
    """A room with its host, and clients that join it."""

    def __init__(self, server: ServerProcess, name: str = "Types") -> None:
        self.server = server
        self.host, self.guest = (
            httpx.Client(base_url=server.url, headers={"Origin": server.url}, timeout=20) for _ in range(2)
        )
        self.view: dict[str, Any] = self._post("/api/live/rooms", {"name": name})
        self.path = f"/api/live/rooms/{self.view['roomId']}"
        self._executor = ThreadPoolExecutor(1)
        self._comment_count = 0

    def post_comment(self, content: str, nickname: str | None = None, *, by_host: bool = False) -> str:
        """Post a comment, as a guest or as the host. Returns its id."""
        self._comment_count += 1
        if self._comment_count % COMMENT_BURST == 0:
            self.server.advance_clock(COMMENT_BURST)
        optional = {} if nickname is None else {"nickname": nickname}
        sender = self.host if by_host else self.guest
        return self._post(f"{self.path}/comments", {"content": content, **optional}, sender)["commentId"]

    def mark(self, comment_id: str, mark: str, *, on: bool = True) -> None:
        """Set a mark on a comment, or remove it."""
        self._post(f"{self.path}/acts", {"k": "mark", "commentId": comment_id, "mark": mark, "on": on})

    def pause(self) -> None:
        """Pause its comments."""
        self._post(f"{self.path}/acts", {"k": "pause"})

    def end(self) -> None:
        """Close the room."""
        self._post(f"{self.path}/close", None)

    def run_clients(self, count: int, action: Callable[[Sequence[SocketClient]], Awaitable[None]]) -> "Future[None]":
        """Connect clients and run an action with them in another thread."""

        async def run() -> None:
            async with connected_clients(self.server.url, self.view["roomId"], count) as clients:
                await action(clients)

        # Playwright uses the event loop of this thread.
        return self._executor.submit(asyncio.run, run())

    def close(self) -> None:
        """Close the connections of the host, the guest and the clients."""
        self.host.close()
        self.guest.close()
        self._executor.shutdown()

    def _post(self, path: str, body: object, sender: httpx.Client | None = None) -> Any:
        response = (sender or self.host).post(path, json=body)
        assert response.status_code < 300, response.text
        return response.json()


class Screen:
    """An overlay in a browser. Errors of its page fail the test. With `can_disconnect` its socket can be closed."""

    def __init__(
        self, browser: Browser, room: Room, query: str = "", *, still: bool = False, can_disconnect: bool = False
    ) -> None:
        size: ViewportSize = {"width": 1280, "height": 720}
        motion = "reduce" if still else "no-preference"
        self._context = browser.new_context(viewport=size, locale="en", reduced_motion=motion)
        self._context.set_default_timeout(TIMEOUT_MS)
        self.page: Page = self._context.new_page()
        self._errors: list[str] = []
        self._sockets: list[WebSocketRoute] = []
        self._is_offline = False
        self.page.on("pageerror", lambda problem: self._errors.append(str(problem)))
        self.page.on("dialog", lambda dialog: self._errors.append(dialog.message))
        self.page.on("console", self._on_console)
        if can_disconnect:
            self.page.route_web_socket(re.compile("/socket$"), self._connect)
        self.page.goto(f"{room.server.url}/live/{room.view['roomId']}/overlay{query}")
        # Comments fly once the overlay has joined.
        self.page.wait_for_selector("#stage[data-joined]", state="attached")

    @property
    def flights(self) -> Locator:
        """The comments in flight."""
        return self.page.locator("#stage > .flight")

    def disconnect(self, *, stay_offline: bool) -> None:
        """Close the socket, and with `stay_offline` every further one until the next call."""
        self._is_offline = stay_offline
        for socket in self._sockets:
            socket.close(code=1001)
        self._sockets.clear()

    def speed_up(self, rate: float) -> None:
        """Speed up the animations; all of them follow the timeline of the document."""
        session = self._context.new_cdp_session(self.page)
        session.send("Animation.enable")
        session.send("Animation.setPlaybackRate", {"playbackRate": rate})

    def close(self) -> None:
        """Close the page."""
        self._context.close()
        assert self._errors == []

    def _connect(self, socket: WebSocketRoute) -> None:
        if self._is_offline:
            socket.close(code=1001)
            return
        socket.connect_to_server()
        self._sockets.append(socket)

    def _on_console(self, message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            self._errors.append(message.text)
