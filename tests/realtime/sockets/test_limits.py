"""Limits on the size and the rate of a socket's messages, and the sockets that exceed them."""

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.realtime.sockets.socket_server import (
    SocketServer,
    close_code,
    guest,
    receive,
    run_server,
    send_message,
)
from tests.support.manual_clock import ManualClock
from zataku.realtime.sockets.limits import SocketLimits


@pytest.fixture
async def server():
    async with run_server(clock=ManualClock()) as running:
        yield running


async def test_commands_are_limited_to_a_burst_of_forty_and_twenty_per_second():
    clock = ManualClock()
    async with run_server(clock=clock) as server, server.client("live/1") as client:
        for number in range(45):
            await send_message(client, t="do", id=number, to="live/1", what=1)
        replies = {reply["id"]: reply for reply in [await receive(client) for _ in range(45)]}
        refused = {number for number, reply in replies.items() if reply["t"] == "refused"}
        assert refused == set(range(39, 45))  # joining was the first
        error = replies[39]["error"]
        assert (error["code"], error["details"]["retry_after"]) == ("too_many_requests", 0.05)
        await clock.advance(0.4)
        await send_message(client, t="do", id=99, to="live/1", what=1)
        assert (await receive(client))["t"] == "done"


async def test_a_client_that_ignores_the_rate_limit_is_closed(server: SocketServer):
    async with server.client("live/1") as client:
        with pytest.raises(ConnectionClosed):
            for number in range(200):
                await send_message(client, t="do", id=number, to="live/1", what=1)
            while True:
                await receive(client)
        assert await close_code(client) == 1008
        assert [kind for kind, _ in server.handler.received].count("do") <= 39


async def test_transient_commands_have_a_rate_limit_of_their_own(server: SocketServer):
    async with server.client("live/1") as client:
        for _ in range(401):
            await send_message(client, t="pass", to="live/1", what=1)
        assert (await receive(client))["error"]["code"] == "too_many_requests"
        await send_message(client, t="do", id=1, to="live/1", what=1)
        assert (await receive(client))["t"] == "done"
        assert [kind for kind, _ in server.handler.received].count("pass") == 400


INVALID_MESSAGES = [
    "",
    "?",
    "null",
    "[]",
    "{}",
    '{"t":"unknown"}',
    '{"t":"join"}',
    '{"t":"join","id":"1","to":"live/1"}',
    '{"t":"join","id":1,"to":"live/1","more":1}',
    '{"t":"leave","to":null}',
    '{"t":"do","id":1,"to":"live/1","what":{}',
    '{"t":"do","id":1,"to":"live/1","what":' + "[" * 30_000,
    '{"t":"do","id":1,"to":"live/1"}{"t":"do"}',
    b"",
    b"\0",
]


async def test_an_invalid_message_is_answered_and_changes_nothing():
    clock = ManualClock()
    limits = SocketLimits(heartbeat_seconds=3600)
    async with run_server(limits, clock) as server, server.client("live/1") as client:
        for number, message in enumerate(INVALID_MESSAGES):
            await client.send(message)
            reply = await receive(client)
            assert (reply["t"], reply["error"]["code"]) == ("wrong", "invalid"), message
            await send_message(client, t="do", id=number, to="live/1", what=1)
            assert (await receive(client))["t"] == "done"
            assert server.handler.received.pop() == ("do", number)
            await clock.advance(1)
        assert server.handler.received == [("join", "live/1")]


async def test_a_client_that_keeps_sending_invalid_messages_is_closed(server: SocketServer):
    async with server.client() as client:
        with pytest.raises(ConnectionClosed):
            for _ in range(30):
                await client.send("?")
            while True:
                await receive(client)
        assert await close_code(client) == 1008


async def test_text_messages_are_measured_in_bytes_not_characters(server: SocketServer):
    async with server.client("live/1") as client:
        await send_message(client, t="do", id=1, to="live/1", what="卓" * 10_900)
        assert (await receive(client))["t"] == "done"
        await send_message(client, t="do", id=2, to="live/1", what="卓" * 10_950)
        assert (await receive(client))["error"]["code"] == "too_large"


async def test_the_largest_binary_message_passes_and_a_larger_one_ends_the_connection(server: SocketServer):
    async with server.client("drawing/1") as client:
        await client.send(bytes(2 + 64 * 1024))
        assert len(await client.recv()) == 2 + 64 * 1024
        await client.send(bytes(3 + 64 * 1024))
        assert await close_code(client) == 1009


async def test_a_socket_over_the_limit_gets_an_error_and_is_closed():
    async with (
        run_server(SocketLimits(max_sockets_per_account=2)) as server,
        server.client() as client,
        server.client(),
    ):
        async with connect(f"ws://127.0.0.1:{server.port}/socket") as refused:
            reply = await receive(refused)
            assert (reply["t"], reply["error"]["code"]) == ("wrong", "too_many_requests")
            assert await close_code(refused) == 1008
        server.identity = guest("b")
        async with server.client():
            await send_message(client, t="join", id=1, to="live/1")
            assert (await receive(client))["t"] == "joined"
        await server.handler.wait_until(lambda: server.handler.disconnects)
        assert server.hub.socket_count == 2
