"""Routes of accounts, their sessions, and open connections."""

from litestar import delete, get, post

from zataku.errors import InvalidRequest
from zataku.server.admin.dependencies import AccountIdPath, Admin, NameQuery, Services, SessionId, audit
from zataku.server.admin.messages import AccountSessions, AccountView, Online


@get("/accounts", summary="Look up an account")
async def find_account(admin: Admin, services: Services, name: NameQuery = "") -> AccountView:  # noqa: ARG001 - taking the admin is the access check
    """The account with that name, in any spelling."""
    # A parameter without a default would be validated before the admin check.
    if not name:
        raise InvalidRequest("Give the name to look up as the parameter name.")
    return await services.accounts.find(name)


@get("/accounts/{account_id:str}/sessions", summary="Sessions of an account")
async def list_sessions(admin: Admin, services: Services, account_id: AccountIdPath) -> AccountSessions:
    """The browsers in which an account is signed in."""
    return await services.accounts.sessions(account_id, admin)


@post("/accounts/{account_id:str}/sign-out", status_code=204, summary="Sign an account out")
async def sign_out(admin: Admin, services: Services, account_id: AccountIdPath) -> None:
    """End all sessions of an account."""
    await services.accounts.sign_out(account_id)
    audit(admin, "sign_out", of=account_id)


@delete("/accounts/{account_id:str}/sessions/{session:str}", summary="End a session")
async def end_session(admin: Admin, services: Services, account_id: AccountIdPath, session: SessionId) -> None:
    """End one session. Ending it twice is not an error."""
    await services.accounts.end_session(account_id, session)
    audit(admin, "end_session", of=account_id, session=session[:8])


@get("/online", summary="Who is connected")
async def list_online(admin: Admin, services: Services) -> Online:  # noqa: ARG001
    """Everyone with an open socket to this process."""
    return services.accounts.online()


HANDLERS = (find_account, list_sessions, sign_out, end_session, list_online)
