"""A real server on a loopback port, started and stopped as a host would."""

import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-c", "from zataku.cli import main; main()", "serve"]


@contextmanager
def serving(*options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    process = subprocess.Popen([*COMMAND, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().removeprefix("Zataku is at ").strip()
    finally:
        process.kill()
        process.communicate()


def fetch(address: str, **headers: str) -> tuple[int, str]:
    request = urllib.request.Request(address, headers={name.replace("_", "-"): text for name, text in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode()


def test_a_host_starts_it_and_people_read_it_in_three_languages(tmp_path: Path):
    with serving("--port", "0", "--data", str(tmp_path / "kept" / "here")) as (_, address):
        assert "いま、座卓をととのえています。" in fetch(address, Accept_Language="ja-JP,ja;q=0.9")[1]
        assert "지금 상을 차리고 있어요." in fetch(address, Accept_Language="ko")[1]
        assert "We&#x27;re setting the table." in fetch(address, Accept_Language="fr")[1]
        assert json.loads(fetch(address + "healthz")[1]) == {"status": "ok"}
        status, body = fetch(address + "nowhere")
        assert (status, json.loads(body)["error"]["code"]) == (404, "not_found")
        assert (tmp_path / "kept" / "here").is_dir()


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_quietly_when_asked(tmp_path: Path, sent: signal.Signals):
    with serving("--port", "0", "--data", str(tmp_path)) as (process, address):
        assert fetch(address + "healthz")[0] == 200
        process.send_signal(sent)
        printed, complained = process.communicate(timeout=20)
        assert (process.returncode, printed, complained) == (0, "", "")


def test_a_port_in_use_is_one_clear_line_and_exit_code_one(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = subprocess.run(
            [*COMMAND, "--port", port, "--data", str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
        )
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert ended.stderr.splitlines() == [
        f"Port {port} on 127.0.0.1 is already in use. Stop what uses it, or choose another with --port."
    ]


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path: Path):
    (tmp_path / "file").write_text("not a folder")
    ended = subprocess.run(
        [*COMMAND, "--data", str(tmp_path / "file" / "data")], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith("Cannot keep data in ")
    assert ended.stderr.rstrip().endswith("Choose another with --data.")
    assert len(ended.stderr.splitlines()) == 1
