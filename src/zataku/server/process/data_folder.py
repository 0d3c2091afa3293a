"""Files of the server in its data folder: the control file, and the session cutoff."""

import os
from pathlib import Path

import msgspec

from zataku.accounts.administration import CONTROL_FILE, ControlFile
from zataku.accounts.secrets import Secret
from zataku.table import Millis

SESSION_CUTOFF_FILE = "sessions-from"


def write_control_file(folder: Path, url: str, token: Secret) -> None:
    """Write the address and the token by which the command line reaches this process, replacing an older file.

    Only the server's own user may read it.
    """
    path = folder / CONTROL_FILE
    temporary = path.with_name(f"{CONTROL_FILE}.{os.getpid()}")
    content = msgspec.json.encode(ControlFile(url=url, token=token.reveal()))
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
    temporary.replace(path)


def remove_control_file(folder: Path, token: Secret) -> None:
    """Remove the control file, unless another process has written its own."""
    path = folder / CONTROL_FILE
    try:
        if msgspec.json.decode(path.read_bytes(), type=ControlFile).token == token.reveal():
            path.unlink()
    except (FileNotFoundError, msgspec.MsgspecError):
        # Already removed, or being replaced.
        pass


def read_session_cutoff(folder: Path) -> Millis:
    """The moment from which on sessions are valid; 0 when no backup was ever restored.

    A restored backup contains sessions that have ended since it was created. The file is not part of a backup.
    """
    try:
        return int((folder / SESSION_CUTOFF_FILE).read_text(encoding="ascii"))
    except FileNotFoundError:
        return 0


def write_session_cutoff(folder: Path, cutoff: Millis) -> None:
    """Make every session invalid that began before this moment."""
    path = folder / SESSION_CUTOFF_FILE
    temporary = path.with_name(f"{SESSION_CUTOFF_FILE}.{os.getpid()}")
    temporary.write_text(str(cutoff), encoding="ascii")
    temporary.replace(path)
