"""A request ends when its response has not started in time."""

import asyncio
from typing import Any

import pytest

from tests.support.loop_time import LoopTime
from zataku.errors import Unavailable
from zataku.server.http.request_timeout import RequestTimedOut, RequestTimeout


async def test_an_answer_that_does_not_begin_is_cancelled() -> None:
    async def endless(*_: object) -> None:
        await asyncio.Event().wait()

    with pytest.raises(Unavailable, match="too long"):
        await RequestTimeout(0.01).handle({}, endless, endless, endless)  # type: ignore[arg-type, typeddict-item]


async def test_a_body_that_does_not_arrive_is_a_request_timeout() -> None:
    async def endless(*_: object) -> Any:
        await asyncio.Event().wait()

    async def reading(_scope: object, receive: Any, _send: object) -> None:
        await receive()

    with pytest.raises(RequestTimedOut):
        await RequestTimeout(0.01).handle({}, endless, endless, reading)  # type: ignore[arg-type, typeddict-item]


async def test_an_answer_that_has_begun_has_no_timeout() -> None:
    sent: list[object] = []
    time = LoopTime()

    async def slow(_scope: object, _receive: object, send: Any) -> None:
        await send({"type": "http.response.start"})
        await time.advance(1)
        await send({"type": "http.response.body"})

    async def send(message: object) -> None:
        sent.append(message)

    await RequestTimeout(0.01).handle({}, send, send, slow)  # type: ignore[arg-type, typeddict-item]
    assert len(sent) == 2
