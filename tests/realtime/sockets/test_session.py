"""Messages of clients reach the handler in order, and every reply reaches its client."""

import asyncio

import msgspec
from structlog.testing import capture_logs

from tests.realtime.sockets.socket_server import (
    close_code,
    receive,
    receive_numbers,
    run_server,
    send_message,
    transient_event,
)
from zataku.errors import Conflict, NotFound
from zataku.realtime.messages import CommandMessage, Join
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.socket import Socket


async def test_a_thousand_messages_reach_every_client_in_order():
    async with (
        run_server(SocketLimits(max_flush_seconds=0.005)) as server,
        server.client("live/1") as one,
        server.client("live/1") as two,
    ):
        for number in range(1000):
            server.hub.broadcast("live/1", transient_event("live/1", number))
            if number % 7 == 0:
                await asyncio.sleep(0)
        assert await receive_numbers(one, 1000) == list(range(1000))
        assert await receive_numbers(two, 1000) == list(range(1000))


async def test_a_command_is_answered_with_its_result():
    async with run_server() as server, server.client("live/1") as client:
        await send_message(client, t="do", id=7, to="live/1", what={"comment": "座"})
        assert await receive(client) == {"t": "done", "id": 7, "result": {"comment": "座"}}


async def test_an_error_names_its_command_and_the_reason():
    async def refuse(_: Socket, message: CommandMessage) -> bytes | None:
        raise Conflict("The room is closed.", code="closed", room="1")

    async with run_server() as server, server.client("live/1") as client:
        server.handler.on_execute = refuse
        await send_message(client, t="do", id=7, to="live/1", what=1)
        problem = {"code": "closed", "message": "The room is closed.", "details": {"room": "1"}}
        assert await receive(client) == {"t": "refused", "id": 7, "error": problem}


async def test_joining_can_be_refused():
    async def refuse(_: Socket, message: Join) -> None:
        raise NotFound("There is no such room.")

    async with run_server() as server, server.client() as client:
        server.handler.on_join = refuse
        await send_message(client, t="join", id=7, to="live/1")
        reply = await receive(client)
        assert (reply["t"], reply["id"], reply["error"]["code"]) == ("refused", 7, "not_found")


async def test_a_failure_is_logged_and_the_client_gets_only_a_reference():
    async def fail(_: Socket, message: CommandMessage) -> bytes | None:
        raise RuntimeError("secret")

    async with run_server() as server, server.client("live/1") as client:
        server.handler.on_execute = fail
        with capture_logs() as logs:
            await send_message(client, t="do", id=7, to="live/1", what=1)
            reply = await receive(client)
        assert (reply["error"]["code"], logs[0]["reference"]) == ("internal", reply["error"]["details"]["reference"])
        assert "secret" not in msgspec.json.encode(reply).decode()


async def test_a_slow_room_does_not_hold_up_another():
    released = asyncio.Event()

    async def slow(_: Socket, message: CommandMessage) -> bytes | None:
        if message.to == "slow/1":
            await released.wait()
        return None

    async with run_server() as server, server.client("slow/1", "fast/1") as client:
        server.handler.on_execute = slow
        await send_message(client, t="do", id=1, to="slow/1", what=1)
        await send_message(client, t="do", id=2, to="fast/1", what=1)
        assert await receive(client) == {"t": "done", "id": 2}
        released.set()
        assert await receive(client) == {"t": "done", "id": 1}


async def test_eight_commands_run_at_once_and_the_next_waits_in_the_network():
    released = asyncio.Event()

    async def slow(_: Socket, message: CommandMessage) -> bytes | None:
        await released.wait()
        return None

    async with run_server() as server, server.client("live/1") as client, server.client() as other:
        server.handler.on_execute = slow
        for number in range(12):
            await send_message(client, t="do", id=number, to="live/1", what=1)
        await server.handler.wait_until(lambda: ("do", 7) in server.handler.received)
        # The server reads what another client sends later.
        for number in range(10):
            await send_message(other, t="join", id=number, to=f"live/{number}")
            assert (await receive(other))["t"] == "joined"
        received = list(server.handler.received)
        released.set()
        assert sorted([(await receive(client))["id"] for _ in range(12)]) == list(range(12))
        assert ("do", 8) not in received


async def test_messages_to_a_topic_wait_until_its_join_is_done():
    released = asyncio.Event()

    async def slow(_: Socket, message: Join) -> None:
        if message.to == "slow/1":
            await released.wait()

    async with run_server() as server, server.client() as client:
        server.handler.on_join = slow
        await send_message(client, t="join", id=1, to="slow/1")
        await send_message(client, t="do", id=2, to="slow/1", what=1)
        await send_message(client, t="pass", to="slow/1", what=2)
        await send_message(client, t="leave", to="slow/1")
        await send_message(client, t="join", id=3, to="fast/1")
        assert (await receive(client))["to"] == "fast/1"
        released.set()
        await server.handler.wait_until(lambda: len(server.handler.received) == 5)
        first, *rest = server.handler.received
        assert first == ("join", "fast/1")
        assert rest == [("join", "slow/1"), ("do", 2), ("pass", b"2"), ("leave", "slow/1")]
        assert all("slow/1" not in socket.topics for socket in server.handler.sockets)


async def test_binary_messages_carry_the_channel_number_of_their_topic():
    async with run_server() as server, server.client("drawing/1") as one, server.client("live/1", "drawing/1") as two:
        channel = server.hub.subscribe(server.handler.sockets[0], "drawing/1").to_bytes(2)
        await one.send(channel + b"ink")
        assert await one.recv() == await two.recv() == channel + b"ink"
        assert server.handler.received[-1] == ("drawing/1", b"ink")
        await one.send(b"\xff\xffink")
        assert (await receive(one))["error"]["code"] == "not_found"


async def test_a_client_that_disconnects_during_its_join_is_never_a_member():
    reached, cancelled = asyncio.Event(), asyncio.Event()

    async def slow(_: Socket, message: Join) -> None:
        reached.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async with run_server() as server:
        server.handler.on_join = slow
        async with server.client() as client:
            await send_message(client, t="join", id=1, to="live/1")
            await reached.wait()
        await server.handler.wait_until(lambda: server.handler.disconnects)
        assert cancelled.is_set()
        ((socket, topics),) = server.handler.disconnects
        assert (server.hub.socket_count, topics, list(socket.topics)) == (0, [], [])


async def test_a_command_continues_when_its_socket_has_ended():
    reached, released, stored = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow(_: Socket, message: CommandMessage) -> bytes | None:
        reached.set()
        await released.wait()
        stored.set()
        return None

    async with run_server() as server:
        server.handler.on_execute = slow
        async with server.client("live/1") as client:
            await send_message(client, t="do", id=1, to="live/1", what=1)
            await reached.wait()
        await server.handler.wait_until(lambda: server.handler.disconnects)
        released.set()
        async with asyncio.timeout(5):
            await stored.wait()


async def test_every_kind_of_disconnect_is_reported_to_the_handler_once():
    async with run_server() as server:
        async with server.client("live/1"):
            pass
        async with server.client("live/1") as aborted:
            aborted.transport.abort()
            await server.handler.wait_until(lambda: len(server.handler.disconnects) == 2)
        async with server.client("live/1") as closed:
            server.hub.close(server.handler.sockets[-1], 1000, "")
            assert await close_code(closed) == 1000
        await server.handler.wait_until(lambda: len(server.handler.disconnects) == 3)
        assert [topics for _, topics in server.handler.disconnects] == [["live/1"]] * 3
        assert [list(socket.topics) for socket in server.handler.sockets] == [[]] * 3
        assert server.hub.socket_count == 0


async def test_a_stopping_server_asks_clients_to_reconnect_at_different_times():
    async with run_server() as server:
        async with server.client("live/1") as one, server.client() as two, server.client() as three:
            server.hub.broadcast("live/1", transient_event("live/1", 1))
            server.hub.broadcast("live/1", transient_event("live/1", 2))
            server.hub.disconnect_all(500)
            assert await receive_numbers(one, 2) == [1, 2]
            messages = [await receive(client) for client in (one, two, three)]
            assert [message["t"] for message in messages] == ["come_back"] * 3
            afters = [message["after"] for message in messages]
            assert len(set(afters)) == 3
            assert all(500 <= after < 1500 for after in afters)
            assert [await close_code(client) for client in (one, two, three)] == [1012] * 3
        await server.handler.wait_until(lambda: len(server.handler.disconnects) == 3)
