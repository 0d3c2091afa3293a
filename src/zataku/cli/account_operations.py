"""Orders about accounts, carried out where it is possible: in the store, or by the running server that holds it."""

import os
import secrets
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from zataku.accounts.administration import (
    CONTROL_FILE,
    AccountAdministration,
    AccountFacts,
    ActionDone,
    ActionRequest,
    AdminAction,
    ControlFile,
    no_such_account,
)
from zataku.accounts.passwords import Passwords, check_password
from zataku.accounts.secrets import Secret
from zataku.accounts.service import Accounts
from zataku.clock import SystemClock
from zataku.errors import NotFound, Problem, RequestError, Unavailable
from zataku.platform.design import TABLES
from zataku.platform.names import NO_NAME, claim_form
from zataku.server.settings import load_settings
from zataku.table import StoreUrl, open_store

# Longer than a password takes to hash on a slow machine under load.
_PATIENCE = 30


class House(msgspec.Struct, frozen=True, kw_only=True):
    """A server as its settings describe it, whether it runs or not."""

    place: StoreUrl
    env: str
    folder: Path


class _Answer(msgspec.Struct, frozen=True):
    error: Problem


def found(flags: Mapping[str, object], config: str | None) -> House:
    """The server that the settings are about."""
    settings = load_settings(flags, os.environ, config).settings
    return House(place=StoreUrl.parse(settings.store_url), env=settings.env, folder=settings.folder)


def made_password() -> str:
    """A password that nobody has to remember for long."""
    return secrets.token_urlsafe(12)


async def shown(house: House, name: str) -> AccountFacts:
    """What is known about a user. It only looks, so a server may hold the store."""
    async with _caretaker(house, read_only=True) as caretaker:
        return await caretaker.show(name)


async def given(house: House, verb: AdminAction, name: str, password: str | None = None) -> str:
    """Carry an order out; gives the name as its owner spells it."""
    if claim_form(name) == NO_NAME:
        raise no_such_account(name)
    if password is not None:
        check_password(Secret(password), name)
    order = ActionRequest(name=name, password=password)
    process = _holder(house.place)
    if process is not None:
        return _sent(_control(house, process), verb, order)
    async with _caretaker(house, read_only=False) as caretaker:
        return (await caretaker.perform(verb, order)).name


@asynccontextmanager
async def _caretaker(house: House, *, read_only: bool) -> AsyncGenerator[AccountAdministration]:
    place = house.place
    if place.path is not None and not place.path.exists():
        raise NotFound(f"There is no store at {place.path}. Give the server's --data or --store.", code="no_store")
    clock, passwords = SystemClock(), Passwords()
    # On DynamoDB this means that tables are not made or changed; accounts may be.
    kept = await open_store(place, TABLES, env=house.env, clock=clock, read_only=read_only or place.path is None)
    try:
        async with kept as store:
            yield AccountAdministration(Accounts(store, clock, passwords))
    finally:
        passwords.close()


# A running server


def _holder(place: StoreUrl) -> str | None:
    if place.path is None:
        return None
    # SQLite is loaded only by those who use it.
    from zataku.table.embedded.file.lock import lock_holder

    return lock_holder(place.path)


def _control(house: House, process: str) -> ControlFile:
    path = house.folder / CONTROL_FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=ControlFile)
    except FileNotFoundError:
        raise _out_of_reach(
            f"Process {process} holds {house.place}, and {path} does not say how to reach it. Give the --data folder "
            "of the running server, wait until it has started, or stop it."
        ) from None
    except msgspec.DecodeError:
        raise _out_of_reach(f"{path} cannot be read. Restart the server.") from None


def _sent(control: ControlFile, verb: AdminAction, order: ActionRequest) -> str:
    place = urlsplit(control.url)
    connection = HTTPConnection(place.hostname or "127.0.0.1", place.port or 80, timeout=_PATIENCE)
    headers = {"Authorization": f"Control {control.token}", "Content-Type": "application/json"}
    try:
        connection.request("POST", f"/control/accounts/{verb}", msgspec.json.encode(order), headers)
        answer = connection.getresponse()
        body = answer.read()
    except (OSError, HTTPException) as problem:
        raise _out_of_reach(f"The server at {control.url} does not answer: {problem}. Try again, or stop it.") from None
    finally:
        connection.close()
    return _understood(answer.status, body, control.url)


def _understood(status: int, body: bytes, url: str) -> str:
    try:
        if status == 200:
            return msgspec.json.decode(body, type=ActionDone).name
        problem = msgspec.json.decode(body, type=_Answer).error
    except msgspec.DecodeError:
        raise Unavailable(
            f"What answers at {url} is not this server. Restart it.", code="server_out_of_reach"
        ) from None
    raise RequestError(problem.message, code=problem.code)


def _out_of_reach(message: str) -> Unavailable:
    return Unavailable(message, code="server_out_of_reach")
