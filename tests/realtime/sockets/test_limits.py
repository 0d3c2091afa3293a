"""What a socket may send: how large, how often, and what happens to those who go on."""

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.realtime.sockets.socket_server import Served, ended, heard, say, served, somebody, until
from zataku.clock import ManualClock
from zataku.realtime.sockets.limits import SocketLimits, TokenBucket


def test_an_allowance_grows_with_time_and_never_above_its_most():
    allowance = TokenBucket(rate=10, burst=3, now=0.0)
    assert [allowance.take(0.0) for _ in range(4)] == [0, 0, 0, pytest.approx(0.1)]
    assert allowance.take(0.2) == 0
    assert allowance.take(100.0) == 0
    assert [allowance.take(100.0) for _ in range(2)] == [0, 0]
    assert allowance.take(100.0) > 0


def test_an_allowance_bears_a_clock_that_goes_back():
    allowance = TokenBucket(rate=10, burst=1, now=100.0)
    assert allowance.take(50.0) == 0
    assert allowance.take(50.1) == 0
    assert allowance.take(50.1) > 0


def test_who_asks_on_gets_into_debt_and_who_waits_gets_out_of_it():
    allowance = TokenBucket(rate=10, burst=3, now=0.0)
    waits = [allowance.take(0.0) for _ in range(6)]
    assert waits[-1] == pytest.approx(0.3)
    assert not allowance.is_overdrawn
    allowance.take(0.0)
    assert allowance.is_overdrawn
    assert allowance.take(1.0) == 0


@pytest.fixture
async def server():
    async with served(clock=ManualClock()) as made:
        yield made


async def test_forty_commands_at_once_and_then_twenty_a_second():
    clock = ManualClock()
    async with served(clock=clock) as server, server.browser("live/1") as browser:
        for number in range(45):
            await say(browser, t="do", id=number, to="live/1", what=1)
        answers = {it["id"]: it for it in [await heard(browser) for _ in range(45)]}
        refused = {number for number, it in answers.items() if it["t"] == "refused"}
        assert refused == set(range(39, 45))  # joining was the first
        error = answers[39]["error"]
        assert (error["code"], error["details"]["retry_after"]) == ("too_many_requests", 0.05)
        await clock.advance(0.4)
        await say(browser, t="do", id=99, to="live/1", what=1)
        assert (await heard(browser))["t"] == "done"


async def test_who_goes_on_regardless_is_closed(server: Served):
    async with server.browser("live/1") as browser:
        with pytest.raises(ConnectionClosed):
            for number in range(200):
                await say(browser, t="do", id=number, to="live/1", what=1)
            while True:
                await heard(browser)
        assert await ended(browser) == 1008
        assert len([it for it in server.table.heard if it[0] == "do"]) <= 39


async def test_passing_commands_have_an_allowance_of_their_own(server: Served):
    async with server.browser("live/1") as browser:
        for _ in range(401):
            await say(browser, t="pass", to="live/1", what=1)
        assert (await heard(browser))["error"]["code"] == "too_many_requests"
        await say(browser, t="do", id=1, to="live/1", what=1)
        assert (await heard(browser))["t"] == "done"
        assert len([it for it in server.table.heard if it[0] == "pass"]) == 400


NONSENSE = [
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


async def test_what_cannot_be_read_is_answered_and_changes_nothing():
    clock = ManualClock()
    async with served(clock=clock) as server, server.browser("live/1") as browser:
        for number, nonsense in enumerate(NONSENSE):
            await browser.send(nonsense)
            answer = await heard(browser)
            assert (answer["t"], answer["error"]["code"]) == ("wrong", "invalid"), nonsense
            await say(browser, t="do", id=number, to="live/1", what=1)
            assert (await heard(browser))["t"] == "done"
            assert server.table.heard.pop() == ("do", number)
            await clock.advance(1)
        assert server.table.heard == [("join", "live/1")]


async def test_who_goes_on_with_nonsense_is_closed(server: Served):
    async with server.browser() as browser:
        with pytest.raises(ConnectionClosed):
            for _ in range(30):
                await browser.send("?")
            while True:
                await heard(browser)
        assert await ended(browser) == 1008


async def test_texts_are_measured_in_bytes_and_not_in_letters(server: Served):
    async with server.browser("live/1") as browser:
        await say(browser, t="do", id=1, to="live/1", what="卓" * 10_900)
        assert (await heard(browser))["t"] == "done"
        await say(browser, t="do", id=2, to="live/1", what="卓" * 10_950)
        assert (await heard(browser))["error"]["code"] == "too_large"


async def test_the_largest_binary_message_passes_and_a_larger_one_ends_the_connection(server: Served):
    async with server.browser("drawing/1") as browser:
        await browser.send(bytes(2 + 64 * 1024))
        assert len(await browser.recv()) == 2 + 64 * 1024
        await browser.send(bytes(3 + 64 * 1024))
        assert await ended(browser) == 1009


async def test_one_socket_too_many_is_told_so_and_closed():
    async with served(SocketLimits(max_sockets_per_account=2)) as server, server.browser() as kept, server.browser():
        async with connect(f"ws://127.0.0.1:{server.port}/socket") as refused:
            answer = await heard(refused)
            assert (answer["t"], answer["error"]["code"]) == ("wrong", "too_many_requests")
            assert await ended(refused) == 1008
        server.identity = somebody("b")
        async with server.browser():
            await say(kept, t="join", id=1, to="live/1")
            assert (await heard(kept))["t"] == "joined"
        await until(lambda: server.hub.socket_count == 2)
