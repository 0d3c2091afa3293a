"""HTTP client of the service and its capabilities. The only module that uses botocore."""

# botocore has no types; what it returns is checked where it is used.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false

import asyncio
import os
from contextlib import AsyncExitStack
from functools import cache
from io import BytesIO
from typing import Any, Literal, TypeAlias, cast
from urllib.parse import urlsplit

from aiobotocore.config import AioConfig
from aiobotocore.session import AioSession, get_session
from botocore import xform_name
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    CredentialRetrievalError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    ProfileNotFound,
)
from botocore.parsers import ResponseParserError

from zataku.table.backend.errors import LacksCapability, NotGranted, StoreClosed, StoreUnreachable, TableError
from zataku.table.backend.port import Capability
from zataku.table.dynamodb.errors import error_from_response, result_unknown, unreachable

Service: TypeAlias = Literal["dynamodb", "dynamodbstreams"]
Response: TypeAlias = dict[str, Any]

# Calls that change items: without a response it is unknown whether they happened.
_WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})
_CREDENTIAL_ERRORS = (PartialCredentialsError, CredentialRetrievalError, ProfileNotFound)
_USER_AGENT = "Zataku"
_MAX_CONNECTIONS = 64
_LARGE_BODY_BYTES = 256 * 1024
_CONNECT_SECONDS = 5
_READ_SECONDS = 20

ALL_CAPABILITIES: frozenset[Capability] = frozenset({"transactions", "streams", "ttl", "local-indexes", "backups"})


class Client:
    """Connections to the service, opened when first needed and kept until `close`."""

    def __init__(self, endpoint: str | None = None, region: str | None = None) -> None:
        self.endpoint = endpoint
        self._region = region
        self._clients: dict[Service, Any] = {}
        self._stack = AsyncExitStack()
        self._connecting = asyncio.Lock()
        self._closed = False

    @property
    def region(self) -> str | None:
        """The region that calls go to, as far as it is known."""
        client = self._clients.get("dynamodb")
        return self._region if client is None else client.meta.region_name

    async def call(self, operation: str, *, service: Service = "dynamodb", **parameters: Any) -> Response:
        """One call, tried once: the store above decides about retries.

        Raises the errors of `zataku.table.backend.errors`. A call that changes items and gets no response raises
        `ResultUnknown`; any other call without a response raises `StoreUnreachable`.
        """
        method = getattr(await self._service(service), xform_name(operation))
        is_write = operation in _WRITES
        try:
            return await method(**parameters)
        except ClientError as problem:
            raise error_from_response(operation, cast("Any", problem.response), is_write=is_write) from problem
        except (EndpointConnectionError, ConnectTimeoutError) as problem:
            # No connection was made, so nothing was sent.
            raise unreachable(operation, problem) from problem
        except NoCredentialsError as problem:
            raise NotGranted(
                "AWS credentials were not found. Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
            ) from problem
        except _CREDENTIAL_ERRORS as problem:
            raise NotGranted(f"The AWS credentials cannot be used: {problem}") from problem
        except (BotoCoreError, ResponseParserError, OSError, TimeoutError) as problem:
            # Any other failure, an incomplete response included, may have come after the request was sent.
            raise (result_unknown if is_write else unreachable)(operation, problem) from problem

    async def _service(self, name: Service) -> Any:
        client = self._clients.get(name)
        if client is None:
            async with self._connecting:
                client = self._clients.get(name) or await self._connect(name)
        if self._closed:
            raise StoreClosed("The store is closed. Open it first.")
        return client

    async def _connect(self, name: Service) -> Any:
        if self._closed:
            raise StoreClosed("The store is closed. Open it first.")
        session = await asyncio.to_thread(_session)
        options: dict[str, Any] = {"region_name": self._region}
        if self.endpoint is not None:
            options |= {"endpoint_url": self.endpoint, "region_name": self._region or "us-east-1"}
            options |= _placeholder_credentials(self.endpoint)
        is_local = self.endpoint is not None and _is_loopback(self.endpoint)
        if is_local:
            # Loading the certificates of all authorities would take most of the time of connecting.
            options["verify"] = False
        config = AioConfig(
            # The call does not leave the machine, so it needs no proxy, whose certificate would have to be verified.
            proxies={} if is_local else None,
            retries={"total_max_attempts": 1},
            max_pool_connections=_MAX_CONNECTIONS,
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_READ_SECONDS,
            # Requests have been checked already, and botocore would refuse some before the service can.
            parameter_validation=False,
            tcp_keepalive=True,
            # Without a name botocore builds one, twice for every call.
            user_agent=_USER_AGENT,
        )
        try:
            client = await self._stack.enter_async_context(session.create_client(name, config=config, **options))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        except NoRegionError as problem:
            raise NotGranted(
                "No AWS region is set. Set AWS_DEFAULT_REGION, or name one: dynamodb://eu-west-1."
            ) from problem
        cast("Any", client).meta.events.register("before-send.*", _send_in_chunks)
        self._clients[name] = client
        return client

    async def close(self) -> None:
        """Close all connections. Safe to call twice."""
        self._closed = True
        self._clients.clear()
        await self._stack.aclose()


def _send_in_chunks(request: Any, **_: object) -> None:
    """Have a large body sent in chunks, so that other tasks run in between."""
    if isinstance(request.body, bytes) and len(request.body) > _LARGE_BODY_BYTES:
        request.body = BytesIO(request.body)


@cache
def _session() -> AioSession:
    """The session that all connections of the process share.

    The service models are megabytes of JSON. Those that connecting needs are loaded here, once and not on the event
    loop's thread.
    """
    session = get_session()
    loader = cast("Any", session.get_component("data_loader"))  # pyright: ignore[reportUnknownMemberType]
    for name in ("dynamodb", "dynamodbstreams"):
        for kind in ("service-2", "endpoint-rule-set-1"):
            loader.load_service_model(name, kind)
    for name in ("endpoints", "partitions", "sdk-default-configuration", "_retry"):
        loader.load_data(name)
    return session


def _is_loopback(endpoint: str) -> bool:
    """True for an unencrypted address on this machine."""
    url = urlsplit(endpoint)
    return url.scheme == "http" and url.hostname in ("127.0.0.1", "::1", "localhost")


def _placeholder_credentials(endpoint: str) -> dict[str, str]:
    """Credentials for other implementations, which rarely check them though the protocol needs some.

    AWS at an explicit address gets the real ones from the environment.
    """
    host = urlsplit(endpoint).hostname or ""
    is_configured = "AWS_ACCESS_KEY_ID" in os.environ or "AWS_PROFILE" in os.environ
    if is_configured or host.endswith((".amazonaws.com", ".amazonaws.com.cn", ".api.aws")):
        return {}
    return {"aws_access_key_id": "local", "aws_secret_access_key": "local"}


# Calls without effect: they name no item, or a table that does not exist. Local indexes have no call of their own; a
# service without them refuses the table.
_PROBES: tuple[tuple[Capability, Service, str, dict[str, Any]], ...] = (
    ("transactions", "dynamodb", "TransactWriteItems", {"TransactItems": []}),
    ("streams", "dynamodbstreams", "ListStreams", {"Limit": 1}),
    ("ttl", "dynamodb", "DescribeTimeToLive", {"TableName": "zataku-capability-probe"}),
    ("backups", "dynamodb", "ListBackups", {"Limit": 1}),
)


async def probe_capabilities(client: Client) -> frozenset[Capability]:
    """Capabilities of the service; one that the caller may not use counts as available."""
    results = await asyncio.gather(*(_is_supported(client, *probe[1:]) for probe in _PROBES))
    return ALL_CAPABILITIES - {
        probe[0] for probe, is_supported in zip(_PROBES, results, strict=True) if not is_supported
    }


async def _is_supported(client: Client, service: Service, operation: str, parameters: dict[str, Any]) -> bool:
    try:
        await client.call(operation, service=service, **parameters)
    except LacksCapability:
        return False
    except StoreUnreachable:
        raise
    except TableError:
        # Refused for another reason, so the operation exists.
        return True
    return True
