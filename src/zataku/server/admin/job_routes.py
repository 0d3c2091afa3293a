"""Routes of jobs, accounts and sessions."""

from litestar import delete, get, post
from litestar.params import JSONBody

from zataku.errors import InvalidRequest
from zataku.server.admin.dependencies import Admin, TheDesk, note
from zataku.server.admin.messages import AccountSessions, AccountView, JobName, JobPage, Online
from zataku.server.admin.parameters import After, Jobs, Name, OneAccount, OneSession, State


@get("/jobs", summary="Jobs")
async def list_jobs(
    admin: Admin,  # noqa: ARG001 - asking for the admin is the guard
    desk: TheDesk,
    of: State = None,
    limit: Jobs = 100,
    after: After = None,
) -> JobPage:
    """Jobs that wait or run, by their due time; with `state=dead` those that failed for good."""
    return await desk.jobs.page(of, limit, after)


@post("/jobs/retry", status_code=204, summary="Try a job now")
async def retry_job(admin: Admin, desk: TheDesk, data: JSONBody[JobName]) -> None:
    """Make a dead job due now with new attempts, or a waiting one now instead of later. A running one is refused."""
    await desk.job_administration.retry((data.system, data.kind, data.subject))
    note(admin, "retry_job", system=data.system, kind=data.kind, subject=data.subject)


@post("/jobs/cancel", status_code=204, summary="Cancel a job")
async def cancel_job(admin: Admin, desk: TheDesk, data: JSONBody[JobName]) -> None:
    """Delete a job that does not run. What it was scheduled for does not happen."""
    await desk.job_administration.cancel((data.system, data.kind, data.subject))
    note(admin, "cancel_job", system=data.system, kind=data.kind, subject=data.subject)


@get("/accounts", summary="Look up an account")
async def find_account(admin: Admin, desk: TheDesk, name: Name = "") -> AccountView:  # noqa: ARG001
    """Whoever has that name, however it is spelt."""
    # A parameter without a default would be missed before anybody asks who is calling.
    if not name:
        raise InvalidRequest("Say whom to look for, as name.")
    return await desk.people.named(name)


@get("/accounts/{account_id:str}/sessions", summary="Sessions of an account")
async def list_sessions(admin: Admin, desk: TheDesk, account_id: OneAccount) -> AccountSessions:
    """The browsers in which somebody is signed in."""
    return await desk.people.sessions(account_id, admin)


@post("/accounts/{account_id:str}/sign-out", status_code=204, summary="Sign somebody out")
async def sign_out(admin: Admin, desk: TheDesk, account_id: OneAccount) -> None:
    """End all sessions of an account."""
    await desk.people.sign_out(account_id)
    note(admin, "sign_out", of=account_id)


@delete("/accounts/{account_id:str}/sessions/{session:str}", summary="End a session")
async def end_session(admin: Admin, desk: TheDesk, account_id: OneAccount, session: OneSession) -> None:
    """End one session. Ending it twice is no error."""
    await desk.people.end_session(account_id, session)
    note(admin, "end_session", of=account_id, session=session[:8])


@get("/online", summary="Who is connected")
async def list_online(admin: Admin, desk: TheDesk) -> Online:  # noqa: ARG001
    """Everybody who has a socket open to this process."""
    return desk.people.online()


HANDLERS = (list_jobs, retry_job, cancel_job, find_account, list_sessions, sign_out, end_session, list_online)
