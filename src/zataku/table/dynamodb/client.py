"""Calls over HTTP, and what their answers mean. The one place that knows botocore."""

# botocore has no types; what comes out of it is checked where it is used.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false

import asyncio
from contextlib import AsyncExitStack
from typing import Any, Literal, TypeAlias

from aiobotocore.config import AioConfig
from aiobotocore.session import AioSession, get_session
from botocore import xform_name
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    NoCredentialsError,
    NoRegionError,
)

from zataku.table.dynamodb.refusals import lost, refusal, unreachable
from zataku.table.errors import NotGranted, StoreClosed, TableError

Service: TypeAlias = Literal["dynamodb", "dynamodbstreams"]
Answer: TypeAlias = dict[str, Any]

# Calls that change items: when their answer is lost, nobody knows whether they happened.
_CHANGING = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})
_CONNECTIONS = 64
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

        Raises the errors of `zataku.table.errors`. A call that changes items and whose answer is lost raises
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
        except (HTTPClientError, OSError, TimeoutError) as problem:
            raise (lost if changing else unreachable)(operation, problem) from problem
        except BotoCoreError as problem:
            raise TableError(f"{operation} could not be sent: {problem}") from problem

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
        session = get_session()
        options: dict[str, Any] = {"region_name": self._region}
        if self.endpoint is not None:
            options |= {"endpoint_url": self.endpoint, "region_name": self._region or "us-east-1"}
            options |= await _stand_in_credentials(session)
        config = AioConfig(
            retries={"total_max_attempts": 1},
            max_pool_connections=_CONNECTIONS,
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_READ_SECONDS,
            # Everything has been checked already, and botocore would refuse before the service can.
            parameter_validation=False,
            tcp_keepalive=True,
        )
        try:
            made = await self._stack.enter_async_context(session.create_client(name, config=config, **options))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        except NoRegionError as problem:
            raise NotGranted("No AWS region is set. Name one, as in dynamodb://eu-west-1.") from problem
        self._made[name] = made
        return made

    async def close(self) -> None:
        """Let go of all connections. Safe to call twice."""
        self._closed = True
        self._made.clear()
        await self._stack.aclose()


async def _stand_in_credentials(session: AioSession) -> dict[str, str]:
    """An implementation of one's own rarely looks at credentials, but the protocol needs some."""
    if await session.get_credentials() is not None:
        return {}
    return {"aws_access_key_id": "local", "aws_secret_access_key": "local"}
