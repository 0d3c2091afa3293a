"""An application in this process, opened once for the tests of a module, and HTTP clients of it."""

import gzip
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
import pytest_asyncio

from tests.support.manual_clock import ManualClock
from zataku.accounts.rate_limits import RATE_LIMITS, RateLimitName
from zataku.server.settings import Settings

if TYPE_CHECKING:
    from zataku.server.app import Application

PUBLIC = "http://zataku.local:8000"
MANIFEST = {
    "src/main.ts": {"file": "assets/main-1.js", "css": ["assets/main-1.css"], "imports": ["_shared.js"]},
    "_shared.js": {"file": "assets/shared-1.js", "css": ["assets/shared-1.css"]},
    "src/overlay/main.ts": {
        "file": "assets/overlay-1.js",
        "css": ["assets/overlay-1.css"],
        "imports": ["_socket.js"],
    },
    "_socket.js": {"file": "assets/socket-1.js"},
    "src/texts/ja.ts": {"file": "assets/ja-1.js", "isDynamicEntry": True},
    "src/pages/home/Page.svelte": {"file": "assets/Page-1.js", "css": ["assets/Page-1.css"], "imports": ["_shared.js"]},
}
SCRIPT = b"export const table = 'wood'\n" * 100


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build as Vite leaves it."""
    folder = tmp_path_factory.mktemp("web")
    for name in ("assets", "icons", "static", ".vite"):
        (folder / name).mkdir()
    (folder / ".vite" / "manifest.json").write_text(json.dumps(MANIFEST))
    (folder / "assets" / "main-1.js").write_bytes(SCRIPT)
    (folder / "assets" / "main-1.js.gz").write_bytes(gzip.compress(SCRIPT))
    (folder / "assets" / "main-1.js.br").write_bytes(b"brotli")
    (folder / "static" / "card.png").write_bytes(b"\x89PNG")
    (folder / "manifest.webmanifest").write_text("{}")
    return folder


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def application(tmp_path_factory: pytest.TempPathFactory, web: Path) -> AsyncIterator["Application"]:
    """The application, with a clock that can be advanced."""
    # Imported only by tests that need all of it.
    from zataku.server.app import open_application

    settings = Settings(data=str(tmp_path_factory.mktemp("data")), env="test", demo=False, metrics_token="prometheus")
    async with open_application(
        settings, public_url=PUBLIC, loopback="http://127.0.0.1:8000", web_folder=web
    ) as opened:
        yield opened


MakeClient = Callable[..., httpx.AsyncClient]
PASSWORD = "a long enough one"


async def sign_up(browser: httpx.AsyncClient, name: str) -> None:
    """Sign a browser up under a name."""
    created = await browser.post("/api/accounts", json={"name": name, "password": PASSWORD})
    assert created.status_code == 201, created.text


async def create_key(browser: httpx.AsyncClient, *scopes: str) -> httpx.Response:
    """The response to the request for an API key of a signed-in browser."""
    return await browser.post("/api/keys", json={"password": PASSWORD, "label": "robot", "scopes": scopes})


@pytest_asyncio.fixture(loop_scope="module")
async def make_client(application: "Application") -> AsyncIterator[MakeClient]:
    """Makes HTTP clients of the application, each with an address and cookies of its own."""
    clients: list[httpx.AsyncClient] = []

    def make_client(address: str = "192.168.1.5", base: str = PUBLIC, **headers: str) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(app=application.app, client=(address, 50000), raise_app_exceptions=False)  # type: ignore[arg-type]
        client = httpx.AsyncClient(transport=transport, base_url=base, headers=headers)
        clients.append(client)
        return client

    yield make_client
    for client in clients:
        await client.aclose()


@pytest.fixture
def browser(make_client: MakeClient) -> httpx.AsyncClient:
    """A client with the headers of a browser on a page of the server."""
    accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    return make_client(accept=accept, origin=PUBLIC, **{"accept-language": "ja"})


ExhaustRateLimit = Callable[[RateLimitName, str], None]


@pytest.fixture
def exhaust_rate_limit(application: "Application", monkeypatch: pytest.MonkeyPatch) -> ExhaustRateLimit:
    """Uses up a rate limit of an address, while the clock of the limits stands still."""
    rate_limits = application.services.accounts.rate_limits
    monkeypatch.setattr(rate_limits, "_clock", ManualClock(application.services.context.clock.now()))

    def exhaust_rate_limit(name: RateLimitName, address: str) -> None:
        for _ in range(RATE_LIMITS[name].burst):
            rate_limits.consume(name, address)

    return exhaust_rate_limit
