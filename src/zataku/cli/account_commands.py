"""Commands that administer accounts, beside a running server and without one."""

import secrets
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from getpass import getpass

from cyclopts import App

from zataku.accounts.administration import (
    AccountAdministration,
    AccountFacts,
    ActionRequest,
    AdminAction,
    no_such_account,
)
from zataku.accounts.passwords import Passwords, check_password
from zataku.accounts.secrets import Secret
from zataku.accounts.service import Accounts
from zataku.cli.control_client import running_process, send_action
from zataku.cli.execution import run_to_end
from zataku.cli.output import confirm, format_time, print_facts, print_note
from zataku.cli.server_options import DEFAULT_SERVER, ServerOptions, ServerTarget
from zataku.cli.store.options import Flag
from zataku.clock import SystemClock
from zataku.errors import InvalidRequest
from zataku.platform.names import NO_NAME, claim_form

app = App(name="accounts", help_format="plaintext")

_GENERATED_PASSWORD_BYTES = 12
_INTERRUPTED = "Look with `zataku accounts show`, then try again."


@app.command
def show(name: str, /, *, server: ServerOptions = DEFAULT_SERVER) -> int:
    """Show what is known about a user: role, language, sessions and keys.

    Parameters
    ----------
    name
        The user's name, in any spelling.
    """
    facts = run_to_end(_show(server.target(), name), "")
    print_facts(
        [
            ("name", facts.name),
            ("id", facts.account_id),
            ("role", facts.role),
            ("language", facts.language),
            ("signed up", _format_minute(facts.created_at)),
            ("last seen", _format_minute(facts.last_seen_at)),
            ("sessions", str(facts.sessions)),
            ("API keys", str(facts.keys)),
        ]
    )
    return 0


@app.command
def reset_password(name: str, /, *, server: ServerOptions = DEFAULT_SERVER, stdin: Flag = False) -> int:
    """Give a user another password, sign them out everywhere and revoke their API keys.

    A random password is made and printed, unless one is given.

    Parameters
    ----------
    name
        The user's name, in any spelling.
    stdin
        Read the new password from standard input.
    """
    typed = _read_password() if stdin else None
    password = secrets.token_urlsafe(_GENERATED_PASSWORD_BYTES) if typed is None else typed
    spelling = run_to_end(_perform(server.target(), "reset-password", name, password), _INTERRUPTED)
    print_note(f"{spelling} has another password and is signed out everywhere; their API keys are revoked.")
    if typed is None:
        print(password)
    return 0


@app.command
def grant_admin(name: str, /, *, server: ServerOptions = DEFAULT_SERVER) -> int:
    """Make a user an admin of the server.

    Parameters
    ----------
    name
        The user's name, in any spelling.
    """
    print(f"{run_to_end(_perform(server.target(), 'grant-admin', name), _INTERRUPTED)} is an admin.")
    return 0


@app.command
def revoke_admin(name: str, /, *, server: ServerOptions = DEFAULT_SERVER) -> int:
    """Take the admin role from a user.

    Parameters
    ----------
    name
        The user's name, in any spelling.
    """
    print(f"{run_to_end(_perform(server.target(), 'revoke-admin', name), _INTERRUPTED)} is no longer an admin.")
    return 0


@app.command
def sign_out(name: str, /, *, server: ServerOptions = DEFAULT_SERVER) -> int:
    """Sign a user out everywhere. API keys stay valid.

    Parameters
    ----------
    name
        The user's name, in any spelling.
    """
    print(f"{run_to_end(_perform(server.target(), 'sign-out', name), _INTERRUPTED)} is signed out everywhere.")
    return 0


@app.command
def delete(name: str, /, *, server: ServerOptions = DEFAULT_SERVER, yes: Flag = False) -> int:
    """Delete a user's account with everything it owns in every system.

    Parameters
    ----------
    name
        The user's name, in any spelling.
    yes
        Do not ask for the name once more.
    """
    target = server.target()
    if not yes:
        spelling = run_to_end(_show(target, name), "").name
        confirm(f"This deletes everything that {spelling} owns.", spelling, InvalidRequest)
    spelling = run_to_end(_perform(target, "delete", name), _INTERRUPTED)
    print(f"{spelling} is deleted. The server removes what they own in the background, or when it is started next.")
    return 0


def _read_password() -> str:
    if sys.stdin.isatty():
        return getpass("New password: ")
    try:
        return sys.stdin.readline().rstrip("\r\n")
    except UnicodeDecodeError:
        raise InvalidRequest("The password is not in UTF-8. Give another one.", code="bad_password") from None


def _format_minute(millis: int) -> str:
    return format_time(millis, "%Y-%m-%d %H:%M UTC")


async def _show(target: ServerTarget, name: str) -> AccountFacts:
    """The facts of a user's account. It only reads, so that a server may hold the store."""
    async with _administration(target, read_only=True) as administration:
        return await administration.show(name)


async def _perform(target: ServerTarget, action: AdminAction, name: str, password: str | None = None) -> str:
    """Perform an action in the store, or through the server that holds it; returns the name as its owner spells it."""
    if claim_form(name) == NO_NAME:
        raise no_such_account(name)
    if password is not None:
        check_password(Secret(password), name)
    request = ActionRequest(name=name, password=password)
    process = running_process(target.url)
    if process is not None:
        return send_action(target, process, action, request)
    async with _administration(target, read_only=False) as administration:
        return (await administration.perform(action, request)).name


@asynccontextmanager
async def _administration(target: ServerTarget, *, read_only: bool) -> AsyncGenerator[AccountAdministration]:
    clock, passwords = SystemClock(), Passwords()
    try:
        async with target.open_platform(clock, read_only=read_only) as store:
            yield AccountAdministration(Accounts(store, clock, passwords))
    finally:
        passwords.close()
