"""The HTTP routes of accounts: decode, apply rate limits, call the service, set cookies.

Every handler takes the caller as `identity`, which the server provides for the whole application.
"""

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

from litestar import Request, Response, Router, delete, get, patch, post
from litestar.datastructures import CacheControlHeader, Cookie
from litestar.di import NamedDependency, Provide
from litestar.params import JSONBody, PathParameter, SkipValidation
from litestar.types import ControllerRouterHandler
from msgspec import UNSET

from zataku.accounts.authentication import Authenticator
from zataku.accounts.messages import (
    ChangeMe,
    ChangePassword,
    CreateKey,
    DeleteAccount,
    KeyCreated,
    KeyView,
    Me,
    SessionView,
    SignIn,
    SignUp,
)
from zataku.accounts.rate_limits import RateLimits, client_network
from zataku.accounts.route_access import ANY_CALLER, NO_API_KEYS
from zataku.accounts.secrets import Secret
from zataku.accounts.service import Accounts, LateConflict
from zataku.errors import Conflict, InvalidRequest, Unavailable
from zataku.platform.design import Account
from zataku.platform.identity import Identity
from zataku.platform.limits import Scope
from zataku.platform.names import claim_form
from zataku.table import anchored

HttpRequest: TypeAlias = Request[Any, Any, Any]
AddressOf: TypeAlias = Callable[[HttpRequest], str | None]
"""The client's address of a request, behind trusted proxies only."""


class RouteServices:
    """The services of all handlers: the use cases, the authenticator, the cookies and the rate limits."""

    def __init__(
        self,
        accounts: Accounts,
        authenticator: Authenticator,
        rate_limits: RateLimits,
        known_scopes: frozenset[Scope],
        address_of: AddressOf,
    ) -> None:
        self.accounts = accounts
        self.known_scopes = known_scopes
        self.authenticator = authenticator
        self.cookies = authenticator.cookies
        self.rate_limits = rate_limits
        self._address_of = address_of

    def address(self, request: HttpRequest) -> str:
        """The network of the client, for rate limits."""
        return client_network(self._address_of(request))

    def signed_in_response(self, user: Account, session: Cookie, *more: Cookie, status: int = 201) -> Response[Me]:
        """The response to a caller who has signed up or in."""
        cookies = [session, self.cookies.language(user.language), *more]
        return Response(Me.of(user), status_code=status, cookies=cookies)


Services: TypeAlias = NamedDependency[SkipValidation[RouteServices]]
Caller: TypeAlias = NamedDependency[SkipValidation[Identity]]
HashId: TypeAlias = Annotated[
    str, PathParameter(pattern=anchored("[0-9a-f]{64}"), description="Its id, which is a hash of its secret")
]


# Me


@get("/me", summary="Who you are", opt=ANY_CALLER.opt)
async def show_me(request: HttpRequest, identity: Caller, services: Services) -> Response[Me]:
    """The caller, guests included. The caller's cookies are renewed."""
    account = await services.accounts.account_of(identity)
    return Response(
        Me.of(account or identity), cookies=services.authenticator.renewed_cookies(identity, request.cookies)
    )


@patch("/me", summary="Change your name or language")
async def change_me(data: JSONBody[ChangeMe], identity: Caller, services: Services) -> Response[Me]:
    """Change the name of a user, or the language of anyone. A field that is left out stays unchanged."""
    cookies: list[Cookie] = []
    if data.name is not UNSET:
        await services.accounts.rename(identity, data.name)
    if data.language is not UNSET:
        identity = await services.accounts.choose_language(identity, data.language)
        cookies.append(services.cookies.language(data.language))
    account = await services.accounts.account_of(identity)
    return Response(Me.of(account or identity), cookies=cookies)


@delete("/me", summary="Delete your account")
async def delete_me(data: JSONBody[DeleteAccount], identity: Caller, services: Services) -> Response[None]:
    """Delete the account with everything it owns in every system. Users give their password."""
    services.rate_limits.consume("password", identity.account_id)
    password = None if data.password is None else Secret(data.password)
    await services.accounts.delete_account(identity, password)
    return Response(None, status_code=204, cookies=[services.cookies.no_session(), services.cookies.no_guest()])


@post("/me/password", summary="Change your password", status_code=204)
async def change_password(
    request: HttpRequest, data: JSONBody[ChangePassword], identity: Caller, services: Services
) -> Response[None]:
    """Change the password. Every other browser is signed out; this one and all API keys stay."""
    services.rate_limits.consume("password", identity.account_id)
    token = await services.accounts.change_password(identity, Secret(data.old), Secret(data.new), _user_agent(request))
    return Response(None, status_code=204, cookies=[services.cookies.session(token)])


# Signing up, in and out


@post("/accounts", summary="Sign up")
async def sign_up(request: HttpRequest, data: JSONBody[SignUp], identity: Caller, services: Services) -> Response[Me]:
    """Sign up under a free name. A guest keeps everything that is stored of them."""
    address = services.address(request)
    services.rate_limits.consume("sign_up_address", address)
    try:
        user, token = await services.accounts.sign_up(identity, data.name, Secret(data.password), _user_agent(request))
    except LateConflict:
        # It failed, but cost as much as a success.
        raise
    except (InvalidRequest, Conflict, Unavailable):
        # Finding a free name may take some attempts, and a whole club may share the address.
        services.rate_limits.refund("sign_up_address", address)
        raise
    return services.signed_in_response(user, services.cookies.session(token), services.cookies.no_guest())


@post("/sessions", summary="Sign in")
async def sign_in(request: HttpRequest, data: JSONBody[SignIn], identity: Caller, services: Services) -> Response[Me]:
    """Sign in. An earlier session of this browser ends; after signing out, the browser is the same guest as before."""
    address = services.address(request)
    services.rate_limits.consume("sign_in_address", address)
    services.rate_limits.consume("sign_in", claim_form(data.name), address)
    try:
        user, token = await services.accounts.sign_in(data.name, Secret(data.password), _user_agent(request))
    except Unavailable:
        # The password was not checked: the queue was full.
        services.rate_limits.refund("sign_in_address", address)
        services.rate_limits.refund("sign_in", claim_form(data.name), address)
        raise
    await services.accounts.sign_out(identity)
    return services.signed_in_response(user, services.cookies.session(token))


@delete("/sessions/current", summary="Sign out")
async def sign_out(identity: Caller, services: Services) -> Response[None]:
    """Sign out in this browser."""
    await services.accounts.sign_out(identity)
    return Response(None, status_code=204, cookies=[services.cookies.no_session()])


@delete("/sessions", summary="Sign out everywhere")
async def sign_out_everywhere(identity: Caller, services: Services) -> Response[None]:
    """Sign out in every browser, including this one. API keys stay valid."""
    await services.accounts.sign_out_everywhere(identity)
    return Response(None, status_code=204, cookies=[services.cookies.no_session()])


@get("/sessions", summary="Where you are signed in")
async def list_sessions(identity: Caller, services: Services) -> list[SessionView]:
    """The browsers in which the caller is signed in, the last used first."""
    user = await services.accounts.user(identity)
    sessions = await services.accounts.sessions.of(user)
    current = [session for session in sessions if services.authenticator.is_current(session)]
    return [SessionView.of(session, identity.session_hash) for session in current]


@delete("/sessions/{session_id:str}", summary="Sign out elsewhere")
async def end_session(session_id: HashId, identity: Caller, services: Services) -> None:
    """End one session of the caller. Ending it twice is not an error."""
    user = await services.accounts.user(identity)
    await services.accounts.sessions.end(user.account_id, session_id)


# Keys


@get("/keys", summary="Your API keys")
async def list_keys(identity: Caller, services: Services) -> list[KeyView]:
    """The API keys of the caller, the newest first."""
    user = await services.accounts.user(identity)
    return [KeyView.of(key) for key in await services.accounts.keys.of(user.account_id)]


@post("/keys", summary="Create an API key")
async def create_key(data: JSONBody[CreateKey], identity: Caller, services: Services) -> KeyCreated:
    """Create a key with which a program acts for the caller. It needs the password and is shown this once."""
    unknown = data.scopes - services.known_scopes
    if unknown:
        raise InvalidRequest(f"There is no scope {min(unknown)}. Choose others.", code="invalid", field="scopes")
    services.rate_limits.consume("password", identity.account_id)
    password = Secret(data.password)
    token, created = await services.accounts.create_key(identity, password, data.label, data.scopes, data.days)
    return KeyCreated(key=token.as_key(), view=KeyView.of(created))


@delete("/keys/{key_id:str}", summary="Revoke an API key")
async def revoke_key(key_id: HashId, identity: Caller, services: Services) -> None:
    """Revoke a key. Revoking it twice is not an error."""
    user = await services.accounts.user(identity)
    await services.accounts.keys.revoke(user.account_id, key_id)


HANDLERS = (
    show_me,
    change_me,
    delete_me,
    change_password,
    sign_up,
    sign_in,
    sign_out,
    sign_out_everywhere,
    list_sessions,
    end_session,
    list_keys,
    create_key,
    revoke_key,
)


def routes(
    accounts: Accounts,
    authenticator: Authenticator,
    rate_limits: RateLimits,
    known_scopes: frozenset[Scope],
    address_of: AddressOf,
) -> tuple[ControllerRouterHandler, ...]:
    """The routes under /api, for an application that provides `identity`. Keys are created for known scopes only."""
    services = RouteServices(accounts, authenticator, rate_limits, known_scopes, address_of)
    return (
        Router(
            "/api",
            route_handlers=HANDLERS,
            dependencies={"services": Provide(lambda: services, sync_to_thread=False)},
            cache_control=CacheControlHeader(no_store=True),
            tags=["accounts"],
            opt=NO_API_KEYS.opt,
        ),
    )


def _user_agent(request: HttpRequest) -> str:
    return request.headers.get("user-agent", "")
