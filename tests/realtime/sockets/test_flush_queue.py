"""What goes out, in which order, and in how many writes."""

import msgspec
import pytest
from websockets.frames import Opcode

from tests.realtime.sockets.memory_connection import MemoryConnection, frames_in, hub_and_clock, opened
from tests.realtime.sockets.socket_server import somebody
from zataku.errors import RateLimited, Unavailable
from zataku.platform.limits import AccountId
from zataku.realtime.messages import Missed
from zataku.realtime.sockets.limits import SocketLimits

TICK = SocketLimits().flush_seconds


async def test_the_first_message_to_a_quiet_topic_goes_out_at_once():
    hub, _ = hub_and_clock()
    _, wire = opened(hub, "live/1")
    hub.broadcast("live/1", b"1")
    assert wire.payloads == [b"1"]


async def test_what_follows_within_the_tick_goes_out_in_one_write_at_its_end():
    hub, clock = hub_and_clock()
    wires = [opened(hub, "live/1")[1] for _ in range(3)]
    for number in range(20):
        hub.broadcast("live/1", b"%d" % number)
    await clock.advance(TICK * 0.9)
    assert [len(wire.writes) for wire in wires] == [1, 1, 1]
    await clock.advance(TICK * 0.1)
    assert [len(wire.writes) for wire in wires] == [2, 2, 2]
    assert all(wire.payloads == [b"%d" % number for number in range(20)] for wire in wires)
    # Not copies of it, either: every socket gets the very same bytes.
    assert len({id(wire.writes[1]) for wire in wires}) == 1


async def test_a_topic_that_goes_on_talking_gets_one_write_a_tick():
    hub, clock = hub_and_clock()
    _, wire = opened(hub, "live/1")
    for _ in range(10):
        for _ in range(4):
            hub.broadcast("live/1", b"x")
        await clock.advance(TICK)
    assert len(wire.payloads) == 40
    assert len(wire.writes) == 11


async def test_a_topic_is_quiet_again_after_a_tick_without_a_message():
    hub, clock = hub_and_clock()
    _, wire = opened(hub, "live/1")
    hub.broadcast("live/1", b"1")
    await clock.advance(TICK)
    hub.broadcast("live/1", b"2")
    assert wire.payloads == [b"1", b"2"]


async def test_where_people_wait_for_each_other_messages_wait_for_no_tick():
    hub, clock = hub_and_clock()
    _, wire = opened(hub, "live/1")
    hub.broadcast("live/1", b"a")
    hub.broadcast("live/1", b"b")
    await clock.advance(TICK)  # b waited alone, for nothing
    for number in range(10):
        await clock.advance(TICK / 4)
        hub.broadcast("live/1", b"%d" % number)
        assert wire.payloads[-1] == b"%d" % number
    # A burst is gathered nevertheless.
    written = len(wire.writes)
    for _ in range(50):
        hub.broadcast("live/1", b"burst")
    await clock.advance(TICK)
    assert len(wire.writes) == written + 1
    assert len(wire.payloads) == 12 + 50


async def test_what_is_sent_to_one_never_overtakes_what_was_told_to_all():
    hub, clock = hub_and_clock()
    asker, wire = opened(hub, "live/1")
    _, other = opened(hub, "live/1")
    hub.broadcast("live/1", b"1")
    hub.broadcast("live/1", b"2")
    hub.send(asker, Missed(to="x"))
    hub.broadcast("live/1", b"3")
    await clock.advance(TICK)
    assert wire.payloads == [b"1", b"2", msgspec.json.encode(Missed(to="x")), b"3"]
    assert other.payloads == [b"1", b"2", b"3"]
    assert len(wire.writes) == len(other.writes) == 2


async def test_what_is_sent_to_one_goes_out_at_once_when_nothing_waits():
    hub, _ = hub_and_clock()
    asker, wire = opened(hub, "live/1")
    hub.broadcast("live/1", b"1")
    hub.send(asker, Missed(to="x"))
    assert len(wire.writes) == 2


async def test_two_busy_topics_of_one_socket_share_a_write_and_keep_their_order():
    hub, clock = hub_and_clock()
    _, both = opened(hub, "live/1", "kifu/1")
    _, one = opened(hub, "live/1")
    for number in range(6):
        hub.broadcast("live/1" if number % 2 else "kifu/1", b"%d" % number)
    await clock.advance(TICK)
    assert both.payloads == [b"0", b"1", b"2", b"3", b"4", b"5"]
    assert len(both.writes) == 3
    assert one.payloads == [b"1", b"3", b"5"]


async def test_only_those_who_are_named_are_told():
    hub, clock = hub_and_clock()
    _, ann = opened(hub, "live/1", name="ann")
    _, bob = opened(hub, "live/1", name="bob")
    for number in range(3):
        hub.broadcast("live/1", b"all %d" % number)
        hub.broadcast("live/1", b"ann %d" % number, recipients=frozenset({AccountId("ann")}))
    await clock.advance(TICK)
    assert ann.payloads == [b"all 0", b"ann 0", b"all 1", b"ann 1", b"all 2", b"ann 2"]
    assert bob.payloads == [b"all 0", b"all 1", b"all 2"]


async def test_who_comes_in_the_middle_of_a_tick_hears_only_what_follows():
    hub, clock = hub_and_clock()
    opened(hub, "live/1")
    hub.broadcast("live/1", b"1")
    hub.broadcast("live/1", b"2")
    late, wire = opened(hub)
    hub.subscribe(late, "live/1")
    hub.send(late, Missed(to="live/1"))
    hub.broadcast("live/1", b"3")
    await clock.advance(TICK)
    assert wire.payloads == [msgspec.json.encode(Missed(to="live/1")), b"3"]


async def test_who_leaves_in_the_middle_of_a_tick_gets_what_was_told_before():
    hub, clock = hub_and_clock()
    leaver, wire = opened(hub, "live/1")
    hub.broadcast("live/1", b"1")
    hub.broadcast("live/1", b"2")
    hub.unsubscribe(leaver, "live/1")
    hub.broadcast("live/1", b"3")
    hub.subscribe(leaver, "live/1")
    hub.broadcast("live/1", b"4")
    await clock.advance(TICK)
    assert wire.payloads == [b"1", b"2", b"4"]


async def test_nothing_waits_for_a_socket_that_has_ended():
    hub, clock = hub_and_clock()
    socket, wire = opened(hub, "live/1")
    hub.broadcast("live/1", b"1")
    hub.broadcast("live/1", b"2")
    hub.close(socket, 1000, "")
    hub.send(socket, Missed(to="live/1"))
    hub.forget(socket)
    hub.forget(socket)
    hub.broadcast("live/1", b"3")
    await clock.advance(TICK)
    assert (wire.payloads, wire.in_vain) == ([b"1"], 0)
    assert hub.socket_count == 0
    assert not hub.members("live/1")
    with pytest.raises(Unavailable):
        hub.subscribe(socket, "live/1")


async def test_binary_messages_carry_the_same_channel_for_everybody():
    hub, _ = hub_and_clock()
    first, one = opened(hub, "drawing/1")
    second, two = opened(hub, "live/1", "drawing/1")
    channel = hub.subscribe(first, "drawing/1")
    assert channel == hub.subscribe(second, "drawing/1")
    assert hub.topic_of(first, channel) == "drawing/1"
    assert hub.topic_of(first, hub.subscribe(second, "live/1")) is None
    hub.broadcast_binary("drawing/1", b"ink")
    expected = [(Opcode.BINARY, channel.to_bytes(2) + b"ink")]
    assert frames_in(one.writes[0]) == frames_in(two.writes[0]) == expected


async def test_a_channel_is_free_again_when_nobody_hears_its_topic():
    hub, _ = hub_and_clock()
    socket, _ = opened(hub)
    seen = set()
    for number in range(70_000):
        seen.add(hub.subscribe(socket, f"live/{number}"))
        hub.unsubscribe(socket, f"live/{number}")
    assert seen == set(range(65_536))


async def test_a_socket_hears_twenty_topics_and_no_more():
    hub, _ = hub_and_clock()
    socket, _ = opened(hub, *(f"live/{number}" for number in range(20)))
    with pytest.raises(RateLimited):
        hub.subscribe(socket, "live/20")
    hub.subscribe(socket, "live/19")
    hub.unsubscribe(socket, "live/0")
    hub.subscribe(socket, "live/20")
    assert len(socket.topics) == 20


async def test_sockets_are_limited_by_person_and_by_address():
    hub, _ = hub_and_clock(SocketLimits(max_sockets_per_account=2, max_sockets_per_address=3))
    first, _ = opened(hub)
    opened(hub)
    with pytest.raises(RateLimited):
        opened(hub)
    opened(hub, name="b")
    with pytest.raises(RateLimited):
        opened(hub, name="c")
    hub.open(MemoryConnection(), somebody("c"), "there")
    hub.forget(first)
    opened(hub)


async def test_what_went_out_is_counted_for_every_receiver():
    hub, clock = hub_and_clock()
    for _ in range(3):
        opened(hub, "live/1")
    for _ in range(5):
        hub.broadcast("live/1", b"1234")
    await clock.advance(TICK)
    assert (hub.counters.messages_out, hub.counters.bytes_out) == (15, 15 * 6)
    assert (hub.counters.opened, hub.socket_count) == (3, 3)
