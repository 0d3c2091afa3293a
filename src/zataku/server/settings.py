"""What a host can set when starting Zataku."""

from pathlib import Path

import msgspec


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Where to listen and where to keep what people make."""

    host: str = "127.0.0.1"
    port: int = 8000
    data_directory: Path = Path("data")
