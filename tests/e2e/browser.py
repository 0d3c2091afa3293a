"""Debian's Chromium, driven by Playwright."""

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

from zataku.server.pages.page_routes import OWN_PAGES
from zataku.server.systems import SYSTEMS

PAGES = (*OWN_PAGES, *(page.path for system in SYSTEMS for page in system.pages if "{" not in page.path), "/nowhere")
"""The pages without parameters, and a missing one."""
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 900}
TIMEOUT_MS = 20_000
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
    """A visitor with a browser context of their own: no cookies, a language, a screen."""

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
        self.context.set_default_timeout(TIMEOUT_MS)
        self.page: Page = self.context.new_page()
        self.errors: list[str] = []
        self.page.on("pageerror", lambda problem: self.errors.append(str(problem)))
        self.page.on(
            "console",
            lambda message: self.errors.append(message.text) if "Content Security Policy" in message.text else None,
        )

    def open(self, path: str) -> Page:
        """Open a page, and wait until it has rendered."""
        self.page.goto(f"{self.url}{path}", wait_until="load")
        self.page.locator("h1").first.wait_for()
        return self.page

    def cookie(self, name: str) -> str | None:
        """The value of a cookie."""
        return next((cookie["value"] for cookie in self.context.cookies() if cookie.get("name") == name), None)  # pyright: ignore[reportReturnType]

    def close(self) -> None:
        """Close the context. Errors of its pages fail the test."""
        self.context.close()
        assert self.errors == []


def read_qr_code(picture: Locator) -> str:
    """The text of a QR code on a page."""
    deadline = time.monotonic() + TIMEOUT_MS / 1000
    while time.monotonic() < deadline:
        barcodes = zxingcpp.read_barcodes(Image.open(BytesIO(picture.screenshot())))
        if barcodes:
            return barcodes[0].text
    raise AssertionError("No QR code was found.")
