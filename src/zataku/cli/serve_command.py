"""The command that starts the server."""

from dataclasses import asdict, dataclass
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """Settings on the command line. Others come from variables, the file or the defaults."""

    host: Annotated[
        str | None,
        Parameter(help="Address to listen on; 0.0.0.0 lets others on your network in. Else 127.0.0.1."),
    ] = None
    port: Annotated[
        int | None,
        Parameter(help="Port to listen on; 0 takes any free one. Else 8000.", validator=Number(gte=0, lte=65535)),
    ] = None
    public_url: Annotated[
        str | None, Parameter(help="Where people reach the server, such as https://table.example.org.")
    ] = None
    data: Annotated[
        str | None, Parameter(help="Folder that keeps everything people make here. Else the folder data.")
    ] = None
    store: Annotated[
        str | None,
        Parameter(
            help="Where the tables are: a path, file:PATH, dynamodb:, dynamodb://REGION or dynamodb+http://HOST:PORT. "
            "Else zataku.db in the data folder."
        ),
    ] = None
    bus: Annotated[
        str | None,
        Parameter(help="What joins several server processes: memory for one alone, or redis://HOST:PORT/DB."),
    ] = None
    env: Annotated[
        Literal["dev", "prod", "test"] | None,
        Parameter(help="Environment; outside prod the name of every table ends in it. Else prod."),
    ] = None
    demo: Annotated[bool | None, Parameter(help="Fill an empty store with something to look at; on by default.")] = None
    log: Annotated[Literal["text", "json"] | None, Parameter(help="Form of the log lines. Else text.")] = None


NO_OPTIONS = ServeOptions()


def serve(
    options: ServeOptions = NO_OPTIONS,
    *,
    config: Annotated[str | None, Parameter(help="File with settings, instead of zataku.toml.")] = None,
) -> int:
    """Start the server.

    Options that are left out come from variables such as ZATAKU_PORT, then from the file zataku.toml. `zataku settings`
    shows the effective values, and what else can be set.
    """
    # Imported here: --help and --version do not load the server.
    from zataku.cli.settings_command import load_or_explain
    from zataku.server.process.serve import serve as serve_until_stopped

    loaded = load_or_explain({name: value for name, value in asdict(options).items() if value is not None}, config)
    return 1 if loaded is None else serve_until_stopped(loaded.settings)
