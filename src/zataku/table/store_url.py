"""URLs of stores, as a setting holds them: a file on this machine, or a DynamoDB service."""

import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Literal
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from msgspec import Struct

from zataku.clock import Clock
from zataku.table.backend.errors import BadInput
from zataku.table.backend.schema_diff import compare_tables, require_matching
from zataku.table.schema.table import Table
from zataku.table.store.store import Store
from zataku.table.store_factory import open_dynamodb, open_embedded

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_REGION = re.compile(r"[a-z]{2,}(-[a-z]+)+-\d+")
_ACCEPTED_FORMS = "Give a path, file:PATH, dynamodb:, dynamodb://REGION or dynamodb+http://HOST:PORT."


class StoreUrl(Struct, frozen=True):
    """The address of a store.

    `path` is set for a file, `endpoint` for an implementation that is not Amazon's. Without `manage` the tables must
    exist and match the design; they are never created or changed.
    """

    kind: Literal["embedded", "dynamodb"]
    path: Path | None = None
    endpoint: str | None = None
    region: str | None = None
    manage: bool = True

    @classmethod
    def parse(cls, text: str) -> "StoreUrl":
        """The URL that a text holds; any other text is refused with the accepted forms."""
        text = text.strip()
        if not text:
            raise BadInput(f"The URL of the store is empty. {_ACCEPTED_FORMS}")
        scheme = _SCHEME.match(text)
        if scheme is None:
            return cls("embedded", path=Path(text))
        match scheme[1].lower():
            case "file":
                return _file_url(text)
            case "dynamodb":
                return _amazon_url(text)
            case "dynamodb+http" | "dynamodb+https":
                return _endpoint_url(text)
            case unknown:
                raise BadInput(f"There is no kind of store called {unknown}. {_ACCEPTED_FORMS}")

    @property
    def name(self) -> str:
        """A short name: that of the file, the region, or the host."""
        if self.path is not None:
            return self.path.name
        if self.endpoint is not None:
            return urlsplit(self.endpoint).netloc
        return self.region or "dynamodb"

    def __str__(self) -> str:
        if self.path is not None:
            return str(self.path)
        if self.endpoint is not None:
            return f"dynamodb+{self.endpoint}" + (f"?region={self.region}" if self.region else "")
        return f"dynamodb://{self.region}" if self.region else "dynamodb:"


def _file_url(text: str) -> StoreUrl:
    rest, _, options = text.partition(":")[2].partition("?")
    if rest.startswith("//") and not rest.startswith("///"):
        raise BadInput("A file is on this machine: write file:PATH, or file:///PATH from the root.")
    path = unquote(rest.removeprefix("//"))
    if not path:
        raise BadInput("file: names no file. Write file:PATH.")
    return StoreUrl("embedded", path=Path(path), manage=_manage(_options(options, "tables")))


def _amazon_url(text: str) -> StoreUrl:
    parts = _split(text)
    options = _options(parts.query, "tables")
    region = parts.netloc or None
    if parts.path.strip("/"):
        region = region or parts.path.strip("/")
        raise BadInput(f"dynamodb: takes a region after two slashes, and no path. Write dynamodb://{region}.")
    if region is not None and not _REGION.fullmatch(region):
        raise BadInput(
            f"{region} is not a region of AWS, such as eu-west-1. For another implementation write "
            "dynamodb+http://HOST:PORT."
        )
    return StoreUrl("dynamodb", region=region, manage=_manage(options))


def _endpoint_url(text: str) -> StoreUrl:
    parts = _split(text)
    options = _options(parts.query, "tables", "region")
    if not parts.hostname:
        raise BadInput("The URL names no host. Write dynamodb+http://HOST:PORT.")
    if parts.path.strip("/"):
        raise BadInput(f"The service has no path: leave {parts.path} out.")
    endpoint = f"{parts.scheme.partition('+')[2]}://{parts.netloc}"
    return StoreUrl("dynamodb", endpoint=endpoint, region=options.get("region"), manage=_manage(options))


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as problem:
        raise BadInput(f"The URL of the store cannot be read: {problem}. {_ACCEPTED_FORMS}") from None
    if "@" in parts.netloc:
        # The text is not repeated: it holds a secret.
        raise BadInput(
            "Credentials do not belong in the URL of a store. Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY."
        )
    return parts


def _options(query: str, *allowed: str) -> dict[str, str]:
    options = dict(parse_qsl(query, keep_blank_values=True))
    for name in options:
        if name not in allowed:
            raise BadInput(f"The URL has no option {name} here. It takes: {', '.join(allowed)}.")
    return options


def _manage(options: dict[str, str]) -> bool:
    mode = options.get("tables", "manage")
    if mode not in ("manage", "verify"):
        raise BadInput(
            f"tables={mode} is not known. tables=manage creates and changes tables, tables=verify never does."
        )
    return mode == "manage"


async def open_store(
    url: str | StoreUrl,
    tables: Sequence[Table],
    *,
    env: str = "prod",
    clock: Clock | None = None,
    random: Random | None = None,
    read_only: bool = False,
) -> Store:
    """Open the store at a URL: a path, `file:PATH`, `dynamodb://REGION` or `dynamodb+http://HOST:PORT`.

    `read_only` changes no table, and opens a file even while another process holds it; on a file every write is then
    refused. On DynamoDB, the permissions of the caller decide.
    """
    parsed = url if isinstance(url, StoreUrl) else StoreUrl.parse(url)
    if parsed.path is None:
        return await open_dynamodb(
            tables,
            endpoint=parsed.endpoint,
            region=parsed.region,
            env=env,
            clock=clock,
            random=random,
            manage=parsed.manage and not read_only,
        )
    if not parsed.manage:
        await _verify(parsed.path, tables, env)
    return await open_embedded(parsed.path, tables, env=env, clock=clock, random=random, read_only=read_only)


async def _verify(path: Path, tables: Sequence[Table], env: str) -> None:
    # SQLite is imported only where it is used.
    from zataku.table.embedded import EmbeddedBackend

    backend = EmbeddedBackend(path, read_only=True)
    try:
        await backend.start(())
        require_matching(compare_tables([table.schema(env) for table in tables], await backend.stored_tables()))
    finally:
        await backend.close()
