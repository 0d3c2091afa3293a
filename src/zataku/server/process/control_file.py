"""The file by which the command line finds the server that runs on this machine."""

import os
from pathlib import Path

import msgspec

from zataku.accounts.control_file import CONTROL_FILE, ControlFile
from zataku.accounts.secrets import Secret


def write_control_file(folder: Path, url: str, token: Secret) -> None:
    """Say where the server is and what to show it, to its own user alone. What an earlier process left is replaced."""
    path = folder / CONTROL_FILE
    fresh = path.with_name(f"{CONTROL_FILE}.{os.getpid()}")
    said = msgspec.json.encode(ControlFile(url=url, token=token.revealed()))
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(said)
    fresh.replace(path)


def remove_control_file(folder: Path, token: Secret) -> None:
    """Take the file away, unless another process has written its own."""
    path = folder / CONTROL_FILE
    try:
        if msgspec.json.decode(path.read_bytes(), type=ControlFile).token == token.revealed():
            path.unlink()
    except (FileNotFoundError, msgspec.MsgspecError):
        # Somebody has tidied up, or writes just now.
        pass
