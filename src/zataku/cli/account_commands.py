"""Commands about people's accounts. They work beside a running server, and without one."""

import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from getpass import getpass
from typing import Annotated

from cyclopts import App, Parameter

from zataku.cli import account_operations
from zataku.cli.execution import finished
from zataku.cli.output import aside, facts
from zataku.errors import InvalidRequest

app = App(name="accounts", help_format="plaintext")

# Off unless it is given; there is nothing to take back.
Flag = Annotated[bool, Parameter(negative="")]
_LOOK = "Look with `zataku accounts show`, then try again."


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Where:
    """The server that a command is about. What is left out is set as for `zataku serve`."""

    data: Annotated[str | None, Parameter(help="The server's data folder.")] = None
    store: Annotated[
        str | None,
        Parameter(help="Its store: a path, file:PATH, dynamodb:, dynamodb://REGION or dynamodb+http://HOST:PORT."),
    ] = None
    env: Annotated[str | None, Parameter(help="Its environment: dev, prod or test.")] = None
    config: Annotated[str | None, Parameter(help="The file with its settings, instead of zataku.toml.")] = None

    def house(self) -> account_operations.House:
        """The server, found by the settings that it has itself."""
        flags = {"data": self.data, "store": self.store, "env": self.env}
        return account_operations.found(
            {name: value for name, value in flags.items() if value is not None}, self.config
        )


HERE = Where()


@app.command
def show(name: str, /, *, where: Where = HERE) -> int:
    """Say what is known about a user: role, language, sessions and keys.

    Parameters
    ----------
    name
        The user's name, in any spelling.
    """
    found = finished(account_operations.shown(where.house(), name), "")
    facts(
        [
            ("name", found.name),
            ("id", found.account_id),
            ("role", found.role),
            ("language", found.language),
            ("signed up", _moment(found.created_at)),
            ("last seen", _moment(found.last_seen_at)),
            ("sessions", str(found.sessions)),
            ("API keys", str(found.keys)),
        ]
    )
    return 0


@app.command
def reset_password(name: str, /, *, where: Where = HERE, stdin: Flag = False) -> int:
    """Give a user another password, sign them out everywhere and revoke their API keys.

    A random one is made and printed, unless it is given.

    Parameters
    ----------
    name
        The user's name, in any spelling.
    stdin
        Read the new password from standard input.
    """
    typed = _typed() if stdin else None
    password = account_operations.made_password() if typed is None else typed
    spelt = finished(account_operations.given(where.house(), "reset-password", name, password), _LOOK)
    aside(f"{spelt} has another password and is signed out everywhere; their API keys are revoked.")
    if typed is None:
        print(password)
    return 0


@app.command
def grant_admin(name: str, /, *, where: Where = HERE) -> int:
    """Let a user look after the server.

    Parameters
    ----------
    name
        The user's name, in any spelling.
    """
    print(f"{finished(account_operations.given(where.house(), 'grant-admin', name), _LOOK)} is an admin.")
    return 0


@app.command
def revoke_admin(name: str, /, *, where: Where = HERE) -> int:
    """Let a user look after the server no more.

    Parameters
    ----------
    name
        The user's name, in any spelling.
    """
    print(f"{finished(account_operations.given(where.house(), 'revoke-admin', name), _LOOK)} is no admin.")
    return 0


@app.command
def sign_out(name: str, /, *, where: Where = HERE) -> int:
    """Sign a user out everywhere. API keys stay in force.

    Parameters
    ----------
    name
        The user's name, in any spelling.
    """
    print(f"{finished(account_operations.given(where.house(), 'sign-out', name), _LOOK)} is signed out everywhere.")
    return 0


@app.command
def delete(name: str, /, *, where: Where = HERE, yes: Flag = False) -> int:
    """Delete a user's account with everything it owns in every system.

    Parameters
    ----------
    name
        The user's name, in any spelling.
    yes
        Do not ask for the name once more.
    """
    house = where.house()
    if not yes:
        _confirm(finished(account_operations.shown(house, name), "").name)
    spelt = finished(account_operations.given(house, "delete", name), _LOOK)
    print(f"{spelt} is deleted. The server removes what they own in the background, or when it is started next.")
    return 0


def _typed() -> str:
    if sys.stdin.isatty():
        return getpass("New password: ")
    try:
        return sys.stdin.readline().rstrip("\r\n")
    except UnicodeDecodeError:
        raise InvalidRequest("The password is not in UTF-8. Give another one.", code="bad_password") from None


def _confirm(name: str) -> None:
    if not sys.stdin.isatty():
        raise InvalidRequest(f"This deletes everything that {name} owns. Nobody is here to confirm it: add --yes.")
    aside(f"This deletes everything that {name} owns.")
    print(f"Type {name} to go on: ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip() != name:
        raise InvalidRequest("That is not the name. Nothing was changed.")


def _moment(millis: int) -> str:
    return datetime.fromtimestamp(millis / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
