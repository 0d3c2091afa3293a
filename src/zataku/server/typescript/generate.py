"""The TypeScript of the web pages, written by `python -m zataku.server.typescript.generate FILE`.

It holds the types of everything that crosses the wire, and the list of systems. A test fails when the file is stale.
"""

import asyncio
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args, get_origin

from litestar import Response
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.spec import OpenAPIType, Operation, Parameter, Schema
from litestar.response import File
from msgspec import Struct

from zataku.errors import Problem
from zataku.realtime import messages as realtime
from zataku.server.app import open_application
from zataku.server.http.openapi import ApiDescription
from zataku.server.http.routes import describe_api
from zataku.server.settings import Settings
from zataku.server.systems import SYSTEMS
from zataku.server.typescript.declarations import HEADING, Declarations, interface
from zataku.system import System

_TYPES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}

SYSTEM_TYPES = """\
/** The name of a system. */
export type SystemName = {names};

/** A page of a system: its path, the folder of its component in `pages`, and whether people are together there. */
export interface SystemPage {{
  path: string;
  component: string;
  isRoom: boolean;
}}

/** A system as the pages know it. */
export interface SystemEntry {{
  name: SystemName;
  pages: SystemPage[];
  scopes: string[];
}}

/** The systems, in the order in which they are shown. */
export const SYSTEMS: readonly SystemEntry[] = [
{entries}
];
"""


def main(file: Path) -> None:
    """Write the file."""
    file.write_text(asyncio.run(current_types()), encoding="utf-8")


async def current_types(systems: tuple[System, ...] = SYSTEMS) -> str:
    """The TypeScript of an application with these systems, opened on an empty store."""
    with TemporaryDirectory() as folder:
        settings = Settings(data=folder, demo=False)
        url = "http://127.0.0.1"
        async with open_application(settings, public_url=url, loopback=url, systems=systems) as application:
            return f"{types_of(describe_api(application.services), systems)}\n{systems_list(systems)}"


def types_of(description: ApiDescription, systems: Sequence[System]) -> str:
    """The types of everything that crosses the wire: messages of sockets, those of the systems, and the HTTP API."""
    unions: dict[str, object] = {"ClientMessage": realtime.ClientMessage, "ServerMessage": realtime.ServerMessage}
    structs: list[object] = [Problem]
    for system in systems:
        for name, message in system.messages.items():
            if isinstance(message, type) and issubclass(message, Struct):
                structs.append(message)
            else:
                unions[f"{system.name.capitalize()}{name}"] = message
    declarations = Declarations(unions, systems)
    for struct in structs:
        declarations.name(struct)
    operations = sorted(_operations(description, declarations))
    api = interface("Api", "Every operation: its parameters, its body, and its response as `answer`.", operations)
    return f"{HEADING}\n{declarations}\n{api}"


def systems_list(systems: Sequence[System]) -> str:
    """The list of systems for the web pages: names, pages of the web app, and scopes of API keys."""
    return SYSTEM_TYPES.format(
        names=" | ".join(json.dumps(system.name) for system in systems),
        entries="\n".join(f"  {_entry(system)}," for system in systems),
    )


def _entry(system: System) -> str:
    pages: list[dict[str, Any]] = [
        {"path": _web_path(page.path), "component": page.component, "isRoom": page.is_room}
        for page in system.pages
        if page.document is None
    ]
    return json.dumps({"name": system.name, "pages": pages, "scopes": system.scopes})


def _web_path(path: str) -> str:
    """A path with its parameters as the web pages write them: `/live/{room_id}` as `/live/:roomId`."""

    def parameter(match: re.Match[str]) -> str:
        first, *others = match[1].split("_")
        return ":" + first + "".join(word.capitalize() for word in others)

    return re.sub(r"\{(\w+)\}", parameter, path)


def _operations(description: ApiDescription, declarations: Declarations) -> Iterator[tuple[str, str]]:
    for path, method, handler, operation in description.operations():
        if path.startswith("/api/"):
            yield f"{method} {path}", _operation(handler, operation, declarations)


def _operation(handler: HTTPRouteHandler, operation: Operation, declarations: Declarations) -> str:
    parameters = [parameter for parameter in operation.parameters or [] if isinstance(parameter, Parameter)]
    parts = [
        f"{place}: {{ {_parameters(parameters, place)} }}"
        for place in ("path", "query")
        if _parameters(parameters, place)
    ]
    body = handler.parsed_data_field
    if body is not None:
        parts.append(f"body: {declarations.name(body.annotation)}")
    parts.append(f"answer: {_answer(handler.parsed_return_field.annotation, declarations)}")
    return "{ " + "; ".join(parts) + " }"


def _answer(annotation: object, declarations: Declarations) -> str:
    if get_origin(annotation) is Response:
        return _answer(get_args(annotation)[0], declarations)
    if annotation is File:
        return "Blob"
    if annotation in (None, type(None)):
        return "null"
    return declarations.name(annotation)


def _parameters(parameters: Sequence[Parameter], place: str) -> str:
    return "; ".join(
        f"{parameter.name}{'' if parameter.required else '?'}: {_type_of(parameter)}"
        for parameter in parameters
        if parameter.param_in == place
    )


def _type_of(parameter: Parameter) -> str:
    schema = parameter.schema
    if not isinstance(schema, Schema):
        return "string"
    kinds = [schema.type, *(option.type for option in schema.one_of or [] if isinstance(option, Schema))]
    return next(
        (_TYPES[kind.value] for kind in kinds if isinstance(kind, OpenAPIType) and kind.value in _TYPES), "string"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
