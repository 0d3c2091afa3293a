"""The file by which the command line finds a running server: only the server's own user can read it."""

import msgspec

CONTROL_FILE = "control.json"
"""Its name, in the server's data folder."""


class ControlFile(msgspec.Struct, frozen=True):
    """Where the server listens on this machine, and the token to show there."""

    url: str
    token: str

    def __repr__(self) -> str:
        return f"ControlFile({self.url!r}, …)"
