"""The command that starts the server."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number


def serve(
    *,
    host: str = "127.0.0.1",
    port: Annotated[int, Parameter(validator=Number(gte=0, lte=65535))] = 8000,
    data: Path = Path("data"),
) -> int:
    """Start the server.

    Parameters
    ----------
    host
        Address to listen on; 0.0.0.0 lets others on your network in.
    port
        Port to listen on; 0 takes any free one.
    data
        Folder that keeps everything people make here.
    """
    # Imported here so that --help and --version do not load the server.
    from zataku.server.serving import serve as serve_until_stopped
    from zataku.server.settings import Settings

    return serve_until_stopped(Settings(host=host, port=port, data_directory=data))
