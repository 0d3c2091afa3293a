"""Calls over HTTP, and what their answers mean. The one place that knows botocore."""

# botocore has no types; what comes out of it is checked where it is used.
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

from zataku.table.backend.errors import NotGranted, StoreClosed
from zataku.table.dynamodb.errors import lost, refusal, unreachable

Service: TypeAlias = Literal["dynamodb", "dynamodbstreams"]
Answer: TypeAlias = dict[str, Any]

# Calls that change items: when their answer is lost, nobody knows whether they happened.
_CHANGING = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})
_NO_CREDENTIALS = (PartialCredentialsError, CredentialRetrievalError, ProfileNotFound)
_NAME = "Zataku"
_CONNECTIONS = 64
_LARGE_BODY = 256 * 1024
_CONNECT_SECONDS = 5
_READ_SECONDS = 20


class Client:
    """A connection to the service, made when it is first needed and kept until `close`."""

    def __init__(self, endpoint: str | None = None, region: str | None = None) -> None:
        self.endpoint = endpoint
        self._region = region
        self._made: dict[Service, Any] = {}
        self._stack = AsyncExitStack()
        self._gate = asyncio.Lock()
        self._closed = False

    @property
    def region(self) -> str | None:
        """The region that calls go to, as far as it is known."""
        made = self._made.get("dynamodb")
        return self._region if made is None else made.meta.region_name

    async def call(self, operation: str, *, service: Service = "dynamodb", **parameters: Any) -> Answer:
        """One call, tried once: the store above decides what is tried again.

        Raises the errors of `zataku.table.backend.errors`. A call that changes items and whose answer is lost raises
        `ResultUnknown`; any other call without an answer raises `StoreUnreachable`.
        """
        method = getattr(await self._service(service), xform_name(operation))
        changing = operation in _CHANGING
        try:
            return await method(**parameters)
        except ClientError as problem:
            raise refusal(operation, problem.response, changing=changing) from problem
        except (EndpointConnectionError, ConnectTimeoutError) as problem:
            # No connection was made, so nothing was sent.
            raise unreachable(operation, problem) from problem
        except NoCredentialsError as problem:
            raise NotGranted(
                "AWS credentials were not found. Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
            ) from problem
        except _NO_CREDENTIALS as problem:
            raise NotGranted(f"The AWS credentials cannot be used: {problem}") from problem
        except (BotoCoreError, ResponseParserError, OSError, TimeoutError) as problem:
            # Whatever else goes wrong, a reply that came in pieces included, may have happened after the sending.
            raise (lost if changing else unreachable)(operation, problem) from problem

    async def _service(self, name: Service) -> Any:
        made = self._made.get(name)
        if made is None:
            async with self._gate:
                made = self._made.get(name) or await self._connect(name)
        if self._closed:
            raise StoreClosed("The store is closed. Open it first.")
        return made

    async def _connect(self, name: Service) -> Any:
        if self._closed:
            raise StoreClosed("The store is closed. Open it first.")
        session = await asyncio.to_thread(_session)
        options: dict[str, Any] = {"region_name": self._region}
        if self.endpoint is not None:
            options |= {"endpoint_url": self.endpoint, "region_name": self._region or "us-east-1"}
            options |= _stand_in_credentials(self.endpoint)
        direct = self.endpoint is not None and _on_this_machine(self.endpoint)
        if direct:
            # Reading the certificates of all authorities would take most of the time of connecting.
            options["verify"] = False
        config = AioConfig(
            # No way out of the machine, so none through a proxy, whose certificate would have to be verified.
            proxies={} if direct else None,
            retries={"total_max_attempts": 1},
            max_pool_connections=_CONNECTIONS,
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_READ_SECONDS,
            # Everything has been checked already, and botocore would refuse before the service can.
            parameter_validation=False,
            tcp_keepalive=True,
            # Unless it is given a name, botocore puts one together anew, twice for every call.
            user_agent=_NAME,
        )
        try:
            made = await self._stack.enter_async_context(session.create_client(name, config=config, **options))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        except NoRegionError as problem:
            raise NotGranted(
                "No AWS region is set. Set AWS_DEFAULT_REGION, or name one: dynamodb://eu-west-1."
            ) from problem
        cast("Any", made).meta.events.register("before-send.*", _in_pieces)
        self._made[name] = made
        return made

    async def close(self) -> None:
        """Let go of all connections. Safe to call twice."""
        self._closed = True
        self._made.clear()
        await self._stack.aclose()


def _in_pieces(request: Any, **_: object) -> None:
    """Let a large body be sent piece by piece, so that others get their turn in between."""
    if isinstance(request.body, bytes) and len(request.body) > _LARGE_BODY:
        request.body = BytesIO(request.body)


@cache
def _session() -> AioSession:
    """What all connections of the process share.

    The descriptions of the services are megabytes of JSON. Those that connecting needs are read here, once and on
    another thread than the event loop's.
    """
    session = get_session()
    loader = cast("Any", session.get_component("data_loader"))  # pyright: ignore[reportUnknownMemberType]
    for name in ("dynamodb", "dynamodbstreams"):
        for kind in ("service-2", "endpoint-rule-set-1"):
            loader.load_service_model(name, kind)
    for name in ("endpoints", "partitions", "sdk-default-configuration", "_retry"):
        loader.load_data(name)
    return session


def _on_this_machine(endpoint: str) -> bool:
    """True for an address at which nothing is encrypted and nothing leaves the machine."""
    place = urlsplit(endpoint)
    return place.scheme == "http" and place.hostname in ("127.0.0.1", "::1", "localhost")


def _stand_in_credentials(endpoint: str) -> dict[str, str]:
    """An implementation of one's own rarely looks at credentials, but the protocol needs some.

    AWS itself at an address of one's own gets real ones, found as everywhere.
    """
    host = urlsplit(endpoint).hostname or ""
    given = "AWS_ACCESS_KEY_ID" in os.environ or "AWS_PROFILE" in os.environ
    if given or host.endswith((".amazonaws.com", ".amazonaws.com.cn", ".api.aws")):
        return {}
    return {"aws_access_key_id": "local", "aws_secret_access_key": "local"}
