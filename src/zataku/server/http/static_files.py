"""Files that pages load: scripts, styles, pictures and icons, compressed ahead where the browser can unpack it."""

import asyncio
import mimetypes
import re
from pathlib import Path
from typing import Any

import msgspec
from litestar import HttpMethod, Request, Response, route
from litestar.datastructures import State
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from zataku.errors import NotFound
from zataku.server.http.authentication import UNATTENDED
from zataku.server.http.compression import takes

STATIC = Path(__file__).parents[1] / "static"
FOLDERS = ("/assets/", "/icons/", "/static/")
"""Where files lie, of which a page needs many."""
FOR_EVER = "public, max-age=31536000, immutable"
"""For files that have the hash of their content in their name."""
FOR_AN_HOUR = "public, max-age=3600"
TYPES = {".webmanifest": "application/manifest+json", ".js": "text/javascript", ".svg": "image/svg+xml"}
ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,119}")
_MOST_HELD = 300


class Lying(msgspec.Struct, frozen=True):
    """A file as it lies on the shelf."""

    body: bytes
    encoding: str | None = None


class StaticFiles:
    """Folders that files are looked for in, the first one first. Nothing outside of them can be reached."""

    def __init__(self, *folders: Path) -> None:
        self._folders = folders
        self._held: dict[tuple[str, ...], Lying] = {}

    async def fetch(self, names: tuple[str, ...], accepted: str) -> Lying | None:
        """The file of that path, in the smallest form that the browser takes."""
        if not all(map(_NAME.fullmatch, names)):
            return None
        suffixes = [(encoding, suffix) for encoding, suffix in ENCODINGS if takes(accepted, encoding)]
        key = (*names, *(encoding for encoding, _ in suffixes))
        lying = self._held.get(key)
        if lying is None:
            lying = await asyncio.to_thread(self._look, names, suffixes)
            # Only what never changes under its name is held in memory.
            if lying is not None and names[0] == "assets" and len(self._held) < _MOST_HELD:
                self._held[key] = lying
        return lying

    def _look(self, names: tuple[str, ...], suffixes: list[tuple[str, str]]) -> Lying | None:
        for folder in self._folders:
            path = folder.joinpath(*names)
            for encoding, suffix in (*suffixes, (None, "")):
                try:
                    return Lying(path.with_name(path.name + suffix).read_bytes(), encoding)
                except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
                    continue
        return None


def static_file_routes(shelf: StaticFiles) -> tuple[ControllerRouterHandler, ...]:
    """The handlers of all files."""
    both = [HttpMethod.GET, HttpMethod.HEAD]

    async def give(request: Request[Any, Any, State], *names: str) -> Response[bytes]:
        lying = await shelf.fetch(names, request.headers.get("accept-encoding", ""))
        if lying is None:
            raise NotFound("There is no such file. Load the page anew.")
        headers = {"Cache-Control": FOR_EVER if names[0] == "assets" else FOR_AN_HOUR, "Vary": "Accept-Encoding"}
        if lying.encoding is not None:
            headers["Content-Encoding"] = lying.encoding
        return Response(lying.body, media_type=_type(names[-1]), headers=headers)

    @route(
        [f"{folder}{{name:str}}" for folder in FOLDERS],
        http_method=both,
        include_in_schema=False,
        opt=dict(UNATTENDED),
    )
    async def file_in_folder(request: Request[Any, Any, State], name: FromPath[str]) -> Response[bytes]:
        return await give(request, request.scope["path"].split("/")[1], name)

    @route(
        ["/manifest.webmanifest", "/favicon.svg", "/robots.txt"],
        http_method=both,
        include_in_schema=False,
        opt=dict(UNATTENDED),
    )
    async def file_at_root(request: Request[Any, Any, State]) -> Response[bytes]:
        return await give(request, request.scope["path"][1:])

    return file_in_folder, file_at_root


def _type(name: str) -> str:
    return TYPES.get(Path(name).suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
