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

# In the page, each frame: which flights are there, and whether two of them touch, wherever they are.
OBSERVER = """
() => {
  const watched = (window.watched = { flown: {}, overlaps: [], most: 0, frames: 0, wide: 0 })
  const flights = () => [...document.querySelectorAll('#stage > .flight')]
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes)
      for (const node of addedNodes)
        if (node.className === 'flight') watched.flown[node.dataset.comment] = node.textContent
  }).observe(document.getElementById('stage'), { childList: true })
  const look = () => {
    const seen = flights().map((it) => ({ it, box: it.getBoundingClientRect() }))
    watched.frames += 1
    watched.most = Math.max(watched.most, seen.length)
    for (const [index, { it, box }] of seen.entries()) {
      if (box.width > innerWidth) watched.wide += 1
      for (const other of seen.slice(index + 1)) {
        const near = other.box
        const beside = box.right <= near.left || near.right <= box.left
        if (!beside && box.bottom > near.top && near.bottom > box.top)
          watched.overlaps.push([it.textContent.slice(0, 20), other.it.textContent.slice(0, 20)])
      }
    }
    requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}
"""


# In the page: how often a wave or a seal appeared.
COUNTER = """
() => {
  window.waves = 0
  const count = (node) => (waves += node.matches('.wave, .bravo'))
  new MutationObserver((all) => all.forEach((it) => it.addedNodes.forEach(count))).observe(stage, { childList: true })
}
"""


class Room:
    """A room with its host, and clients that join it."""

    def __init__(self, server: ServerProcess) -> None:
        self.server = server
        self.host = httpx.Client(base_url=server.url, headers={"Origin": server.url}, timeout=20)
        self.view: dict[str, Any] = self._post("/api/live/rooms", {"name": "Types"})
        self.path = f"/api/live/rooms/{self.view['roomId']}"
        self._executor = ThreadPoolExecutor(1)
        self._comment_count = 0

    def post_comment(self, content: str, nickname: str | None = None) -> str:
        """Write a comment and give its id."""
        self._comment_count += 1
        if self._comment_count % COMMENT_BURST == 0:
            self.server.advance_clock(COMMENT_BURST)
        named = {} if nickname is None else {"nickname": nickname}
        return self._post(f"{self.path}/comments", {"content": content, **named})["commentId"]

    def mark(self, comment_id: str, mark: str, *, on: bool = True) -> None:
        """Hide or pin a comment, or take that back."""
        self._post(f"{self.path}/acts", {"k": "mark", "commentId": comment_id, "mark": mark, "on": on})

    def end(self) -> None:
        """Close the room."""
        self._post(f"{self.path}/close", None)

    def run_clients(self, count: int, does: Callable[[Sequence[SocketClient]], Awaitable[None]]) -> "Future[None]":
        """Connect many clients and let them do something, while the page is observed."""

        async def run() -> None:
            async with connected_clients(self.server.url, self.view["roomId"], count) as clients:
                await does(clients)

        # Playwright has the event loop of this thread.
        return self._executor.submit(asyncio.run, run())

    def close(self) -> None:
        """Close the connections of the host and the clients."""
        self.host.close()
        self._executor.shutdown()

    def _post(self, path: str, body: object) -> Any:
        answer = self.host.post(path, json=body)
        assert answer.status_code < 300, answer.text
        return answer.json()


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
        # Joined: what is said from now on flies.
        self.page.wait_for_selector("#stage[data-joined]", state="attached")

    @property
    def flights(self) -> Locator:
        """The comments that fly at the moment."""
        return self.page.locator("#stage > .flight")

    def disconnect(self, *, stay_offline: bool) -> None:
        """Close the socket, and with `stay_offline` every further one until the next call."""
        self._is_offline = stay_offline
        for line in self._sockets:
            line.close(code=1001)
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

    def _connect(self, line: WebSocketRoute) -> None:
        if self._is_offline:
            line.close(code=1001)
            return
        line.connect_to_server()
        self._sockets.append(line)

    def _on_console(self, line: ConsoleMessage) -> None:
        if "Content Security Policy" in line.text:
            self._errors.append(line.text)
