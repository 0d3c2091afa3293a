"""Whatever the order of calls, each socket gets its messages in order and once."""

import asyncio

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.realtime.sockets.memory_connection import MemoryConnection, make_hub, open_socket
from zataku.platform.limits import AccountId
from zataku.realtime.messages import EventsMissed
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.socket import Socket

NAMES = ("ann", "bob", "cho", "dan")
TOPICS = ("live/1", "live/2")

names, topics = st.sampled_from(NAMES), st.sampled_from(TOPICS)
steps = st.one_of(
    st.tuples(st.just("subscribe"), names, topics),
    st.tuples(st.just("unsubscribe"), names, topics),
    st.tuples(st.just("broadcast"), st.none(), topics),
    st.tuples(st.just("broadcast"), names, topics),
    st.tuples(st.just("broadcast_later"), st.none(), topics),
    st.tuples(st.just("send"), names, st.none()),
    st.tuples(st.just("wait"), st.none(), st.none()),
    st.tuples(st.just("turn"), st.none(), st.none()),
    st.tuples(st.just("end"), names, st.none()),
)


class Model:
    """A model of the subscriptions and of the messages expected by each socket, without ticks or frames."""

    def __init__(self, sockets_per_turn: int) -> None:
        self.hub, self.clock = make_hub(SocketLimits(sockets_per_turn=sockets_per_turn))
        self.clients: dict[str, tuple[Socket, MemoryConnection]] = {
            name: open_socket(self.hub, name=name) for name in NAMES
        }
        self.subscriptions: set[tuple[str, str]] = set()
        self.expected: dict[str, list[bytes]] = {name: [] for name in NAMES}

    async def step(self, number: int, action: str, name: str | None, topic: str | None) -> None:
        payload = b'{"t":"missed","to":"%d"}' % number
        match action, name, topic:
            case "subscribe", str(), str() if not self.clients[name][0].is_closed:
                self.hub.subscribe(self.clients[name][0], topic)
                self.subscriptions.add((name, topic))
            case "unsubscribe", str(), str():
                self.hub.unsubscribe(self.clients[name][0], topic)
                self.subscriptions.discard((name, topic))
            case "broadcast" | "broadcast_later", _, str():
                if action == "broadcast":
                    self.hub.broadcast(topic, payload, None if name is None else frozenset({AccountId(name)}))
                else:
                    self.hub.broadcast_later(topic, payload)
                for subscriber, subscribed in self.subscriptions:
                    if subscribed == topic and name in {None, subscriber}:
                        self.expected[subscriber].append(payload)
            case "send", str(), _:
                self.hub.send(self.clients[name][0], EventsMissed(to=str(number)))
                if not self.clients[name][0].is_closed:
                    self.expected[name].append(payload)
            case "end", str(), _ if number % 8 == 0:
                # Queued messages are dropped: the written ones are a prefix of those expected.
                self.hub.forget(self.clients[name][0])
                received = self.clients[name][1].payloads
                assert received == self.expected[name][: len(received)]
                self.expected[name] = received
                self.subscriptions = {(other, topic) for other, topic in self.subscriptions if other != name}
            case "turn", _, _:
                await asyncio.sleep(0)
            case "wait", _, _:
                await self.clock.advance(SocketLimits().min_flush_seconds / 3)
            case _:
                pass


@settings(max_examples=100)
@example(
    [
        ("subscribe", "ann", "live/1"),
        ("subscribe", "ann", "live/2"),
        ("broadcast", None, "live/2"),
        ("broadcast", None, "live/1"),
        ("broadcast", None, "live/2"),
        ("broadcast", "bob", "live/1"),
    ],
    250,
)
@example(
    [
        *(("subscribe", name, "live/1") for name in NAMES),
        ("subscribe", "dan", "live/2"),
        ("broadcast", None, "live/1"),
        ("broadcast", None, "live/2"),
    ],
    2,
)
@given(st.lists(steps, min_size=5, max_size=50), st.sampled_from([1, 2, 250]))
def test_each_socket_gets_its_messages_in_order(calls: list[tuple[str, str | None, str | None]], sockets_per_turn: int):
    async def run() -> None:
        model = Model(sockets_per_turn)
        for number, call in enumerate(calls):
            await model.step(number, *call)
        await model.clock.advance(1)
        for name in NAMES:
            assert model.clients[name][1].payloads == model.expected[name]
        await model.hub.stop()

    asyncio.run(run())
