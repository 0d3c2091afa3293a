"""Administration of accounts on the command line, beside a running server and without one."""

import asyncio
import io
import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from litestar import Litestar, Request, Response

from tests.accounts.account_services import fast_hasher
from tests.accounts.browsers import from_loopback
from tests.cli.command_line import CommandLine
from zataku.accounts.administration import CONTROL_FILE
from zataku.accounts.authentication import Authenticator
from zataku.accounts.control_routes import control_routes
from zataku.accounts.passwords import Passwords
from zataku.accounts.secrets import Secret
from zataku.accounts.service import Accounts
from zataku.clock import SystemClock
from zataku.errors import RequestError
from zataku.platform.design import TABLES, Account, job
from zataku.table import Store, open_store

TOKEN = Secret("t" * 43)
CLOCK = SystemClock()


@pytest.fixture(autouse=True)
def weak_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the passwords that commands set fast to hash."""
    monkeypatch.setattr("zataku.cli.account_commands.Passwords", lambda: Passwords(fast_hasher()))


async def sign_up_in(store: Store) -> Account:
    authenticator = await Authenticator.open(store, CLOCK, "http://127.0.0.1:8000")
    passwords = Passwords(fast_hasher())
    try:
        accounts = Accounts(store, CLOCK, passwords)
        guest, _ = authenticator.new_guest("ja")
        return (await accounts.sign_up(guest, "Hana", Secret("correct horse"), "Firefox"))[0]
    finally:
        passwords.close()


@pytest.fixture
def hana(bare: CommandLine) -> Account:
    """A user in the store."""

    async def sign_up() -> Account:
        async with await open_store(str(bare.folder / "data" / "zataku.db"), TABLES) as store:
            return await sign_up_in(store)

    return asyncio.run(sign_up())


def can_sign_in(folder: Path, password: str) -> bool:
    """True when the password is the one of the user."""

    async def sign_in() -> bool:
        passwords = Passwords(fast_hasher())
        try:
            async with await open_store(str(folder / "data" / "zataku.db"), TABLES) as store:
                await Accounts(store, CLOCK, passwords).sign_in("Hana", Secret(password), "")
        except RequestError:
            return False
        finally:
            passwords.close()
        return True

    return asyncio.run(sign_in())


def _error_response(_: Request[Any, Any, Any], error: RequestError) -> Response[Any]:
    return Response({"error": error.problem}, status_code=error.status)


class ControlServer:
    """A server that holds the store and performs actions, in a thread of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._ready = threading.Event()
        self._server: uvicorn.Server | None = None
        self.thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    async def _serve(self) -> None:
        passwords = Passwords(fast_hasher())
        async with await open_store(str(self._folder / "zataku.db"), TABLES) as store:
            app = Litestar(
                list(control_routes(Accounts(store, CLOCK, passwords), TOKEN, from_loopback)),
                exception_handlers={RequestError: _error_response},
                logging_config=None,
            )
            self._server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off", ws="none"))
            self._ready.set()
            await self._server.serve(sockets=[self._listening])
        passwords.close()

    def start(self) -> None:
        self.thread.start()
        assert self._ready.wait(10)
        text = json.dumps({"url": self.url, "token": TOKEN.reveal()})
        (self._folder / CONTROL_FILE).write_text(text, encoding="utf-8")

    def stop(self) -> None:
        assert self._server is not None
        self._server.should_exit = True
        self.thread.join(10)
        self._listening.close()


@contextmanager
def running_server(folder: Path) -> Iterator[ControlServer]:
    """A running server on the data folder."""
    server = ControlServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def test_a_user_is_shown_by_any_spelling_of_the_name(bare: CommandLine, hana: Account) -> None:
    printed = bare.good("accounts", "show", "ＨＡＮＡ")
    lines = dict(line.split("  ", 1) for line in printed.splitlines())
    assert lines["name"].strip() == "Hana"
    assert lines["id"].strip() == hana.account_id
    assert lines["role"].strip() == "user"
    assert lines["sessions"].strip() == "1"
    assert "argon2" not in printed


def test_admin_rights_are_granted_and_revoked(bare: CommandLine, hana: Account) -> None:
    assert bare.good("accounts", "grant-admin", "hana") == "Hana is an admin.\n"
    assert "admin" in bare.good("accounts", "show", "hana")
    assert bare.good("accounts", "revoke-admin", "hana") == "Hana is no longer an admin.\n"
    assert "admin" not in bare.good("accounts", "show", "hana")


def test_a_new_password_is_generated_and_printed_alone(bare: CommandLine, hana: Account) -> None:
    printed = bare.good("accounts", "reset-password", "hana")
    assert len(printed.strip()) == 16
    assert can_sign_in(bare.folder, printed.strip())
    assert not can_sign_in(bare.folder, "correct horse")


def test_a_password_from_standard_input_is_not_printed(
    bare: CommandLine, hana: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("battery staple\n"))
    result = bare("accounts", "reset-password", "hana", "--stdin")
    assert (result.code, result.out) == (0, "")
    assert "staple" not in result.err
    assert can_sign_in(bare.folder, "battery staple")


@pytest.mark.parametrize("typed", ["short", "", "x" * 201, "ab\udcffdefghi"])
def test_an_invalid_password_is_refused(
    bare: CommandLine, hana: Account, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed + "\n"))
    assert bare.refused("accounts", "reset-password", "hana", "--stdin").endswith("(bad_password)")
    assert can_sign_in(bare.folder, "correct horse")


def test_a_user_is_signed_out_everywhere(bare: CommandLine, hana: Account) -> None:
    assert bare.good("accounts", "sign-out", "hana") == "Hana is signed out everywhere.\n"
    assert "sessions   0" in bare.good("accounts", "show", "hana")


def test_deleting_an_account_without_a_terminal_needs_the_yes_option(
    bare: CommandLine, hana: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert "add --yes" in bare.refused("accounts", "delete", "hana")
    bare.good("accounts", "show", "hana")
    assert bare.good("accounts", "delete", "hana", "--yes").startswith("Hana is deleted.")
    assert bare.refused("accounts", "show", "hana").endswith("(no_such_account)")
    assert not can_sign_in(bare.folder, "correct horse")


def test_an_unknown_name_and_a_missing_store_are_different_errors(bare: CommandLine, hana: Account) -> None:
    for name in ("otto", "x", "x" * 100, "\udcff"):
        assert bare.refused("accounts", "grant-admin", name).endswith("(no_such_account)")
    line = bare.refused("accounts", "grant-admin", "hana", "--data", "elsewhere")
    assert "There is no store at elsewhere/zataku.db" in line
    assert not Path("elsewhere").exists()


def test_actions_reach_a_running_server(bare: CommandLine, hana: Account) -> None:
    with running_server(bare.folder / "data"):
        # The server logs to the same output.
        assert bare.good("accounts", "grant-admin", "hana").endswith("Hana is an admin.\n")
        assert "admin" in bare.good("accounts", "show", "hana")
        password = bare.good("accounts", "reset-password", "hana").splitlines()[-1]
        assert bare.refused("accounts", "grant-admin", "otto").endswith("(no_such_account)")
    assert can_sign_in(bare.folder, password)


def test_an_account_is_deleted_by_a_running_server(bare: CommandLine, hana: Account) -> None:
    with running_server(bare.folder / "data"):
        bare.good("accounts", "sign-out", "hana")
        bare.good("accounts", "delete", "hana", "--yes")

    async def removal_is_due() -> bool:
        async with await open_store(str(bare.folder / "data" / "zataku.db"), TABLES) as store:
            return await store.get(job("platform", "remove_account", hana.account_id)) is not None

    assert asyncio.run(removal_is_due())


GARBAGE = (
    b"",
    b"{",
    b"\xff\xfe{}",
    b'{"url": 1}',
    b'{"url": "\xff", "token": ""}',
    b'{"url": "http://[::1", "token": ""}',
    b'{"url": "http://127.0.0.1:99999/", "token": ""}',
    b'{"url": "http://127.0.0.1:1/", "token": "a\\nb"}',
    b'{"url": "http://a..b/", "token": ""}',
)


def test_an_unreachable_server_is_an_error_with_advice(bare: CommandLine, hana: Account) -> None:
    control = bare.folder / "data" / CONTROL_FILE
    with running_server(bare.folder / "data") as server:
        original = control.read_text(encoding="utf-8")
        control.unlink()
        line = bare.refused("accounts", "grant-admin", "hana")
        assert "does not say how to reach it. Give the --data folder" in line
        for garbage in GARBAGE:
            control.write_bytes(garbage)
            assert "control.json cannot be read" in bare.refused("accounts", "grant-admin", "hana")
        control.unlink()
        control.mkdir()
        assert "control.json cannot be read" in bare.refused("accounts", "grant-admin", "hana")
        control.rmdir()
        control.touch()
        os.truncate(control, 1 << 40)
        assert "control.json cannot be read" in bare.refused("accounts", "grant-admin", "hana")
        control.unlink()
        os.mkfifo(control)
        assert "control.json cannot be read" in bare.refused("accounts", "grant-admin", "hana")
        control.unlink()
        control.write_text(original.replace("t" * 43, "wrong"), encoding="utf-8")
        assert bare.refused("accounts", "grant-admin", "hana").endswith("(forbidden)")
        closed = socket.create_server(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        closed.close()
        control.write_text(original.replace(server.url, f"http://127.0.0.1:{port}"), encoding="utf-8")
        line = bare.refused("accounts", "grant-admin", "hana")
        assert "does not answer" in line
        assert "t" * 43 not in line
