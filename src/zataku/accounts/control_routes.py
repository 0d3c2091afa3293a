"""How the command line reaches a running server, which holds the store for itself.

The server writes its address and a random token into a file that only its own user can read (`control_file`). Whoever
can read it, on the same machine, may give orders about accounts.
"""

import hmac
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any, TypeAlias

import structlog
from litestar import Router, post
from litestar.connection import ASGIConnection
from litestar.di import NamedDependency, Provide
from litestar.handlers import BaseRouteHandler
from litestar.params import FromPath, JSONBody, SkipValidation
from litestar.types import ControllerRouterHandler

from zataku.accounts.administration import AccountAdministration, Done, Order, Verb
from zataku.accounts.route_access import PUBLIC
from zataku.accounts.secrets import Secret
from zataku.accounts.service import Accounts
from zataku.errors import Forbidden

log = structlog.stdlib.get_logger()

_SCHEME = "Control "

Caller: TypeAlias = ASGIConnection[Any, Any, Any, Any]
Near: TypeAlias = Callable[[Caller], bool]
"""True for a request that comes from this machine."""


class Guard:
    """Lets nobody in but whoever has the token and sits at this machine."""

    def __init__(self, token: Secret, near: Near) -> None:
        self._expected = (_SCHEME + token.revealed()).encode()
        self._near = near

    def check(self, request: Caller, _: BaseRouteHandler) -> None:
        """Refuse everybody else, before anything they sent is looked at."""
        shown = request.headers.get("authorization", "").encode()
        if not hmac.compare_digest(shown, self._expected) or not self._near(request):
            raise Forbidden("Only the command line of this machine may do that.")


@post("/accounts/{verb:str}", status_code=200, include_in_schema=False)
async def carry_out(
    verb: FromPath[Verb], data: JSONBody[Order], caretaker: NamedDependency[SkipValidation[AccountAdministration]]
) -> Done:
    """Do what the host asks for on the command line."""
    done = await caretaker.do(verb, data)
    log.info("host_ordered", verb=verb, name=done.name)
    return done


def from_loopback(request: Caller) -> bool:
    """True when the other end of the connection is this machine."""
    try:
        return request.client is not None and ip_address(request.client.host).is_loopback
    except ValueError:
        return False


def control_routes(
    accounts: Accounts, token: Secret, near: Near = from_loopback
) -> tuple[ControllerRouterHandler, ...]:
    """The routes under /control. The token takes the place of an identity."""
    caretaker = AccountAdministration(accounts)
    return (
        Router(
            "/control",
            route_handlers=[carry_out],
            dependencies={"caretaker": Provide(lambda: caretaker, sync_to_thread=False)},
            guards=[Guard(token, near).check],
            opt=PUBLIC.opt,
        ),
    )
