"""The description of the HTTP interface for programs: OpenAPI at /openapi.json, read by the page /docs."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
from litestar import HttpMethod, Litestar, Response, route
from litestar.di import Provide
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.spec import License
from litestar.types import ControllerRouterHandler, Method
from litestar.types.internal_types import PathParameterDefinition

from zataku import __version__
from zataku.server.http.authentication import UNATTENDED

Schema: TypeAlias = dict[str, Any]

METHODS = frozenset({"get", "put", "post", "delete", "patch"})
TAGS = {
    "home": "What lies on the table, and codes that lead to it",
    "accounts": "Who is calling: guests, users, sessions and API keys",
    "drawing": "The drawing game",
    "othello": "Othello by vote against an AI",
    "ranking": "Daily rankings of players",
    "live": "Live comment rooms",
    "kifu": "Shogi records",
    "admin": "Looking after the server",
}
ABOUT = (
    "The HTTP interface of Zataku. Browsers are known by their cookies; programs send an API key as a bearer token. "
    "Every error has one shape."
)
ERROR: Schema = {
    "type": "object",
    "title": "Error",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "details"],
            "properties": {
                "code": {"type": "string", "description": "For programs; it stays as it is", "examples": ["not_found"]},
                "message": {"type": "string", "description": "For people; it says what to do and may be reworded"},
                "details": {"type": "object", "description": "What is known about it"},
            },
        }
    },
}
SECURITY: Schema = {
    "session": {"type": "apiKey", "in": "cookie", "name": "zataku_session", "description": "Set by signing in"},
    "guest": {"type": "apiKey", "in": "cookie", "name": "zataku_guest", "description": "Set by the first answer"},
    "key": {"type": "http", "scheme": "bearer", "description": "An API key, made on the profile page"},
}
IN_PERSON = {"accounts": ("session", "guest"), "admin": ("session",)}
"""Tags whose operations refuse API keys, and what they take instead."""
FOR_KEYS_TOO = frozenset({"showMe"})
FOR_ANYBODY = frozenset({"qr"})


def openapi_route(
    handlers: Sequence[ControllerRouterHandler], dependencies: Mapping[str, Provide]
) -> ControllerRouterHandler:
    """The handler of /openapi.json. The description is made when it is first asked for, in a thread of its own."""
    made: list[bytes] = []
    making = asyncio.Lock()

    def make() -> bytes:
        return msgspec.json.encode(described(handlers, dependencies))

    @route(
        "/openapi.json",
        http_method=[HttpMethod.GET, HttpMethod.HEAD],
        include_in_schema=False,
        opt=dict(UNATTENDED),
    )
    async def openapi() -> Response[bytes]:
        """Describe everything that programs can ask for."""
        async with making:
            if not made:
                made.append(await asyncio.to_thread(make))
        return Response(made[0], media_type="application/json", headers={"Cache-Control": "no-cache"})

    return openapi


def described(handlers: Sequence[ControllerRouterHandler], dependencies: Mapping[str, Provide]) -> Schema:
    """The description of these handlers."""
    return _completed(describing(handlers, dependencies).openapi_schema.to_schema())


def describing(handlers: Sequence[ControllerRouterHandler], dependencies: Mapping[str, Provide]) -> Litestar:
    """An application that only describes: Litestar would serve pages of its own, which load scripts from elsewhere."""
    config = OpenAPIConfig(
        title="Zataku",
        version=__version__,
        description=ABOUT,
        license=License(name="AGPL-3.0-or-later", identifier="AGPL-3.0-or-later"),
        use_handler_docstrings=True,
        operation_id_creator=_operation_id,
    )
    return Litestar(
        route_handlers=list(handlers), dependencies=dict(dependencies), openapi_config=config, logging_config=None
    )


def _completed(schema: Schema) -> Schema:
    parts = schema.setdefault("components", {})
    parts.setdefault("schemas", {})["Error"] = ERROR
    parts["securitySchemes"] = SECURITY
    parts["responses"] = {
        "Error": {
            "description": "It was refused, and nothing was changed.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        }
    }
    schema["security"] = [{name: []} for name in SECURITY]
    used: set[str] = set()
    paths: dict[str, dict[str, Schema]] = schema.get("paths", {})
    for path in paths.values():
        for method, operation in path.items():
            if method in METHODS:
                _complete(operation)
                used.update(operation.get("tags", ()))
    schema["tags"] = [{"name": name, "description": about} for name, about in TAGS.items() if name in used]
    return schema


def _complete(operation: Schema) -> None:
    # Litestar describes errors in a shape of its own, which nobody gets here.
    answers: Schema = {status: told for status, told in operation["responses"].items() if status < "400"}
    answers["default"] = {"$ref": "#/components/responses/Error"}
    operation["responses"] = answers
    taken = IN_PERSON.get(next(iter(operation.get("tags", ())), ""))
    if operation["operationId"] in FOR_ANYBODY:
        operation["security"] = []
    elif taken is not None and operation["operationId"] not in FOR_KEYS_TOO:
        operation["security"] = [{name: []} for name in taken]


def _operation_id(handler: HTTPRouteHandler, _method: Method, path: list[str | PathParameterDefinition]) -> str:
    """The name of its handler, after that of the system it belongs to: several of them list or open something."""
    owner = [str(part) for part in path[1:2] if part in TAGS and part != "accounts"]
    first, *others = [*owner, *handler.handler_name.split("_")]
    return first + "".join(word.capitalize() for word in others)
