"""An overlay on a screen, the room that it shows, and a crowd that talks there."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import httpx
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, ViewportSize, WebSocketRoute

from tests.e2e.browser import PATIENCE
from tests.e2e.server_process import ServerProcess
from tests.e2e.socket_client import SocketClient, crowd

AT_ONCE = 5
"""How many comments somebody may write without waiting."""

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
    """A room with its host, and a crowd that comes to it."""

    def __init__(self, house: ServerProcess) -> None:
        self.house = house
        self.host = httpx.Client(base_url=house.url, headers={"Origin": house.url}, timeout=20)
        self.view: dict[str, Any] = self._post("/api/live/rooms", {"name": "Types"})
        self.path = f"/api/live/rooms/{self.view['roomId']}"
        self._crowd = ThreadPoolExecutor(1)
        self._said = 0

    def say(self, content: str, nickname: str | None = None) -> str:
        """Write a comment and give its id."""
        self._said += 1
        if self._said % AT_ONCE == 0:
            self.house.push_clock(AT_ONCE)
        named = {} if nickname is None else {"nickname": nickname}
        return self._post(f"{self.path}/comments", {"content": content, **named})["commentId"]

    def mark(self, comment_id: str, mark: str, *, on: bool = True) -> None:
        """Hide or pin a comment, or take that back."""
        self._post(f"{self.path}/acts", {"k": "mark", "commentId": comment_id, "mark": mark, "on": on})

    def end(self) -> None:
        """Close the room."""
        self._post(f"{self.path}/close", None)

    def crowd(self, people: int, does: Callable[[Sequence[SocketClient]], Awaitable[None]]) -> "Future[None]":
        """Let many come with their phones and do something, while the page is watched."""

        async def come() -> None:
            async with crowd(self.house.url, self.view["roomId"], people) as phones:
                await does(phones)

        # Playwright has the event loop of this thread.
        return self._crowd.submit(asyncio.run, come())

    def leave(self) -> None:
        """The host goes home, and so does the crowd."""
        self.host.close()
        self._crowd.shutdown()

    def _post(self, path: str, body: object) -> Any:
        answer = self.host.post(path, json=body)
        assert answer.status_code < 300, answer.text
        return answer.json()


class Screen:
    """An overlay that is open somewhere; what it complains about is an error. In a train it can lose its connection."""

    def __init__(
        self, browser: Browser, room: Room, query: str = "", *, still: bool = False, in_a_train: bool = False
    ) -> None:
        size: ViewportSize = {"width": 1280, "height": 720}
        motion = "reduce" if still else "no-preference"
        self._context = browser.new_context(viewport=size, locale="en", reduced_motion=motion)
        self._context.set_default_timeout(PATIENCE)
        self.page: Page = self._context.new_page()
        self._complaints: list[str] = []
        self._lines: list[WebSocketRoute] = []
        self._away = False
        self.page.on("pageerror", lambda problem: self._complaints.append(str(problem)))
        self.page.on("dialog", lambda dialog: self._complaints.append(dialog.message))
        self.page.on("console", self._heard)
        if in_a_train:
            self.page.route_web_socket(re.compile("/socket$"), self._connect)
        self.page.goto(f"{room.house.url}/live/{room.view['roomId']}/overlay{query}")
        # Joined: what is said from now on flies.
        self.page.wait_for_selector("#stage[data-joined]", state="attached")

    @property
    def flights(self) -> Locator:
        """What is on its way."""
        return self.page.locator("#stage > .flight")

    def drop(self, *, away: bool) -> None:
        """Lose the connection, and with `away` every further one until it is dropped again."""
        self._away = away
        for line in self._lines:
            line.close(code=1001)
        self._lines.clear()

    def faster(self, rate: float) -> None:
        """Let the stage move faster than life; all its times are the document's timeline's."""
        session = self._context.new_cdp_session(self.page)
        session.send("Animation.enable")
        session.send("Animation.setPlaybackRate", {"playbackRate": rate})

    def close(self) -> None:
        """Turn it off."""
        self._context.close()
        assert self._complaints == []

    def _connect(self, line: WebSocketRoute) -> None:
        if self._away:
            line.close(code=1001)
            return
        line.connect_to_server()
        self._lines.append(line)

    def _heard(self, line: ConsoleMessage) -> None:
        if "Content Security Policy" in line.text:
            self._complaints.append(line.text)
