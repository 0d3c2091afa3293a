"""A server process on a loopback port, started and stopped by the command line."""

import asyncio
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from zataku.server.process.serve import _failure_message

COMMAND = [sys.executable, "-c", "from zataku.cli import main; main()", "serve", "--no-demo"]
DEADLINE = 30.0


@contextmanager
def running_server(*options: str, port: str = "0") -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [*COMMAND, "--port", port, *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().removeprefix("Zataku is at ").strip().rstrip("/")
    finally:
        process.kill()
        process.communicate()


def run_to_end(*options: str, port: str = "0") -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, "--port", port, *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def fetch(address: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(address, timeout=DEADLINE) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode()


def is_ready(address: str) -> bool:
    try:
        return fetch(f"{address}/readyz")[0] == 200
    except OSError:
        return False


def wait_ready(address: str) -> None:
    until = time.monotonic() + DEADLINE
    while fetch(f"{address}/readyz")[0] != 200:
        assert time.monotonic() < until, "The server does not get ready."
        time.sleep(0.02)


async def receive_until(connection: ClientConnection, is_wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    async with asyncio.timeout(DEADLINE):
        while True:
            message = json.loads(await connection.recv())
            if is_wanted(message):
                return message


class BrowserClient:
    """A client with the same cookies over HTTP and on its socket."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.http = httpx.AsyncClient(base_url=address, headers={"origin": address}, timeout=DEADLINE)

    async def __aenter__(self) -> "BrowserClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()

    def socket(self, origin: str | None = None) -> connect:
        cookies = "; ".join(f"{name}={value}" for name, value in self.http.cookies.items())
        url = self.address.replace("http", "ws") + "/socket"
        return connect(  # type: ignore[arg-type]
            url, origin=origin or self.address, additional_headers={"cookie": cookies}, open_timeout=DEADLINE
        )


@pytest.fixture
async def clients() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


async def test_two_clients_of_a_room_resume_after_a_restart(tmp_path: Path, clients: AsyncExitStack):
    with running_server("--data", str(tmp_path)) as (process, address):
        host, other = (
            await clients.enter_async_context(BrowserClient(address)),
            await clients.enter_async_context(BrowserClient(address)),
        )
        await asyncio.gather(host.http.get("/"), other.http.get("/"))
        room = (await host.http.post("/api/live/rooms", json={"name": "Talk"})).json()["roomId"]
        async with host.socket() as sender, other.socket() as receiver:
            for connection in (sender, receiver):
                await connection.send(json.dumps({"t": "join", "id": 1, "to": f"live/{room}"}))
                position = (await receive_until(connection, lambda message: message["t"] == "joined"))["at"]
            comment = {"k": "comment", "content": "hello"}
            await sender.send(json.dumps({"t": "do", "id": 2, "to": f"live/{room}", "what": comment}))
            await receive_until(sender, lambda message: message["t"] == "done" and message["id"] == 2)
            event = await receive_until(receiver, lambda message: message["t"] == "events")
            assert event["events"][0]["comment"]["content"] == "hello"
            process.send_signal(signal.SIGTERM)
            assert (await receive_until(receiver, lambda message: message["t"] == "come_back"))["after"] >= 1000
            with pytest.raises(ConnectionClosed) as closed:
                await receive_until(receiver, lambda _: False)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1012
        assert await asyncio.to_thread(process.wait, DEADLINE) == 0
    port = address.rpartition(":")[2]
    with running_server("--data", str(tmp_path), port=port) as (_, second_address):
        assert second_address == address
        async with other.socket() as receiver:
            await receiver.send(json.dumps({"t": "join", "id": 1, "to": f"live/{room}", "at": position}))
            joined = await receive_until(receiver, lambda message: message["t"] == "joined")
            assert joined["at"]["epoch"] > position["epoch"]
            assert [comment["content"] for comment in joined["snapshot"]["comments"]] == ["hello"]


@pytest.mark.parametrize("kind", ["garbage", "folder", "pipe"])
@pytest.mark.parametrize(
    "name", ["zataku.db", "zataku.db-wal", "zataku.db.lock", "zataku.db.mark", "sessions-from", "control.json"]
)
def test_a_side_file_that_is_not_what_it_was_is_named_without_a_traceback(tmp_path: Path, name: str, kind: str):
    file = tmp_path / name
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.write_bytes(b"\xff\xfe garbage" * 1000)
    with running_server("--data", str(tmp_path)) as (process, address):
        until = time.monotonic() + DEADLINE
        while process.poll() is None and not is_ready(address):
            assert time.monotonic() < until, "The server neither starts nor stops."
            time.sleep(0.02)
        if process.poll() is None:
            process.terminate()
            assert process.wait(DEADLINE) == 0
            return
        assert process.stderr is not None
        lines = process.stderr.read().splitlines()
        assert process.returncode == 1
        (message,) = lines
        assert message.startswith("Zataku cannot start. ")
        assert str(tmp_path / name.removesuffix("-wal").removesuffix("-shm")) in message


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_is_full_at_the_start_is_named(tmp_path: Path, error: int):
    message = _failure_message(OSError(error, os.strerror(error)), tmp_path)
    assert message == f"Zataku cannot start. The disk that holds {tmp_path} is full. Free some space."


def test_a_server_starts_with_one_sentence_on_a_full_disk(tmp_path: Path):
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)], capture_output=True, check=False
    ).returncode:
        pytest.skip("mounting a file system needs more rights")
    try:
        (tmp_path / "ballast").write_bytes(b"\0" * 60_000)
        ended = run_to_end("--data", str(tmp_path / "data"))
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
    assert ended.returncode == 1
    (message,) = ended.stderr.splitlines()
    assert message.startswith(("Zataku cannot start. The disk that holds", "Cannot keep data in"))


async def test_a_socket_closes_with_its_session_and_needs_an_origin_of_the_server(
    tmp_path: Path, clients: AsyncExitStack
):
    with running_server("--data", str(tmp_path), "--log", "json") as (process, address):
        user = await clients.enter_async_context(BrowserClient(address))
        await user.http.get("/?secret=word")
        with pytest.raises(InvalidStatus) as refused:
            async with user.socket("http://evil.example.org"):
                pass
        assert refused.value.response.status_code == 403
        assert json.loads(refused.value.response.body)["error"]["code"] == "wrong_origin"
        created = await user.http.post("/api/accounts", json={"name": "Hanako", "password": "a long enough one"})
        assert created.status_code == 201
        async with user.socket() as connection:
            await receive_until(connection, lambda message: message["t"] == "welcome")
            assert (await user.http.delete("/api/sessions")).status_code == 204
            with pytest.raises(ConnectionClosed) as closed:
                await receive_until(connection, lambda _: False)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 4001
        process.send_signal(signal.SIGINT)
        printed, logged = await asyncio.to_thread(process.communicate, timeout=DEADLINE)
        assert (process.returncode, printed) == (0, "")
    lines = [json.loads(line) for line in logged.splitlines()]
    sign_up = next(line for line in lines if line.get("route") == "/api/accounts")
    assert (sign_up["method"], sign_up["status"]) == ("POST", 201)
    assert sign_up.keys() >= {"ms", "request_id", "account", "timestamp"}
    for secret in ("secret", "a long enough one", "zataku_session", "zataku_guest"):
        assert secret not in logged


def test_the_server_can_be_stopped_while_it_opens(tmp_path: Path):
    with running_server("--data", str(tmp_path)) as (process, _):
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=DEADLINE)
        assert (process.returncode, output, errors) == (0, "", "")


def test_a_store_that_another_server_holds_is_an_error_of_one_line(tmp_path: Path):
    with running_server("--data", str(tmp_path), "--env", "dev") as (process, address):
        wait_ready(address)
        second = run_to_end("--data", str(tmp_path), "--env", "dev")
        assert second.returncode == 1
        assert second.stderr.startswith(f"Zataku cannot start. Another process holds {tmp_path / 'zataku.db'}")
        assert len(second.stderr.splitlines()) == 1
        for name in ("zataku.db", "zataku.db-wal", "control.json"):
            assert (tmp_path / name).stat().st_mode & 0o077 == 0, name
        # The second server does not remove the control file of the first.
        assert json.loads((tmp_path / "control.json").read_text())["url"] == address
        process.send_signal(signal.SIGTERM)
        assert process.wait(DEADLINE) == 0
        assert not (tmp_path / "control.json").exists()


def test_a_port_in_use_ends_the_process_with_one_line_and_exit_code_one(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = run_to_end("--data", str(tmp_path), port=port)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.splitlines() == [
        f"Port {port} on 127.0.0.1 is already in use. Stop what uses it, or choose another with --port."
    ]


def test_a_folder_that_cannot_be_created_is_an_error_of_one_line(tmp_path: Path):
    (tmp_path / "file").write_text("not a folder")
    refused = run_to_end("--data", str(tmp_path / "file" / "data"))
    assert refused.returncode == 1
    assert refused.stderr.startswith("Cannot keep data in ")
    assert refused.stderr.rstrip().endswith("Choose another with --data.")
    assert len(refused.stderr.splitlines()) == 1
