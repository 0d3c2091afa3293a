"""What a host can set when starting Zataku."""

import re
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, Literal, TypeAlias, get_args, get_type_hints
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from zataku.errors import InvalidRequest

Env: TypeAlias = Literal["dev", "prod", "test"]
MEBIBYTE = 1024 * 1024
_HOST = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*")


class BadSetting(InvalidRequest):
    """A setting has a value that cannot be."""

    code = "bad_setting"


STORE_FILE = "zataku.db"
"""The name of the store in the data folder."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that can be set, each with its meaning. A text that is empty is not set."""

    host: Annotated[str, Meta(description="Address to listen on; 0.0.0.0 lets others on your network in.")] = (
        "127.0.0.1"
    )
    port: Annotated[int, Meta(ge=0, le=65535, description="Port to listen on; 0 takes any free one.")] = 8000
    public_url: Annotated[
        str,
        Meta(
            description="Where people reach the server, such as https://table.example.org. It goes into links and QR "
            "codes, and writes are taken from its pages only."
        ),
    ] = ""
    data: Annotated[str, Meta(min_length=1, description="Folder that keeps everything people make here.")] = "data"
    store: Annotated[
        str,
        Meta(
            description="Where the tables are: a path, file:PATH, dynamodb:, dynamodb://REGION or "
            "dynamodb+http://HOST:PORT. Unset, it is zataku.db in the data folder."
        ),
    ] = ""
    bus: Annotated[
        str,
        Meta(description="What joins several server processes: memory for one alone, or redis://HOST:PORT/DB."),
    ] = "memory"
    env: Annotated[
        Env,
        Meta(
            description="Environment; outside prod the name of every table ends in it. In test the clock can be pushed."
        ),
    ] = "prod"
    demo: Annotated[bool, Meta(description="Fill an empty store with something to look at.")] = True
    log: Annotated[Literal["text", "json"], Meta(description="Form of the log lines.")] = "text"
    proxies: Annotated[
        tuple[str, ...],
        Meta(description="Addresses or networks whose X-Forwarded-For and X-Forwarded-Proto are believed."),
    ] = ()
    metrics_token: Annotated[
        str, Meta(description="Lets whoever sends it as a bearer token read /metrics from another machine.")
    ] = ""
    body_limit: Annotated[
        int, Meta(ge=1024, le=64 * MEBIBYTE, description="Most bytes that the body of a request may have.")
    ] = MEBIBYTE
    upload_limit: Annotated[
        int, Meta(ge=1024, description="Most bytes that a file may have which an admin brings, such as a backup.")
    ] = 1024 * MEBIBYTE
    request_seconds: Annotated[
        int, Meta(ge=1, le=3600, description="Seconds that a request may take until its answer begins.")
    ] = 30
    sockets_per_address: Annotated[
        int, Meta(ge=1, description="Most sockets open at once from one address; a hall may share one.")
    ] = 2000
    sockets_per_account: Annotated[int, Meta(ge=1, description="Most sockets open at once of one account.")] = 20
    prices: Annotated[
        str,
        Meta(
            description="What DynamoDB costs, for the estimate on the admin page: region, day, US dollars for a "
            "million read units, a million write units and a gigabyte for a month. Unset, those of us-east-1."
        ),
    ] = ""

    @property
    def folder(self) -> Path:
        """The data folder."""
        return Path(self.data)

    @property
    def store_url(self) -> str:
        """The store that is set, or the file in the data folder."""
        return self.store or str(self.folder / STORE_FILE)

    def __post_init__(self) -> None:
        if self.public_url:
            _check_public_url(self.public_url)
        if self.bus != "memory" and urlsplit(self.bus).scheme not in ("redis", "rediss"):
            raise BadSetting("bus is neither memory nor a URL such as redis://127.0.0.1:6379/0.", setting="bus")
        for proxy in self.proxies:
            _check_proxy(proxy)
        if self.prices:
            _check_prices(self.prices)


SECRETS = frozenset({"metrics_token"})
"""Settings that are never shown."""


def meanings() -> dict[str, str]:
    """What each setting means, in the order of their declaration."""
    told: dict[str, str] = {}
    for name, kind in get_type_hints(Settings, include_extras=True).items():
        meta: Meta = get_args(kind)[1]
        told[name] = meta.description or ""
    return told


def masked(name: str, value: object) -> object:
    """The value as it may be shown: without passwords and tokens."""
    if name in SECRETS:
        return "***" if value else ""
    if isinstance(value, str) and "@" in value and "://" in value:
        scheme, _, rest = value.partition("://")
        return f"{scheme}://***@{rest.rpartition('@')[2]}"
    return value


def _check_public_url(text: str) -> None:
    try:
        parts = urlsplit(text)
        wrong = parts.scheme not in ("http", "https") or not _is_host(parts.hostname or "") or parts.port == 0
    except ValueError:
        wrong, parts = True, urlsplit("")
    if (
        wrong
        or parts.path not in ("", "/")
        or parts.query
        or parts.fragment
        or "@" in parts.netloc
        or text != text.strip()
    ):
        raise BadSetting(
            "public_url must be http:// or https:// with a name and nothing after it, such as "
            "https://table.example.org. Write a name with other letters as browsers send it: xn--….",
            setting="public_url",
        )


def _is_host(name: str) -> bool:
    if ":" not in name:
        return _HOST.fullmatch(name) is not None
    try:
        return ip_address(name).version == 6 and "%" not in name
    except ValueError:
        return False


def _check_prices(text: str) -> None:
    # Loaded by those who set any.
    from zataku.server.admin.tables.prices import read_prices

    try:
        read_prices(text)
    except InvalidRequest as unreadable:
        raise BadSetting(unreadable.message, setting="prices") from None


def _check_proxy(text: str) -> None:
    try:
        ip_network(text)
    except ValueError:
        raise BadSetting(
            f"proxies: {text!r} is neither an address nor a network such as 10.0.0.0/8.", setting="proxies"
        ) from None
