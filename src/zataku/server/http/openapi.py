"""The OpenAPI document at /openapi.json, which the page /docs shows."""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
from litestar import HttpMethod, Litestar, Response, route
from litestar.di import Provide
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.spec import License, Operation
from litestar.routes import HTTPRoute
from litestar.types import ControllerRouterHandler, Method
from litestar.types.internal_types import PathParameterDefinition

from zataku import __version__
from zataku.accounts.route_access import PUBLIC, RouteAccess
from zataku.server.http.authentication import route_access
from zataku.system import System

Schema: TypeAlias = dict[str, Any]

ACCOUNTS_TAG = "accounts"
DESCRIPTION = (
    "The HTTP interface of Zataku. Browsers are identified by cookies; programs send an API key as a bearer token. "
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
                "code": {
                    "type": "string",
                    "description": "For programs; it does not change",
                    "examples": ["not_found"],
                },
                "message": {"type": "string", "description": "For people; it says what to do and may be reworded"},
                "details": {"type": "object", "description": "Further values"},
            },
        }
    },
}
SECURITY_SCHEMES: Schema = {
    "session": {"type": "apiKey", "in": "cookie", "name": "zataku_session", "description": "Set by signing in"},
    "guest": {"type": "apiKey", "in": "cookie", "name": "zataku_guest", "description": "Set by the first response"},
    "key": {"type": "http", "scheme": "bearer", "description": "An API key, created on the profile page"},
}


class ApiDescription:
    """Describes the HTTP interface of a list of handlers."""

    def __init__(
        self,
        handlers: Sequence[ControllerRouterHandler],
        dependencies: Mapping[str, Provide],
        systems: Sequence[System],
    ) -> None:
        self.tags = {
            "home": "The state of every system, and QR codes of pages",
            ACCOUNTS_TAG: "Who is calling: guests, users, sessions and API keys",
            **{system.name: system.about for system in systems},
            "admin": "Looking after the server",
        }
        # Only described, never run: the pages that Litestar would serve load scripts from other sites.
        self._app = Litestar(
            route_handlers=list(handlers),
            dependencies=dict(dependencies),
            openapi_config=OpenAPIConfig(
                title="Zataku",
                version=__version__,
                description=DESCRIPTION,
                license=License(name="AGPL-3.0-or-later", identifier="AGPL-3.0-or-later"),
                use_handler_docstrings=True,
                operation_id_creator=self._operation_id,
            ),
            logging_config=None,
        )

    def operations(self) -> Iterator[tuple[str, str, HTTPRouteHandler, Operation]]:
        """Every operation: its path, its method in upper case, its handler, and Litestar's description."""
        paths = self._app.openapi_schema.paths or {}
        for http_route in self._app.routes:
            if not isinstance(http_route, HTTPRoute):
                continue
            path = re.sub(r"\{(\w+):\w+\}", r"{\1}", http_route.path_format)
            for handler in http_route.route_handlers:
                for method in sorted(handler.http_methods):
                    operation = getattr(paths.get(path), method.lower(), None)
                    if isinstance(operation, Operation):
                        yield path, method, handler, operation

    def document(self) -> Schema:
        """The OpenAPI document."""
        schema: Schema = self._app.openapi_schema.to_schema()
        components = schema.setdefault("components", {})
        components.setdefault("schemas", {})["Error"] = ERROR
        components["securitySchemes"] = SECURITY_SCHEMES
        components["responses"] = {
            "Error": {
                "description": "An error. Nothing was changed, except that the outcome of `unsettled` is not known.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
            }
        }
        schema["security"] = [{name: []} for name in SECURITY_SCHEMES]
        used: set[str] = set()
        for path, method, handler, _ in self.operations():
            operation = schema["paths"][path][method.lower()]
            _complete(operation, route_access(handler))
            used.update(operation.get("tags", ()))
        schema["tags"] = [{"name": name, "description": text} for name, text in self.tags.items() if name in used]
        return schema

    def _operation_id(
        self, handler: HTTPRouteHandler, _method: Method, path: list[str | PathParameterDefinition]
    ) -> str:
        """The handler's name, after that of its system: several systems have handlers of one name."""
        owner = [str(part) for part in path[1:2] if part in self.tags and part != ACCOUNTS_TAG]
        first, *others = [*owner, *handler.handler_name.split("_")]
        return first + "".join(word.capitalize() for word in others)


def openapi_route(describe: Callable[[], ApiDescription]) -> ControllerRouterHandler:
    """The route of /openapi.json. The document is built at the first request, in a thread."""
    cached: list[bytes] = []
    lock = asyncio.Lock()

    @route("/openapi.json", http_method=[HttpMethod.GET, HttpMethod.HEAD], include_in_schema=False, opt=PUBLIC.opt)
    async def openapi() -> Response[bytes]:
        """Answer with the OpenAPI document."""
        async with lock:
            if not cached:
                cached.append(await asyncio.to_thread(lambda: msgspec.json.encode(describe().document())))
        return Response(cached[0], media_type="application/json", headers={"Cache-Control": "no-cache"})

    return openapi


def _complete(operation: Schema, access: RouteAccess) -> None:
    # Litestar describes errors in a shape of its own, which this server does not send.
    responses: Schema = {status: response for status, response in operation["responses"].items() if status < "400"}
    responses["default"] = {"$ref": "#/components/responses/Error"}
    operation["responses"] = responses
    if access.is_public:
        operation["security"] = []
    elif access.is_admin_only:
        operation["security"] = [{"session": []}]
    elif not access.accepts_any_key and access.system is None:
        operation["security"] = [{"session": []}, {"guest": []}]
