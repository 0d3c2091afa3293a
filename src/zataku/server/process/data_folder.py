"""Files of the server in its data folder: the control file, and the session cutoff."""

import os
import re
from pathlib import Path

import msgspec

from zataku.accounts.administration import CONTROL_FILE, ControlFile
from zataku.accounts.secrets import Secret
from zataku.errors import InvalidRequest, Unavailable
from zataku.table import Millis

SESSION_CUTOFF_FILE = "sessions-from"
# More than the time and white space; a device in the place of the file has no end.
_MAX_CUTOFF_BYTES = 64


def write_control_file(folder: Path, url: str, token: Secret) -> None:
    """Write the address and the token by which the command line reaches this process, replacing an older file.

    Only the server's own user may read it.
    """
    _replace_file(folder / CONTROL_FILE, msgspec.json.encode(ControlFile(url=url, token=token.reveal())))


def remove_control_file(folder: Path, token: Secret) -> None:
    """Remove the control file, unless another process has written its own."""
    path = folder / CONTROL_FILE
    try:
        if msgspec.json.decode(path.read_bytes(), type=ControlFile).token == token.reveal():
            path.unlink()
    except (OSError, ValueError):
        # Already removed, being replaced, or not a control file: msgspec raises a ValueError.
        pass


def read_session_cutoff(folder: Path) -> Millis:
    """The moment from which on sessions are valid; 0 when no backup was ever restored.

    A restored backup contains sessions that have ended since it was created. The file is not part of a backup.
    """
    path = folder / SESSION_CUTOFF_FILE
    # A link to nothing is not a missing file: sessions of the backup would be valid again.
    if not os.path.lexists(path):
        return 0
    content = b""
    # Whoever reads a pipe waits until somebody writes.
    if not path.is_fifo():
        with path.open("rb") as file:
            content = file.read(_MAX_CUTOFF_BYTES).strip()
    # Thirteen digits last until the year 2286.
    if not re.fullmatch(rb"[0-9]{1,13}", content):
        raise InvalidRequest(
            f"{path} does not hold a time in milliseconds: it says since when sessions are valid after a restored "
            f"backup. Write the present time into it, which signs everybody out: date +%s000 > {path}",
            code="bad_setting",
        )
    return int(content)


def write_session_cutoff(folder: Path, cutoff: Millis) -> None:
    """Make every session invalid that began before this moment."""
    path = folder / SESSION_CUTOFF_FILE
    try:
        _replace_file(path, str(cutoff).encode())
    except OSError as error:
        raise Unavailable(
            f"Everything is restored, but {path} could not be written ({error.strerror}): from the next start on, "
            "sessions of the backup that have ended since are valid again. Write the present time into it: "
            f"date +%s000 > {path}"
        ) from error


def _replace_file(path: Path, content: bytes) -> None:
    """Replace a file as a whole, readable by the server's own user alone. An error names the file itself."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error
