"""The HTTP routes of accounts: decode, count, call the service, set cookies.

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
    DeleteAccount,
    KeyMade,
    KeyView,
    MakeKey,
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

Caller: TypeAlias = Request[Any, Any, Any]
AddressOf: TypeAlias = Callable[[Caller], str | None]
"""Where a request comes from, as far as the server believes it."""


class Desk:
    """What the handlers share: the service, the cookies and the counts."""

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

    def address(self, request: Caller) -> str:
        """What counts as the caller's address."""
        return client_network(self._address_of(request))

    def signed_in(self, user: Account, session: Cookie, *more: Cookie, status: int = 201) -> Response[Me]:
        """The answer to somebody who has signed up or in."""
        cookies = [session, self.cookies.language(user.language), *more]
        return Response(Me.of(user), status_code=status, cookies=cookies)


TheDesk: TypeAlias = NamedDependency[SkipValidation[Desk]]
Who: TypeAlias = NamedDependency[SkipValidation[Identity]]
HashId: TypeAlias = Annotated[
    str, PathParameter(pattern=anchored("[0-9a-f]{64}"), description="Its id: a hash of the secret, not the secret")
]


# Me


@get("/me", summary="Who you are", opt=ANY_CALLER.opt)
async def show_me(request: Caller, identity: Who, desk: TheDesk) -> Response[Me]:
    """Who the caller is, guests included. Cookies that the caller came with last for their full time anew."""
    found = await desk.accounts.account_of(identity)
    return Response(Me.of(found or identity), cookies=desk.authenticator.renewed_cookies(identity, request.cookies))


@patch("/me", summary="Change your name or language")
async def change_me(data: JSONBody[ChangeMe], identity: Who, desk: TheDesk) -> Response[Me]:
    """Another name, for users, or another language, for everybody. What is left out stays."""
    cookies: list[Cookie] = []
    if data.name is not UNSET:
        await desk.accounts.rename(identity, data.name)
    if data.language is not UNSET:
        identity = await desk.accounts.choose_language(identity, data.language)
        cookies.append(desk.cookies.language(data.language))
    found = await desk.accounts.account_of(identity)
    return Response(Me.of(found or identity), cookies=cookies)


@delete("/me", summary="Delete your account")
async def leave(data: JSONBody[DeleteAccount], identity: Who, desk: TheDesk) -> Response[None]:
    """Delete the account with everything it owns in every system. Users give their password."""
    desk.rate_limits.consume("password", identity.account_id)
    password = None if data.password is None else Secret(data.password)
    await desk.accounts.delete_account(identity, password)
    return Response(None, status_code=204, cookies=[desk.cookies.no_session(), desk.cookies.no_guest()])


@post("/me/password", summary="Change your password", status_code=204)
async def change_password(
    request: Caller, data: JSONBody[ChangePassword], identity: Who, desk: TheDesk
) -> Response[None]:
    """Another password for the old one. Every other browser is signed out; this one and all API keys stay."""
    desk.rate_limits.consume("password", identity.account_id)
    token = await desk.accounts.change_password(identity, Secret(data.old), Secret(data.new), _agent(request))
    return Response(None, status_code=204, cookies=[desk.cookies.session(token)])


# Signing up, in and out


@post("/accounts", summary="Sign up")
async def sign_up(request: Caller, data: JSONBody[SignUp], identity: Who, desk: TheDesk) -> Response[Me]:
    """Become a user under a name that nobody has. A guest keeps everything that is theirs."""
    address = desk.address(request)
    desk.rate_limits.consume("sign_up_address", address)
    try:
        user, token = await desk.accounts.sign_up(identity, data.name, Secret(data.password), _agent(request))
    except LateConflict:
        # It came to nothing, but cost as much as if it had not.
        raise
    except (InvalidRequest, Conflict, Unavailable):
        # Looking for a name that is free may take some tries, and a whole club may share the address.
        desk.rate_limits.refund("sign_up_address", address)
        raise
    return desk.signed_in(user, desk.cookies.session(token), desk.cookies.no_guest())


@post("/sessions", summary="Sign in")
async def sign_in(request: Caller, data: JSONBody[SignIn], identity: Who, desk: TheDesk) -> Response[Me]:
    """Come back under a name. A session that this browser had before ends; its guest waits until the user signs out."""
    address = desk.address(request)
    desk.rate_limits.consume("sign_in_address", address)
    desk.rate_limits.consume("sign_in", claim_form(data.name), address)
    try:
        user, token = await desk.accounts.sign_in(data.name, Secret(data.password), _agent(request))
    except Unavailable:
        # Nothing was tried: too many others were.
        desk.rate_limits.refund("sign_in_address", address)
        desk.rate_limits.refund("sign_in", claim_form(data.name), address)
        raise
    await desk.accounts.sign_out(identity)
    return desk.signed_in(user, desk.cookies.session(token))


@delete("/sessions/current", summary="Sign out")
async def sign_out(identity: Who, desk: TheDesk) -> Response[None]:
    """Sign out in this browser."""
    await desk.accounts.sign_out(identity)
    return Response(None, status_code=204, cookies=[desk.cookies.no_session()])


@delete("/sessions", summary="Sign out everywhere")
async def sign_out_everywhere(identity: Who, desk: TheDesk) -> Response[None]:
    """Sign out in every browser, this one included. API keys stay in force."""
    await desk.accounts.sign_out_everywhere(identity)
    return Response(None, status_code=204, cookies=[desk.cookies.no_session()])


@get("/sessions", summary="Where you are signed in")
async def list_sessions(identity: Who, desk: TheDesk) -> list[SessionView]:
    """The browsers in which the caller is signed in, the latest used first."""
    user = await desk.accounts.user(identity)
    counting = [each for each in await desk.accounts.sessions.of(user) if desk.authenticator.is_current(each)]
    return [SessionView.of(each, identity.session_hash) for each in counting]


@delete("/sessions/{session_id:str}", summary="Sign out elsewhere")
async def end_session(session_id: HashId, identity: Who, desk: TheDesk) -> None:
    """Sign out in one browser of the caller's. Doing it twice is no error."""
    user = await desk.accounts.user(identity)
    await desk.accounts.sessions.end(user.account_id, session_id)


# Keys


@get("/keys", summary="Your API keys")
async def list_keys(identity: Who, desk: TheDesk) -> list[KeyView]:
    """The API keys of the caller, the newest first."""
    user = await desk.accounts.user(identity)
    return [KeyView.of(each) for each in await desk.accounts.keys.of(user.account_id)]


@post("/keys", summary="Make an API key")
async def make_key(data: JSONBody[MakeKey], identity: Who, desk: TheDesk) -> KeyMade:
    """A key with which a program acts for the caller, who gives the password for it. It is shown this once."""
    unknown = data.scopes - desk.known_scopes
    if unknown:
        raise InvalidRequest(f"There is no scope {min(unknown)}. Choose others.", code="invalid", field="scopes")
    desk.rate_limits.consume("password", identity.account_id)
    password = Secret(data.password)
    token, made = await desk.accounts.make_key(identity, password, data.label, data.scopes, data.days)
    return KeyMade(key=token.as_key(), view=KeyView.of(made))


@delete("/keys/{key_id:str}", summary="Revoke an API key")
async def revoke_key(key_id: HashId, identity: Who, desk: TheDesk) -> None:
    """Make a key good for nothing. Doing it twice is no error."""
    user = await desk.accounts.user(identity)
    await desk.accounts.keys.revoke(user.account_id, key_id)


HANDLERS = (
    show_me,
    change_me,
    leave,
    change_password,
    sign_up,
    sign_in,
    sign_out,
    sign_out_everywhere,
    list_sessions,
    end_session,
    list_keys,
    make_key,
    revoke_key,
)


def client_host(request: Caller) -> str | None:
    """The other end of the connection."""
    return None if request.client is None else request.client.host


def routes(
    accounts: Accounts,
    authenticator: Authenticator,
    rate_limits: RateLimits,
    known_scopes: frozenset[Scope],
    address_of: AddressOf = client_host,
) -> tuple[ControllerRouterHandler, ...]:
    """The routes under /api, for an application that provides `identity`. Keys are made for known scopes."""
    desk = Desk(accounts, authenticator, rate_limits, known_scopes, address_of)
    return (
        Router(
            "/api",
            route_handlers=HANDLERS,
            dependencies={"desk": Provide(lambda: desk, sync_to_thread=False)},
            cache_control=CacheControlHeader(no_store=True),
            tags=["accounts"],
            opt=NO_API_KEYS.opt,
        ),
    )


def _agent(request: Caller) -> str:
    return request.headers.get("user-agent", "")
