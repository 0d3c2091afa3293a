"""Static files: scripts, styles, pictures and icons, in a compressed form where the browser accepts one."""

import asyncio
import mimetypes
import re
from pathlib import Path

import msgspec
from litestar import HttpMethod, Response, route
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from zataku.accounts.route_access import PUBLIC
from zataku.errors import NotFound
from zataku.server.http.compression import accepts_encoding
from zataku.server.http.errors import AnyRequest

STATIC_FOLDER = Path(__file__).parents[1] / "static"
FOLDERS = ("/assets/", "/icons/", "/static/")
CACHE_FOREVER = "public, max-age=31536000, immutable"
"""For files with the hash of their content in their name."""
CACHE_ONE_HOUR = "public, max-age=3600"
MEDIA_TYPES = {".webmanifest": "application/manifest+json", ".js": "text/javascript", ".svg": "image/svg+xml"}
ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,119}")
_MAX_CACHED_FILES = 300


class StaticFile(msgspec.Struct, frozen=True):
    """The content of a file, in the encoding in which it is stored."""

    body: bytes
    encoding: str | None = None


class StaticFiles:
    """Files in a list of folders, of which the first match wins. Nothing outside of them can be reached."""

    def __init__(self, *folders: Path) -> None:
        self._folders = folders
        self._cache: dict[tuple[str, ...], StaticFile] = {}

    async def find(self, path: tuple[str, ...], accept_encoding: str) -> StaticFile | None:
        """The file of a path, in the smallest encoding that the browser accepts; None when there is none."""
        if not all(map(_NAME.fullmatch, path)):
            return None
        suffixes = [(encoding, suffix) for encoding, suffix in ENCODINGS if accepts_encoding(accept_encoding, encoding)]
        key = (*path, *(encoding for encoding, _ in suffixes))
        file = self._cache.get(key)
        if file is None:
            file = await asyncio.to_thread(self._read, path, suffixes)
            # Only files that never change under their name are cached.
            if file is not None and path[0] == "assets" and len(self._cache) < _MAX_CACHED_FILES:
                self._cache[key] = file
        return file

    def _read(self, names: tuple[str, ...], suffixes: list[tuple[str, str]]) -> StaticFile | None:
        for folder in self._folders:
            path = folder.joinpath(*names)
            for encoding, suffix in (*suffixes, (None, "")):
                try:
                    return StaticFile(path.with_name(path.name + suffix).read_bytes(), encoding)
                except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
                    continue
        return None


def static_file_routes(files: StaticFiles) -> tuple[ControllerRouterHandler, ...]:
    """The routes of all static files."""

    async def answer(request: AnyRequest, *path: str) -> Response[bytes]:
        file = await files.find(path, request.headers.get("accept-encoding", ""))
        if file is None:
            raise NotFound("There is no such file. Load the page again.")
        cache = CACHE_FOREVER if path[0] == "assets" else CACHE_ONE_HOUR
        headers = {"Cache-Control": cache, "Vary": "Accept-Encoding"}
        if file.encoding is not None:
            headers["Content-Encoding"] = file.encoding
        return Response(file.body, media_type=_media_type(path[-1]), headers=headers)

    methods = [HttpMethod.GET, HttpMethod.HEAD]

    @route(
        [f"{folder}{{name:str}}" for folder in FOLDERS], http_method=methods, include_in_schema=False, opt=PUBLIC.opt
    )
    async def file_in_folder(request: AnyRequest, name: FromPath[str]) -> Response[bytes]:
        return await answer(request, request.scope["path"].split("/")[1], name)

    @route(
        ["/manifest.webmanifest", "/favicon.svg", "/robots.txt"],
        http_method=methods,
        include_in_schema=False,
        opt=PUBLIC.opt,
    )
    async def file_at_root(request: AnyRequest) -> Response[bytes]:
        return await answer(request, request.scope["path"][1:])

    return file_in_folder, file_at_root


def _media_type(name: str) -> str:
    return MEDIA_TYPES.get(Path(name).suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
