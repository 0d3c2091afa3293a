"""The application, wired once."""

from pathlib import Path

from litestar import Litestar
from litestar.datastructures import CacheControlHeader, State
from litestar.exceptions import HTTPException
from litestar.static_files import (
    create_static_files_router,  # pyright: ignore[reportUnknownVariableType]  Litestar leaves PathLike open
)

from zataku.server.errors import answer_failure, answer_refusal
from zataku.server.headers import add_safe_headers
from zataku.server.health import healthz
from zataku.server.settings import Settings
from zataku.server.start_page import start_page

STATIC_DIRECTORY = Path(__file__).parent / "static"


def create_app(settings: Settings) -> Litestar:
    """Everything that answers requests, built from what the host set."""
    static_files = create_static_files_router(
        path="/static", directories=[STATIC_DIRECTORY], cache_control=CacheControlHeader(max_age=300)
    )
    return Litestar(
        route_handlers=[start_page, healthz, static_files],
        exception_handlers={HTTPException: answer_refusal, Exception: answer_failure},
        before_send=[add_safe_headers],
        state=State({"settings": settings}),
        openapi_config=None,
        # Failures are logged once, where they are answered.
        logging_config=None,
    )
