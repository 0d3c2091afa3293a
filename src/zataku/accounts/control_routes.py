"""Routes by which the command line reaches a running server, which holds the store's lock.

The server writes its address and a random token into a file that only its own user can read (`ControlFile`). A caller
who has the token, on the same machine, may administer accounts.
"""

import hmac
from collections.abc import Callable
from typing import Any, TypeAlias

import structlog
from litestar import Router, post
from litestar.connection import ASGIConnection
from litestar.di import NamedDependency, Provide
from litestar.handlers import BaseRouteHandler
from litestar.params import FromPath, JSONBody, SkipValidation
from litestar.types import ControllerRouterHandler

from zataku.accounts.administration import AccountAdministration, ActionDone, ActionRequest, AdminAction
from zataku.accounts.route_access import PUBLIC
from zataku.accounts.secrets import Secret
from zataku.accounts.service import Accounts
from zataku.errors import Forbidden

log = structlog.stdlib.get_logger()

_SCHEME = "Control "

Connection: TypeAlias = ASGIConnection[Any, Any, Any, Any]
IsLocal: TypeAlias = Callable[[Connection], bool]
"""True for a request that comes from this machine."""


class ControlGuard:
    """Admits only callers on this machine who have the token."""

    def __init__(self, token: Secret, is_local: IsLocal) -> None:
        self._expected = (_SCHEME + token.reveal()).encode()
        self._is_local = is_local

    def check(self, request: Connection, _: BaseRouteHandler) -> None:
        """Refuse all others, before their request is read."""
        authorization = request.headers.get("authorization", "").encode()
        if not hmac.compare_digest(authorization, self._expected) or not self._is_local(request):
            raise Forbidden("Only the command line on the server's own machine may do that.")


@post("/accounts/{action:str}", status_code=200, include_in_schema=False)
async def perform_action(
    action: FromPath[AdminAction],
    data: JSONBody[ActionRequest],
    administration: NamedDependency[SkipValidation[AccountAdministration]],
) -> ActionDone:
    """Perform an action that the host requested on the command line."""
    done = await administration.perform(action, data)
    log.info("account_administered", action=action, name=done.name)
    return done


def control_routes(accounts: Accounts, token: Secret, is_local: IsLocal) -> tuple[ControllerRouterHandler, ...]:
    """The routes under /control, which the token authorizes instead of an identity."""
    administration = AccountAdministration(accounts)
    return (
        Router(
            "/control",
            route_handlers=[perform_action],
            dependencies={"administration": Provide(lambda: administration, sync_to_thread=False)},
            guards=[ControlGuard(token, is_local).check],
            opt=PUBLIC.opt,
        ),
    )
