"""The settings of the server, and the sources they are loaded from.

Flags win over environment variables, these over the file, and the file over the defaults.
"""

import difflib
import re
import tomllib
from collections.abc import Mapping
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
    """A setting has an invalid value."""

    default_code = "bad_setting"


STORE_FILE = "zataku.db"
"""The name of the store's file in the data folder."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every setting with its description. An empty text is not set."""

    host: Annotated[str, Meta(description="Address to listen on; 0.0.0.0 lets others on your network in.")] = (
        "127.0.0.1"
    )
    port: Annotated[int, Meta(ge=0, le=65535, description="Port to listen on; 0 takes any free one.")] = 8000
    public_url: Annotated[
        str,
        Meta(
            description="Where people reach the server, such as https://table.example.org. It goes into links and QR "
            "codes, and writes are accepted from its pages only."
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
        Meta(description="Environment; outside prod every table name ends in it. In test the clock can be advanced."),
    ] = "prod"
    demo: Annotated[bool, Meta(description="Fill an empty store with something to look at.")] = True
    log: Annotated[Literal["text", "json"], Meta(description="Form of the log lines.")] = "text"
    proxies: Annotated[
        tuple[str, ...],
        Meta(description="Addresses or networks whose X-Forwarded-For and X-Forwarded-Proto are trusted."),
    ] = ()
    metrics_token: Annotated[
        str, Meta(description="A request with it as bearer token may read /metrics from another machine.")
    ] = ""
    body_limit: Annotated[
        int, Meta(ge=1024, le=64 * MEBIBYTE, description="Most bytes that the body of a request may have.")
    ] = MEBIBYTE
    upload_limit: Annotated[int, Meta(ge=1024, description="Most bytes that an uploaded backup may have.")] = (
        1024 * MEBIBYTE
    )
    request_seconds: Annotated[
        int, Meta(ge=1, le=3600, description="Seconds that a request may take until its response starts.")
    ] = 30
    connections_per_address: Annotated[
        int,
        Meta(
            ge=1,
            description="Most connections open at once from one address, sockets included; proxies are not limited.",
        ),
    ] = 4000
    sockets_per_address: Annotated[
        int, Meta(ge=1, description="Most sockets open at once from one address; a hall may share one.")
    ] = 2000
    sockets_per_account: Annotated[int, Meta(ge=1, description="Most sockets open at once of one account.")] = 20
    topics_per_address: Annotated[
        int, Meta(ge=1, description="Most different rooms and topics joined at once from one address.")
    ] = 1000
    joins_per_address: Annotated[
        int,
        Meta(ge=1, description="Joins of rooms and topics a second from one address; twenty times as many at once."),
    ] = 100
    commands_per_address: Annotated[
        int,
        Meta(
            ge=1,
            description="Comments, votes and other commands a second over the sockets of one address; twenty times as "
            "many at once.",
        ),
    ] = 100
    transients_per_address: Annotated[
        int,
        Meta(
            ge=1,
            description="Reactions and strokes a second over the sockets of one address; twice as many at once.",
        ),
    ] = 3000
    exports: Annotated[int, Meta(ge=1, description="Most exports of rooms that are downloaded at the same time.")] = 32
    exports_per_address: Annotated[
        int, Meta(ge=1, description="Most exports that are downloaded at the same time from one address.")
    ] = 8
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
        """Where the store is: as set, or the file in the data folder."""
        return self.store or str(self.folder / STORE_FILE)

    def __post_init__(self) -> None:
        for name in ("host", "data", "store", "bus"):
            if "\0" in getattr(self, name):
                raise BadSetting(f"{name} has a character that no path or address can have.", setting=name)
        if self.public_url:
            _check_public_url(self.public_url)
        if self.bus != "memory":
            _check_bus(self.bus)
        for proxy in self.proxies:
            _check_proxy(proxy)
        if self.prices:
            _check_prices(self.prices)


SECRETS = frozenset({"metrics_token"})
"""Settings that are never shown."""


def setting_descriptions() -> dict[str, str]:
    """The description of each setting, in the order of their declaration."""
    descriptions: dict[str, str] = {}
    for name, kind in get_type_hints(Settings, include_extras=True).items():
        meta: Meta = get_args(kind)[1]
        descriptions[name] = meta.description or ""
    return descriptions


def mask_secret(name: str, value: object) -> object:
    """The value of a setting without passwords and tokens."""
    if name in SECRETS:
        return "***" if value else ""
    if isinstance(value, str) and "@" in value and "://" in value:
        scheme, _, rest = value.partition("://")
        return f"{scheme}://***@{rest.rpartition('@')[2]}"
    return value


def _check_bus(text: str) -> None:
    try:
        is_redis = urlsplit(text).scheme in ("redis", "rediss")
    except ValueError:
        is_redis = False
    if not is_redis:
        raise BadSetting("bus is neither memory nor a URL such as redis://127.0.0.1:6379/0.", setting="bus")


def _check_public_url(text: str) -> None:
    try:
        parts = urlsplit(text)
        is_wrong = parts.scheme not in ("http", "https") or not _is_host(parts.hostname or "") or parts.port == 0
    except ValueError:
        is_wrong, parts = True, urlsplit("")
    if (
        is_wrong
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
    # Imported only where prices are set.
    from zataku.server.admin.tables.prices import read_prices

    try:
        read_prices(text)
    except InvalidRequest as error:
        raise BadSetting(error.message, setting="prices") from None


def _check_proxy(text: str) -> None:
    try:
        ip_network(text)
    except ValueError:
        raise BadSetting(
            f"proxies: {text!r} is neither an address nor a network such as 10.0.0.0/8.", setting="proxies"
        ) from None


CONFIG_FILE = "zataku.toml"
ENVIRONMENT_PREFIX = "ZATAKU_"
DEFAULT = "default"
NAMES = tuple(Settings.__struct_fields__)
_ERROR_PLACE = re.compile(r" - at `\$\.(\w+)[^`]*`$")


class LoadedSettings(msgspec.Struct, frozen=True):
    """The settings, and the source of each of them."""

    settings: Settings
    sources: dict[str, str]


def load_settings(
    flags: Mapping[str, object], environment: Mapping[str, str], config: str | None = None
) -> LoadedSettings:
    """Load the settings. `flags` has only the given ones. BadSetting names the source of an invalid value."""
    values: dict[str, object] = {}
    sources = dict.fromkeys(NAMES, DEFAULT)
    config_file = config or environment.get(f"{ENVIRONMENT_PREFIX}CONFIG") or None
    for source, loaded in (
        (config_file or CONFIG_FILE, _read_file(config_file)),
        (ENVIRONMENT_PREFIX, _read_environment(environment)),
        ("--", dict(flags)),
    ):
        for name, value in loaded.items():
            values[name] = value
            sources[name] = _source_name(source, name)
    return LoadedSettings(_convert(values, sources), sources)


def _read_file(config_file: str | None) -> dict[str, object]:
    path = Path(config_file or CONFIG_FILE)
    try:
        if path.exists() and not path.is_file():
            raise BadSetting(f"{path} is not a file.", file=str(path))
        loaded: dict[str, object] = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if config_file is None:
            return {}
        raise BadSetting(
            f"There is no file {path}. Check --config and {ENVIRONMENT_PREFIX}CONFIG.", file=str(path)
        ) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as problem:
        raise BadSetting(f"{path} cannot be read: {problem}.", file=str(path)) from None
    for name in loaded:
        if name not in NAMES:
            near = difflib.get_close_matches(name, NAMES, 1)
            hint = f"Did you mean {near[0]}?" if near else "`zataku settings` lists all there are."
            raise BadSetting(f"{path}: there is no setting {name}. {hint}", file=str(path), setting=name)
    return loaded


def _read_environment(environment: Mapping[str, str]) -> dict[str, object]:
    loaded: dict[str, object] = {}
    for name in NAMES:
        text = environment.get(ENVIRONMENT_PREFIX + name.upper())
        if text is not None:
            # A list is one text, separated by commas.
            loaded[name] = [part.strip() for part in text.split(",") if part.strip()] if name == "proxies" else text
    return loaded


def _convert(values: dict[str, object], sources: Mapping[str, str]) -> Settings:
    # Environment variables are texts; values of the file and of flags have their types.
    untyped = {name for name, source in sources.items() if source.startswith(ENVIRONMENT_PREFIX)}
    try:
        for name in untyped:
            struct = msgspec.defstruct("OneSetting", [(name, Settings.__annotations__[name])])
            values[name] = getattr(msgspec.convert({name: values[name]}, struct, strict=False), name)
        return msgspec.convert(values, Settings)
    except msgspec.ValidationError as problem:
        text = str(problem)
        place = _ERROR_PLACE.search(text)
        name = place[1] if place else ""
        message = f"{sources.get(name, name)}: {_ERROR_PLACE.sub('', text)}. {setting_descriptions().get(name, '')}"
        raise BadSetting(message.rstrip(), setting=name) from None
    except BadSetting as error:
        name = str(error.details.get("setting", ""))
        raise BadSetting(f"{sources[name]}: {error.message}", setting=name) from None


def _source_name(source: str, name: str) -> str:
    if source == ENVIRONMENT_PREFIX:
        return ENVIRONMENT_PREFIX + name.upper()
    if source == "--":
        return "--" + name.replace("_", "-")
    return f"{source}, {name}"
