"""The benchmark of live rooms: it detects lost and reordered comments, and summarises its figures."""

import math
from xml.etree import ElementTree

import pytest

from bench.charts import Line, Point, chart
from bench.live import comments
from bench.live.delivery_order import DeliveryOrder
from bench.live.frames import FrameReader, UnexpectedMessage, read
from bench.live.measurement import Round
from bench.live.servers import LoopLags
from bench.live.summary import Measured, chart_of, facts, rows
from zataku.realtime.sockets.connection import ping_frame, text_frame


def event_message(*numbers: int) -> bytes:
    return b"".join(text_frame(comments.event_message(number)) for number in numbers)


def measured(*rounds: Round, lost: int = 0) -> Measured:
    return Measured(rounds=rounds, posted=500, deliveries=500 - lost, per_socket=15_000.0, memory=150_000_000)


def at_rate(rate: int, *waits: float, reached: int | None = None) -> Round:
    posted = len(waits)
    return Round(
        rate=rate,
        posted=posted,
        reached=posted if reached is None else reached,
        refused=0,
        waits=sorted(waits),
        calls=1,
        writes=3 * posted + 2,
        server_share=0.9,
        load_share=0.3,
        late=0.001,
        loop_lags=LoopLags({5: 90, 10: 99, 25: 100, math.inf: 100}),
    )


def test_a_chunk_is_parsed_to_the_last_complete_frame():
    done = text_frame(b'{"t":"done","id":7,"result":{}}')
    parsed = read(event_message(1, 2) + ping_frame() + done + event_message(3)[:100])
    assert (parsed.numbers, parsed.replies, parsed.pings, parsed.rest) == ((1, 2), 1, 1, event_message(3)[:100])
    assert read(parsed.rest + event_message(3)[100:]).numbers == (3,)


def test_a_refusal_by_an_overloaded_server_is_counted_and_any_other_ends_the_run():
    busy = b'{"t":"refused","id":%d,"error":{"code":"%b","message":"Try again.","details":{}}}'
    assert read(text_frame(busy % (7, b"unavailable"))).refused == (7,)
    for number, code in ((7, b"forbidden"), (0, b"unavailable")):
        with pytest.raises(UnexpectedMessage, match="refused"):
            read(text_frame(busy % (number, code)))


@pytest.mark.parametrize("cut", [0, 1, 3, 10])
def test_a_chunk_may_end_anywhere_in_a_frame(cut: int):
    parsed = read(event_message(1)[:cut])
    assert (parsed.numbers, parsed.rest) == ((), event_message(1)[:cut])


def test_a_snapshot_in_place_of_comments_ends_the_run():
    with pytest.raises(UnexpectedMessage, match="snapshot"):
        read(text_frame(b'{"t":"snapshot","to":"live/1","at":{"epoch":1,"seq":2},"snapshot":{}}'))


def test_a_comment_is_delivered_when_the_last_client_has_it():
    reader, delivery_order = FrameReader(), DeliveryOrder(2)
    first = delivery_order.move(0, reader.read(event_message(4, 2)))
    assert (first, delivery_order.order, len(delivery_order.reached)) == (2, [4, 2], 0)
    second = delivery_order.move(0, reader.read(event_message(4)))
    assert (second, len(delivery_order.reached)) == (1, 1)
    assert delivery_order.move(second, reader.read(event_message(2))) == 2
    assert len(delivery_order.reached) == 2


@pytest.mark.parametrize("numbers", [(2,), (2, 1), (1, 3), (1, 1), (1, 2, 1)], ids=str)
def test_a_missing_reordered_or_repeated_comment_ends_the_run(numbers: tuple[int, ...]):
    delivery_order = DeliveryOrder(2)
    delivery_order.move(0, read(event_message(1, 2)))
    with pytest.raises(UnexpectedMessage):
        delivery_order.move(0, read(event_message(*numbers)))


def test_the_wait_of_a_share_is_that_of_its_slowest_comment():
    measured = at_rate(10, *(number / 1000 for number in range(1, 101)))
    assert (measured.wait(0.5), measured.wait(0.99), measured.wait(1)) == (50, 99, 100)


def test_one_lost_delivery_misses_the_aim():
    ours, peer = at_rate(50, 0.1, 0.2), at_rate(50, 1.0, 2.0)
    for lost, met in ((0, True), (1, False)):
        by_case = {row.case: row for row in rows(measured(ours, lost=lost), measured(peer))}
        assert by_case["deliveries, each once and in one order"].met is met
    assert (by_case["50/s, p99 from post to last receiver"].ratio, by_case["50/s, cost of a comment"].ours) == (10, 4)


def test_the_lags_of_a_round_are_those_since_it_began():
    before, after = LoopLags({5: 10, 10: 11, math.inf: 12}), LoopLags({5: 108, 10: 110, math.inf: 112})
    lags = after.since(before)
    assert (lags.within(0.5), lags.within(0.99), lags.within(1)) == (5, 10, math.inf)
    fact = dict(facts(measured(at_rate(50, 0.1)), measured(at_rate(50, 0.1))))["event loop of ours late"]
    assert fact == "10 ms at most in 99 % and 25 ms in all at 50/s"


def test_a_server_that_fell_behind_is_named_in_facts_rows_and_chart():
    ours, peer = measured(at_rate(50, 0.1, 0.2)), measured(at_rate(50, 1.0, 2.0, reached=1))
    assert dict(facts(ours, peer))["plain loop at 50/s"].startswith("fell behind; 1 of 2 comments")
    assert {row.peer_name for row in rows(ours, peer) if row.unit == "ms"} == {"plain loop, at least"}
    assert "at least: fell behind" in chart_of(ours, peer, 5000)


def test_a_chart_escapes_its_texts_and_keeps_its_labels_apart():
    points = [Point(1, 20), Point(10, 300, at_least=True)]
    lines = [Line(name=name, colour="#000000", points=points) for name in ("<ours>", "theirs")]
    svg = ElementTree.fromstring(chart("a & b", lines, x="x", y="y"))
    texts = [element for element in svg.iter() if element.tag.endswith("}text")]
    heights = [float(text.attrib["y"]) for text in texts if text.text in ("<ours>", "theirs")]
    assert abs(heights[0] - heights[1]) >= 17
    assert {"a & b", "10", "100", "1,000"} <= {text.text for text in texts}
