"""Debian's Chromium, driven as a person drives a browser."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Literal

import pytest
import zxingcpp
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Locator, Page, sync_playwright

PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 900}
PATIENCE = 20_000
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser; a test that needs it is skipped where it is not installed."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed: make system installs it, as root on Debian.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


class Visitor:
    """Somebody with a browser of their own: no cookies, a language, a screen."""

    def __init__(
        self,
        browser: Browser,
        url: str,
        *,
        screen: dict[str, int] = DESK,
        language: str = "en",
        scheme: Literal["light", "dark"] = "light",
    ) -> None:
        self.url = url
        self.context: BrowserContext = browser.new_context(
            viewport={"width": screen["width"], "height": screen["height"]},
            locale=language,
            color_scheme=scheme,
            reduced_motion="reduce",
            accept_downloads=True,
        )
        self.context.set_default_timeout(PATIENCE)
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("pageerror", lambda problem: self.complaints.append(str(problem)))
        self.page.on(
            "console",
            lambda line: self.complaints.append(line.text) if "Content Security Policy" in line.text else None,
        )

    def open(self, path: str) -> Page:
        """Go to a page, and wait until it is there."""
        self.page.goto(f"{self.url}{path}", wait_until="load")
        self.page.locator("h1").first.wait_for()
        return self.page

    def cookie(self, name: str) -> str | None:
        """What the browser keeps under a name."""
        return next((it["value"] for it in self.context.cookies() if it.get("name") == name), None)  # pyright: ignore[reportReturnType]

    def close(self) -> None:
        """Leave. Whatever the pages complained about meanwhile is an error."""
        self.context.close()
        assert self.complaints == []


def scanned(picture: Locator) -> str:
    """What a QR code says, as a phone's camera reads it off the screen."""
    deadline = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < deadline:
        found = zxingcpp.read_barcodes(Image.open(BytesIO(picture.screenshot())))
        if found:
            return found[0].text
    raise AssertionError("No QR code can be read there.")
