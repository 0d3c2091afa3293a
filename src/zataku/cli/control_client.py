"""The client of a running server's control routes, for commands that need the store which the server holds."""

from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from zataku.accounts.administration import CONTROL_FILE, ActionDone, ActionRequest, AdminAction, ControlFile
from zataku.cli.server_options import ServerTarget
from zataku.errors import Problem, RequestError, Unavailable
from zataku.table import StoreUrl

# Longer than hashing a password takes on a slow machine under load.
_TIMEOUT_SECONDS = 30
_MAX_CONTROL_FILE_BYTES = 64 * 1024


class _ErrorResponse(msgspec.Struct, frozen=True):
    error: Problem


def running_process(url: StoreUrl) -> str | None:
    """The process that holds an embedded store; None when it is free, and on DynamoDB."""
    if url.path is None:
        return None
    # Imported here: commands on DynamoDB do not load SQLite.
    from zataku.table.embedded.file.lock import lock_holder

    return lock_holder(url.path)


def send_action(target: ServerTarget, process: str, action: AdminAction, request: ActionRequest) -> str:
    """Have the running server perform an action; returns the name as its owner spells it."""
    control = _read_control_file(target, process)
    try:
        status, body = _post(control, action, request)
    except (OSError, HTTPException) as problem:
        raise _unreachable(f"The server at {control.url} does not answer: {problem}. Try again, or stop it.") from None
    except ValueError:
        # An address or a token that no request can have.
        raise _unreadable(target.folder / CONTROL_FILE) from None
    return _decode(status, body, control.url)


def _post(control: ControlFile, action: AdminAction, request: ActionRequest) -> tuple[int, bytes]:
    address = urlsplit(control.url)
    connection = HTTPConnection(address.hostname or "127.0.0.1", address.port or 80, timeout=_TIMEOUT_SECONDS)
    headers = {"Authorization": f"Control {control.token}", "Content-Type": "application/json"}
    try:
        connection.request("POST", f"/control/accounts/{action}", msgspec.json.encode(request), headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def _read_control_file(target: ServerTarget, process: str) -> ControlFile:
    path = target.folder / CONTROL_FILE
    try:
        # Whoever reads a pipe waits until somebody writes, and a device has no end.
        if path.exists() and not path.is_file():
            raise _unreadable(path)
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(_MAX_CONTROL_FILE_BYTES), type=ControlFile)
    except FileNotFoundError:
        raise _unreachable(
            f"Process {process} holds {target.url}, and {path} does not say how to reach it. Give the --data folder "
            "of the running server, wait until it has started, or stop it."
        ) from None
    except (OSError, ValueError):
        # msgspec raises a ValueError, also for what is not UTF-8.
        raise _unreadable(path) from None


def _decode(status: int, body: bytes, url: str) -> str:
    try:
        if status == 200:
            return msgspec.json.decode(body, type=ActionDone).name
        problem = msgspec.json.decode(body, type=_ErrorResponse).error
    except ValueError:
        raise _unreachable(f"What answers at {url} is not this server. Restart it.") from None
    raise RequestError(problem.message, code=problem.code)


def _unreadable(path: Path) -> Unavailable:
    return _unreachable(f"{path} cannot be read. Restart the server.")


def _unreachable(message: str) -> Unavailable:
    return Unavailable(message, code="server_out_of_reach")
