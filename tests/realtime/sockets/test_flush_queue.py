"""Messages are written in order, and those of one tick in one write."""

import msgspec
import pytest
from websockets.frames import Opcode

from tests.realtime.sockets.memory_connection import MemoryConnection, frames_in, make_hub, open_socket
from tests.realtime.sockets.socket_server import guest
from zataku.errors import RateLimited, Unavailable
from zataku.platform.limits import AccountId
from zataku.realtime.messages import EventsMissed
from zataku.realtime.sockets.limits import SocketLimits

TICK = SocketLimits().min_flush_seconds


async def test_the_first_message_to_a_quiet_topic_goes_out_at_once():
    hub, _ = make_hub()
    _, connection = open_socket(hub, "live/1")
    hub.broadcast("live/1", b"1")
    assert connection.payloads == [b"1"]


async def test_later_messages_of_a_tick_go_out_in_one_write_at_its_end():
    hub, clock = make_hub()
    connections = [open_socket(hub, "live/1")[1] for _ in range(3)]
    for number in range(20):
        hub.broadcast("live/1", b"%d" % number)
    await clock.advance(TICK / 2)
    assert [len(connection.writes) for connection in connections] == [1, 1, 1]
    await clock.advance(TICK / 2)
    assert [len(connection.writes) for connection in connections] == [2, 2, 2]
    assert all(connection.payloads == [b"%d" % number for number in range(20)] for connection in connections)
    # Every socket gets the very same bytes object.
    assert len({id(connection.writes[1]) for connection in connections}) == 1


async def test_a_busy_topic_gets_one_write_per_tick():
    hub, clock = make_hub()
    _, connection = open_socket(hub, "live/1")
    for _ in range(10):
        for _ in range(4):
            hub.broadcast("live/1", b"x")
        await clock.advance(TICK)
    assert len(connection.payloads) == 40
    assert len(connection.writes) == 11


@pytest.mark.parametrize(("members", "seconds"), [(1, 0.005), (250, 0.01), (750, 0.03), (5000, 0.04)])
async def test_a_larger_topic_has_a_longer_tick(members: int, seconds: float):
    limits = SocketLimits(max_sockets_per_account=members, max_sockets_per_address=members, sockets_per_turn=members)
    hub, clock = make_hub(limits)
    connections = [open_socket(hub, "live/1")[1] for _ in range(members)]
    hub.broadcast("live/1", b"1")
    hub.broadcast("live/1", b"2")
    await clock.advance(seconds * 0.99)
    assert len(connections[0].writes) == 1
    await clock.advance(seconds * 0.02)
    assert len(connections[0].writes) == 2


async def test_a_tick_is_as_long_as_all_topics_that_are_busy_in_it_need():
    hub, clock = make_hub(SocketLimits(max_sockets_per_account=500, sockets_per_turn=500))
    connections = [open_socket(hub, f"live/{number % 10}")[1] for number in range(500)]
    for number in range(20):
        hub.broadcast(f"live/{number % 10}", b"x")
    await clock.advance(0.019)
    assert {len(connection.writes) for connection in connections} == {1}
    await clock.advance(0.002)
    assert {len(connection.writes) for connection in connections} == {2}


async def test_a_small_topic_does_not_wait_for_the_tick_of_a_large_one():
    hub, clock = make_hub(SocketLimits(max_sockets_per_account=501, sockets_per_turn=501))
    for _ in range(500):
        open_socket(hub, "live/1")
    _, few = open_socket(hub, "live/2")
    for _ in range(2):
        hub.broadcast("live/1", b"crowd")
    for number in range(3):
        hub.broadcast("live/2", b"%d" % number)
    assert few.payloads == [b"0"]
    await clock.advance(0.021)
    assert few.payloads == [b"0", b"1", b"2"]
    # Several waited, so that this is no conversation, and the tick of the large topic goes on.
    hub.broadcast("live/1", b"crowd")
    for number in range(3, 6):
        await clock.advance(TICK)
        hub.broadcast("live/2", b"%d" % number)
        assert few.payloads[-1] == b"%d" % number


async def test_a_topic_is_quiet_again_after_a_tick_without_a_message():
    hub, clock = make_hub()
    _, connection = open_socket(hub, "live/1")
    hub.broadcast("live/1", b"1")
    await clock.advance(TICK)
    hub.broadcast("live/1", b"2")
    assert connection.payloads == [b"1", b"2"]


async def test_messages_of_a_conversation_do_not_wait_for_the_flush():
    hub, clock = make_hub()
    _, connection = open_socket(hub, "live/1")
    hub.broadcast("live/1", b"a")
    hub.broadcast("live/1", b"b")
    await clock.advance(TICK)  # b waited alone
    for number in range(10):
        await clock.advance(TICK / 4)
        hub.broadcast("live/1", b"%d" % number)
        assert connection.payloads[-1] == b"%d" % number
    # A burst is still queued.
    written = len(connection.writes)
    for _ in range(50):
        hub.broadcast("live/1", b"burst")
    await clock.advance(TICK)
    assert len(connection.writes) == written + 1
    assert len(connection.payloads) == 12 + 50


async def test_a_message_to_one_socket_never_overtakes_a_broadcast():
    hub, clock = make_hub()
    socket, connection = open_socket(hub, "live/1")
    _, other = open_socket(hub, "live/1")
    hub.broadcast("live/1", b"1")
    hub.broadcast("live/1", b"2")
    hub.send(socket, EventsMissed(to="x"))
    hub.broadcast("live/1", b"3")
    await clock.advance(TICK)
    assert connection.payloads == [b"1", b"2", msgspec.json.encode(EventsMissed(to="x")), b"3"]
    assert other.payloads == [b"1", b"2", b"3"]
    assert len(connection.writes) == len(other.writes) == 2


async def test_a_message_to_one_socket_goes_out_at_once_when_nothing_is_queued():
    hub, _ = make_hub()
    socket, connection = open_socket(hub, "live/1")
    hub.broadcast("live/1", b"1")
    hub.send(socket, EventsMissed(to="x"))
    assert len(connection.writes) == 2


async def test_two_busy_topics_of_one_socket_share_a_write_and_keep_their_order():
    hub, clock = make_hub()
    _, both = open_socket(hub, "live/1", "kifu/1")
    _, one = open_socket(hub, "live/1")
    for number in range(6):
        hub.broadcast("live/1" if number % 2 else "kifu/1", b"%d" % number)
    await clock.advance(TICK)
    assert both.payloads == [b"0", b"1", b"2", b"3", b"4", b"5"]
    assert len(both.writes) == 3
    assert one.payloads == [b"1", b"3", b"5"]


async def test_messages_that_may_wait_share_a_write_also_where_their_topics_are_quiet():
    hub, clock = make_hub()
    topics = [f"live/{number}" for number in range(20)]
    connections = [open_socket(hub, *topics)[1] for _ in range(3)]
    _, one = open_socket(hub, "live/7")
    for topic in topics:
        hub.broadcast_later(topic, topic.encode())
    assert connections[0].writes == []
    await clock.advance(TICK)
    assert all(connection.payloads == [topic.encode() for topic in topics] for connection in connections)
    assert one.payloads == [b"live/7"]
    # Every socket with these topics gets the very same bytes object.
    assert [len(connection.writes) for connection in connections] == [1, 1, 1]
    assert len({id(connection.writes[0]) for connection in connections}) == 1


async def test_a_message_never_overtakes_one_that_may_wait():
    hub, clock = make_hub()
    _, connection = open_socket(hub, "live/1")
    hub.broadcast_later("live/1", b"1")
    hub.broadcast("live/1", b"2")
    await clock.advance(TICK)
    assert connection.payloads == [b"1", b"2"]


async def test_a_broadcast_with_recipients_reaches_only_them():
    hub, clock = make_hub()
    _, ann = open_socket(hub, "live/1", name="ann")
    _, bob = open_socket(hub, "live/1", name="bob")
    for number in range(3):
        hub.broadcast("live/1", b"all %d" % number)
        hub.broadcast("live/1", b"ann %d" % number, recipients=frozenset({AccountId("ann")}))
    await clock.advance(TICK)
    assert ann.payloads == [b"all 0", b"ann 0", b"all 1", b"ann 1", b"all 2", b"ann 2"]
    assert bob.payloads == [b"all 0", b"all 1", b"all 2"]


async def test_a_socket_that_subscribes_during_a_tick_gets_only_later_messages():
    hub, clock = make_hub()
    open_socket(hub, "live/1")
    hub.broadcast("live/1", b"1")
    hub.broadcast("live/1", b"2")
    late, connection = open_socket(hub)
    hub.subscribe(late, "live/1")
    hub.send(late, EventsMissed(to="live/1"))
    hub.broadcast("live/1", b"3")
    await clock.advance(TICK)
    assert connection.payloads == [msgspec.json.encode(EventsMissed(to="live/1")), b"3"]


async def test_a_socket_that_unsubscribes_during_a_tick_gets_the_earlier_messages():
    hub, clock = make_hub()
    leaver, connection = open_socket(hub, "live/1")
    hub.broadcast("live/1", b"1")
    hub.broadcast("live/1", b"2")
    hub.unsubscribe(leaver, "live/1")
    hub.broadcast("live/1", b"3")
    hub.subscribe(leaver, "live/1")
    hub.broadcast("live/1", b"4")
    await clock.advance(TICK)
    assert connection.payloads == [b"1", b"2", b"4"]


async def test_nothing_is_queued_for_an_ended_socket():
    hub, clock = make_hub()
    socket, connection = open_socket(hub, "live/1")
    hub.broadcast("live/1", b"1")
    hub.broadcast("live/1", b"2")
    hub.close(socket, 1000, "")
    hub.send(socket, EventsMissed(to="live/1"))
    hub.forget(socket)
    hub.forget(socket)
    hub.broadcast("live/1", b"3")
    await clock.advance(TICK)
    assert (connection.payloads, connection.writes_after_close) == ([b"1"], 0)
    assert hub.socket_count == 0
    assert not socket.topics
    with pytest.raises(Unavailable):
        hub.subscribe(socket, "live/1")


async def test_binary_messages_have_the_same_channel_for_all_subscribers():
    hub, _ = make_hub()
    first, one = open_socket(hub, "drawing/1")
    second, two = open_socket(hub, "live/1", "drawing/1")
    channel = hub.subscribe(first, "drawing/1")
    assert channel == hub.subscribe(second, "drawing/1")
    assert hub.topic_of(first, channel) == "drawing/1"
    assert hub.topic_of(first, hub.subscribe(second, "live/1")) is None
    hub.broadcast_binary("drawing/1", b"ink")
    expected = [(Opcode.BINARY, channel.to_bytes(2) + b"ink")]
    assert frames_in(one.writes[0]) == frames_in(two.writes[0]) == expected


async def test_a_channel_number_is_free_again_without_subscribers():
    hub, _ = make_hub()
    socket, _ = open_socket(hub)
    seen = set()
    for number in range(70_000):
        seen.add(hub.subscribe(socket, f"live/{number}"))
        hub.unsubscribe(socket, f"live/{number}")
    assert seen == set(range(65_536))


async def test_a_socket_subscribes_to_at_most_twenty_topics():
    hub, _ = make_hub()
    socket, _ = open_socket(hub, *(f"live/{number}" for number in range(20)))
    with pytest.raises(RateLimited):
        hub.subscribe(socket, "live/20")
    hub.subscribe(socket, "live/19")
    hub.unsubscribe(socket, "live/0")
    hub.subscribe(socket, "live/20")
    assert len(socket.topics) == 20


async def test_sockets_are_limited_by_account_and_by_address():
    hub, _ = make_hub(SocketLimits(max_sockets_per_account=2, max_sockets_per_address=3))
    first, _ = open_socket(hub)
    open_socket(hub)
    with pytest.raises(RateLimited):
        open_socket(hub)
    open_socket(hub, name="b")
    with pytest.raises(RateLimited):
        open_socket(hub, name="c")
    hub.open(MemoryConnection(), guest("c"), "there")
    hub.forget(first)
    open_socket(hub)


async def test_outgoing_messages_count_once_for_every_receiver():
    hub, clock = make_hub()
    for _ in range(3):
        open_socket(hub, "live/1")
    for _ in range(5):
        hub.broadcast("live/1", b"1234")
    await clock.advance(TICK)
    assert (hub.counters.messages_out, hub.counters.bytes_out) == (15, 15 * 6)
    assert (hub.counters.opened, hub.socket_count) == (3, 3)
