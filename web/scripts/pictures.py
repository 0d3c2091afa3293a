"""Renders pictures.html and writes the icons and the preview card into public/, where they are committed.

Run it after the mark, the wood or an object of the home page has changed: `.venv/bin/python web/scripts/pictures.py`.
"""

import re
import subprocess
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

WEB = Path(__file__).parents[1]
ICONS = (("plain", 192, "icon-192"), ("plain", 512, "icon-512"), ("maskable", 512, "maskable-512"))
APPLE = ("apple", 180, "apple-touch-icon")


def main() -> None:
    """Start Vite, write every picture, stop Vite."""
    vite = subprocess.Popen(
        ["sh", str(WEB.parent / "scripts/node.sh"), "node", "node_modules/vite/bin/vite.js", "--host", "127.0.0.1"],
        cwd=WEB,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        write_pictures(address_of(vite))
    finally:
        vite.terminate()
        vite.wait()


def address_of(vite: "subprocess.Popen[str]") -> str:
    """The address that Vite prints when it listens."""
    assert vite.stdout is not None
    for line in vite.stdout:
        uncoloured = re.sub(r"\x1b\[[0-9;]*m", "", line)
        if match := re.search(r"http://127\.0\.0\.1:\d+/", uncoloured):
            return match[0]
    raise SystemExit("Vite ended before it listened. Run `make setup`, then try again.")


def write_pictures(address: str) -> None:
    """Write every picture."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu", "--no-first-run"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 2400})
        page.goto(f"{address}pictures.html")
        page.locator("#card").wait_for()
        page.wait_for_load_state("networkidle")
        for shape, size, name in (*ICONS, APPLE):
            write_icon(page, shape, size, WEB / f"public/icons/{name}.png")
        page.locator("#card").screenshot(path=WEB / "public/static/card.png")
        browser.close()


def write_icon(page: Page, shape: str, size: int, path: Path) -> None:
    """Write one icon in one size, transparent where it has no colour."""
    page.evaluate(
        "([id, size]) => { for (const name of ['width', 'height']) "
        "document.getElementById(id).setAttribute(name, size) }",
        [shape, size],
    )
    page.locator(f"#{shape}").screenshot(path=path, omit_background=True)


if __name__ == "__main__":
    main()
