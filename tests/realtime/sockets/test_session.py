"""What browsers say reaches the rooms in order, and every answer and every end reaches somebody."""

import asyncio

import msgspec
from structlog.testing import capture_logs

from tests.realtime.sockets.socket_server import ended, heard, numbers, passing, say, served, until
from zataku.errors import Conflict, NotFound
from zataku.realtime.messages import Do, Join
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.socket import Socket


async def test_a_thousand_messages_reach_every_browser_in_order_and_none_is_lost():
    async with (
        served(SocketLimits(flush_seconds=0.005)) as server,
        server.browser("live/1") as one,
        server.browser("live/1") as two,
    ):
        for number in range(1000):
            server.hub.broadcast("live/1", passing("live/1", number))
            if number % 7 == 0:
                await asyncio.sleep(0)
        assert await numbers(one, 1000) == list(range(1000))
        assert await numbers(two, 1000) == list(range(1000))


async def test_a_command_is_answered_with_its_result():
    async with served() as server, server.browser("live/1") as browser:
        await say(browser, t="do", id=7, to="live/1", what={"comment": "座"})
        assert await heard(browser) == {"t": "done", "id": 7, "result": {"comment": "座"}}


async def test_a_refusal_names_its_command_and_says_why():
    async def refuse(_: Socket, asked: Do) -> bytes | None:
        raise Conflict("The room is closed.", code="closed", room="1")

    async with served() as server, server.browser("live/1") as browser:
        server.table.doing = refuse
        await say(browser, t="do", id=7, to="live/1", what=1)
        problem = {"code": "closed", "message": "The room is closed.", "details": {"room": "1"}}
        assert await heard(browser) == {"t": "refused", "id": 7, "error": problem}


async def test_joining_can_be_refused():
    async def refuse(_: Socket, asked: Join) -> None:
        raise NotFound("There is no such room.")

    async with served() as server, server.browser() as browser:
        server.table.joining = refuse
        await say(browser, t="join", id=7, to="live/1")
        answer = await heard(browser)
        assert (answer["t"], answer["id"], answer["error"]["code"]) == ("refused", 7, "not_found")


async def test_a_failure_is_logged_and_the_browser_gets_its_reference_and_nothing_else():
    async def fail(_: Socket, asked: Do) -> bytes | None:
        raise RuntimeError("secret")

    async with served() as server, server.browser("live/1") as browser:
        server.table.doing = fail
        with capture_logs() as logs:
            await say(browser, t="do", id=7, to="live/1", what=1)
            answer = await heard(browser)
        assert (answer["error"]["code"], logs[0]["reference"]) == ("internal", answer["error"]["details"]["reference"])
        assert "secret" not in msgspec.json.encode(answer).decode()


async def test_a_slow_room_does_not_hold_up_another():
    go_on = asyncio.Event()

    async def slow(_: Socket, asked: Do) -> bytes | None:
        if asked.to == "slow/1":
            await go_on.wait()
        return None

    async with served() as server, server.browser("slow/1", "fast/1") as browser:
        server.table.doing = slow
        await say(browser, t="do", id=1, to="slow/1", what=1)
        await say(browser, t="do", id=2, to="fast/1", what=1)
        assert await heard(browser) == {"t": "done", "id": 2}
        go_on.set()
        assert await heard(browser) == {"t": "done", "id": 1}


async def test_eight_commands_run_at_once_and_the_next_waits_in_the_network():
    go_on = asyncio.Event()

    async def slow(_: Socket, asked: Do) -> bytes | None:
        await go_on.wait()
        return None

    async with served() as server, server.browser("live/1") as browser:
        server.table.doing = slow
        for number in range(12):
            await say(browser, t="do", id=number, to="live/1", what=1)
        await until(lambda: ("do", 7) in server.table.heard)
        for _ in range(20):
            await asyncio.sleep(0.001)
        assert ("do", 8) not in server.table.heard
        go_on.set()
        assert sorted([(await heard(browser))["id"] for _ in range(12)]) == list(range(12))


async def test_whatever_concerns_a_topic_waits_until_it_is_joined():
    go_on = asyncio.Event()

    async def slow(_: Socket, asked: Join) -> None:
        if asked.to == "slow/1":
            await go_on.wait()

    async with served() as server, server.browser() as browser:
        server.table.joining = slow
        await say(browser, t="join", id=1, to="slow/1")
        await say(browser, t="do", id=2, to="slow/1", what=1)
        await say(browser, t="pass", to="slow/1", what=2)
        await say(browser, t="leave", to="slow/1")
        await say(browser, t="join", id=3, to="fast/1")
        assert (await heard(browser))["to"] == "fast/1"
        go_on.set()
        await until(lambda: len(server.table.heard) == 5)
        first, *rest = server.table.heard
        assert first == ("join", "fast/1")
        assert rest == [("join", "slow/1"), ("do", 2), ("pass", b"2"), ("leave", "slow/1")]
        assert not server.hub.members("slow/1")


async def test_binary_messages_go_up_and_down_under_the_number_of_their_topic():
    async with served() as server, server.browser("drawing/1") as one, server.browser("live/1", "drawing/1") as two:
        channel = server.hub.subscribe(server.table.sockets[0], "drawing/1").to_bytes(2)
        await one.send(channel + b"ink")
        assert await one.recv() == await two.recv() == channel + b"ink"
        assert server.table.heard[-1] == ("drawing/1", b"ink")
        await one.send(b"\xff\xffink")
        assert (await heard(one))["error"]["code"] == "not_found"


async def test_a_browser_that_goes_while_it_joins_is_never_a_member():
    reached, cancelled = asyncio.Event(), asyncio.Event()

    async def slow(_: Socket, asked: Join) -> None:
        reached.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async with served() as server:
        server.table.joining = slow
        async with server.browser() as browser:
            await say(browser, t="join", id=1, to="live/1")
            await reached.wait()
        await until(lambda: server.table.left)
        assert cancelled.is_set()
        assert (server.hub.socket_count, server.hub.members("live/1")) == (0, ())


async def test_a_command_goes_on_when_its_asker_has_gone():
    reached, go_on, stored = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow(_: Socket, asked: Do) -> bytes | None:
        reached.set()
        await go_on.wait()
        stored.set()
        return None

    async with served() as server:
        server.table.doing = slow
        async with server.browser("live/1") as browser:
            await say(browser, t="do", id=1, to="live/1", what=1)
            await reached.wait()
        await until(lambda: server.table.left)
        go_on.set()
        async with asyncio.timeout(5):
            await stored.wait()


async def test_the_end_of_a_connection_is_told_once_however_it_comes():
    async with served() as server:
        async with server.browser("live/1"):
            pass
        async with server.browser("live/1") as torn:
            torn.transport.abort()
            await until(lambda: len(server.table.left) == 2)
        async with server.browser("live/1") as closed:
            server.hub.close(server.table.sockets[-1], 1000, "")
            assert await ended(closed) == 1000
        await until(lambda: len(server.table.left) == 3)
        assert [topics for _, topics in server.table.left] == [["live/1"]] * 3
        assert (server.hub.socket_count, server.hub.members("live/1")) == (0, ())


async def test_a_server_that_stops_asks_everybody_to_come_back_but_not_all_at_once():
    async with served() as server:
        async with server.browser("live/1") as one, server.browser() as two, server.browser() as three:
            server.hub.broadcast("live/1", passing("live/1", 1))
            server.hub.broadcast("live/1", passing("live/1", 2))
            server.hub.disconnect_all(500)
            assert await numbers(one, 2) == [1, 2]
            asked = [await heard(browser) for browser in (one, two, three)]
            assert [it["t"] for it in asked] == ["come_back"] * 3
            afters = [it["after"] for it in asked]
            assert len(set(afters)) == 3
            assert all(500 <= after < 1500 for after in afters)
            assert [await ended(browser) for browser in (one, two, three)] == [1012] * 3
        await until(lambda: len(server.table.left) == 3)
