"""The TypeScript types of the web pages, written by `python -m zataku.server.typescript.generate FILE`."""

import asyncio
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args, get_origin

from litestar import Litestar, Response
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.spec import OpenAPIType, Operation, Parameter, Schema
from litestar.response import File
from litestar.routes import HTTPRoute
from msgspec import Struct

from zataku.errors import Problem
from zataku.realtime import messages as realtime
from zataku.server.app import open_application
from zataku.server.http.openapi import describing
from zataku.server.http.routes import DEPENDENCIES, api_routes
from zataku.server.settings import Settings
from zataku.server.typescript.declarations import HEADING, Declarations, interface
from zataku.system import System

_SPELT = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}


def main(file: Path) -> None:
    """Write the file."""
    file.write_text(asyncio.run(current_types()), encoding="utf-8")


async def current_types() -> str:
    """The types of the server as it is, taken from one on an empty store."""
    with TemporaryDirectory() as folder:
        settings = Settings(data=folder, demo=False)
        async with open_application(settings, public_url="http://127.0.0.1", loopback="http://127.0.0.1") as opened:
            parts = opened.parts
            return types_of(describing(api_routes(parts), DEPENDENCIES), parts.systems)


def types_of(app: Litestar, systems: Sequence[System]) -> str:
    """Everything that crosses the wire: messages of sockets, those of the systems, and the HTTP API."""
    unions: dict[str, object] = {"FromBrowser": realtime.FromBrowser, "ToBrowser": realtime.ToBrowser}
    alone: list[object] = [Problem]
    for system in systems:
        for name, kind in system.messages.items():
            if isinstance(kind, type) and issubclass(kind, Struct):
                alone.append(kind)
            else:
                unions[f"{system.name.capitalize()}{name}"] = kind
    declared = Declarations(unions)
    for kind in alone:
        declared.name(kind)
    api = interface("Api", "Every operation: what it takes and what it answers.", sorted(_operations(app, declared)))
    return f"{HEADING}\n{declared}\n{api}"


def _operations(app: Litestar, declared: Declarations) -> Iterator[tuple[str, str]]:
    paths = app.openapi_schema.paths or {}
    for route in app.routes:
        if not isinstance(route, HTTPRoute):
            continue
        path = re.sub(r"\{(\w+):\w+\}", r"{\1}", route.path_format)
        item = paths.get(path)
        for handler in route.route_handlers:
            for method in sorted(handler.http_methods):
                operation = getattr(item, method.lower(), None)
                if isinstance(operation, Operation) and path.startswith("/api/"):
                    yield f"{method} {path}", _operation(handler, operation, declared)


def _operation(handler: HTTPRouteHandler, operation: Operation, declared: Declarations) -> str:
    given = [it for it in operation.parameters or [] if isinstance(it, Parameter)]
    parts = [f"{place}: {{ {_parameters(given, place)} }}" for place in ("path", "query") if _parameters(given, place)]
    body = handler.parsed_data_field
    if body is not None:
        parts.append(f"body: {declared.name(body.annotation)}")
    answer = handler.parsed_return_field.annotation
    parts.append(f"answer: {_answer(answer, declared)}")
    return "{ " + "; ".join(parts) + " }"


def _answer(annotation: object, declared: Declarations) -> str:
    if get_origin(annotation) is Response:
        return _answer(get_args(annotation)[0], declared)
    if annotation is File:
        return "Blob"
    if annotation in (None, type(None)):
        return "null"
    return declared.name(annotation)


def _parameters(given: Sequence[Parameter], place: str) -> str:
    return "; ".join(f"{it.name}{'' if it.required else '?'}: {_spelt(it)}" for it in given if it.param_in == place)


def _spelt(parameter: Parameter) -> str:
    schema = parameter.schema
    if not isinstance(schema, Schema):
        return "string"
    kinds = [schema.type, *(it.type for it in schema.one_of or [] if isinstance(it, Schema))]
    return next(
        (_SPELT[kind.value] for kind in kinds if isinstance(kind, OpenAPIType) and kind.value in _SPELT), "string"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
