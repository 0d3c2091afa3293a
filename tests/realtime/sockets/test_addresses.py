"""Limits that all sockets of one address share, whoever they belong to."""

from collections.abc import AsyncIterator

import msgspec
import pytest

from tests.realtime.sockets.memory_connection import MemoryConnection, make_hub
from tests.realtime.sockets.socket_server import (
    RecordingHandler,
    SocketServer,
    guest,
    receive,
    run_server,
    send_message,
)
from tests.support.manual_clock import ManualClock
from zataku.errors import RateLimited
from zataku.realtime.sockets.addresses import MAX_IDLE_ADDRESSES, Addresses
from zataku.realtime.sockets.hub import MAX_CHANNELS, Hub
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.session import SocketSession
from zataku.realtime.sockets.socket import Socket

HERE, THERE = "192.0.2.1", "2001:db8:1:2::/64"
SMALL = SocketLimits(
    max_topics_per_address=3,
    address_commands_per_second=2,
    address_command_burst=4,
    address_joins_per_second=1,
    address_join_burst=6,
    address_transients_per_second=5,
    address_transient_burst=10,
)


def open_at(hub: Hub, address: str, name: str = "a") -> Socket:
    return hub.open(MemoryConnection(), guest(name), address)


def test_the_different_topics_of_an_address_are_limited_and_not_their_subscribers():
    hub, _ = make_hub(SMALL)
    sockets = [open_at(hub, HERE, f"guest {number}") for number in range(50)]
    for socket in sockets:
        hub.subscribe(socket, "live/1")
    hub.subscribe(sockets[0], "live/2")
    hub.subscribe(sockets[1], "live/3")
    for socket in (sockets[0], sockets[49]):
        with pytest.raises(RateLimited) as refused:
            hub.subscribe(socket, "live/4")
        assert refused.value.retry_after > 0
    hub.subscribe(sockets[49], "live/2")
    hub.subscribe(open_at(hub, THERE), "live/4")
    assert hub.counters.refused == 2


def test_a_topic_of_an_address_is_free_again_when_its_last_socket_leaves_or_ends():
    hub, _ = make_hub(SMALL)
    stays, leaves, ends = (open_at(hub, HERE, name) for name in "abc")
    for topic in ("live/1", "live/2"):
        hub.subscribe(leaves, topic)
        hub.subscribe(ends, topic)
    hub.subscribe(stays, "live/3")
    hub.unsubscribe(leaves, "live/1")
    with pytest.raises(RateLimited):
        hub.subscribe(stays, "live/4")
    hub.forget(ends)
    hub.subscribe(stays, "live/4")
    with pytest.raises(RateLimited):
        hub.subscribe(stays, "live/5")


def test_one_address_cannot_use_up_the_channels_of_a_process():
    assert SocketLimits().max_topics_per_address * 50 < MAX_CHANNELS


def test_the_rates_of_an_address_are_remembered_when_its_last_socket_ends():
    hub, clock = make_hub(SMALL)
    socket = open_at(hub, HERE)
    while socket.address_usage.command_bucket.take(clock.now()) == 0:
        pass
    hub.forget(socket)
    assert open_at(hub, HERE).address_usage.command_bucket.take(clock.now()) > 0
    assert open_at(hub, THERE).address_usage.command_bucket.take(clock.now()) == 0


def test_the_number_of_remembered_addresses_is_bounded():
    addresses = Addresses(SMALL)
    open_one = addresses.add_socket(HERE, 0.0)
    for number in range(MAX_IDLE_ADDRESSES + 10):
        addresses.remove_socket(addresses.add_socket(f"guest {number}", 0.0))
    assert len(addresses._idle) == MAX_IDLE_ADDRESSES
    assert addresses.add_socket(HERE, 0.0) is open_one
    assert addresses.socket_count(HERE) == 2


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def server(clock: ManualClock) -> AsyncIterator[SocketServer]:
    async with run_server(SMALL, clock) as running:
        yield running


async def test_commands_of_all_sockets_of_an_address_share_a_limit(server: SocketServer, clock: ManualClock):
    async with server.client("live/1") as one, server.client("live/1") as other:
        for number in range(3):
            for client in (one, other):
                await send_message(client, t="do", id=number, to="live/1", what=1)
        replies = [await receive(client) for client in (one, other) for _ in range(3)]
        refused = [reply["error"] for reply in replies if reply["t"] == "refused"]
        assert [reply["t"] for reply in replies].count("done") == 4
        assert [(error["code"], error["details"]["retry_after"]) for error in refused] == [("too_many_requests", 1)] * 2
        await clock.advance(1)
        await send_message(other, t="do", id=9, to="live/1", what=1)
        assert (await receive(other))["t"] == "done"


async def test_joins_and_transient_commands_of_an_address_have_limits_of_their_own(server: SocketServer):
    async with server.client("live/1", "live/2") as one, server.client("live/1") as other:
        for _ in range(10):
            await send_message(one, t="pass", to="live/1", what=1)
        await server.handler.wait_until(lambda: [kind for kind, _ in server.handler.received].count("pass") == 10)
        await send_message(other, t="pass", to="live/1", what=1)
        assert (await receive(other))["error"]["code"] == "too_many_requests"
        assert [kind for kind, _ in server.handler.received].count("pass") == 10
        for number in range(4):
            await send_message(other, t="join", id=number, to="live/1")
        replies = {reply["id"]: reply["t"] for reply in [await receive(other) for _ in range(4)]}
        assert replies == {0: "joined", 1: "joined", 2: "joined", 3: "refused"}
        await send_message(other, t="do", id=1, to="live/1", what=1)
        assert (await receive(other))["t"] == "done"


async def test_an_honest_client_of_a_flooding_address_is_refused_and_never_closed(
    server: SocketServer, clock: ManualClock
):
    async with server.client("live/1") as flooding, server.client("live/1") as honest:
        for number in range(6):
            await send_message(flooding, t="do", id=number, to="live/1", what=1)
        assert [(await receive(flooding))["t"] for _ in range(6)].count("refused") == 2
        for number in range(20):
            await send_message(honest, t="do", id=number, to="live/1", what=1)
            assert (await receive(honest))["t"] == "refused"
        await clock.advance(1)
        await send_message(honest, t="do", id=99, to="live/1", what=1)
        assert (await receive(honest))["t"] == "done"


async def test_refused_messages_of_an_address_beyond_a_limit_slow_down_their_sockets():
    hub, clock = make_hub(msgspec.structs.replace(SMALL, address_excess_per_second=1, address_excess_burst=3))
    connection = MemoryConnection()
    session = SocketSession(hub, RecordingHandler(hub), hub.open(connection, guest("a"), HERE))

    async def receive_transients(count: int) -> None:
        for _ in range(count):
            await session.receive_text('{"t":"pass","to":"live/1","what":1}')

    # Ten are allowed and three are refused at once; each further refusal costs a longer pause.
    await receive_transients(13)
    assert connection.pauses == []
    await receive_transients(4)
    assert connection.pauses == [1, 2, 4, 4]
    # Five are allowed after a second, after which the next pause is short, and one is refused at once.
    await clock.advance(1)
    await receive_transients(6)
    assert connection.pauses == [1, 2, 4, 4]
    await receive_transients(2)
    assert connection.pauses == [1, 2, 4, 4, 1, 2]


async def test_control_frames_and_fragments_of_an_address_pause_their_sockets():
    hub, clock = make_hub(msgspec.structs.replace(SMALL, address_excess_per_second=1, address_excess_burst=3))
    first, second, elsewhere = (MemoryConnection() for _ in range(3))
    addresses = ((first, HERE), (second, HERE), (elsewhere, THERE))
    sessions = [
        SocketSession(hub, RecordingHandler(hub), hub.open(connection, guest(str(number)), address))
        for number, (connection, address) in enumerate(addresses)
    ]
    for session in sessions:
        session.count_frame(True)
        session.count_frame(False)
    assert (first.pauses, second.pauses, elsewhere.pauses) == ([], [1], [])
    await clock.advance(1)
    for session in sessions:
        session.count_frame(True)
    assert (first.pauses, second.pauses, elsewhere.pauses) == ([], [1, 1], [])
