"""In every order of events, each socket gets its messages in order and once."""

import asyncio

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.realtime.sockets.memory_connection import MemoryConnection, make_hub, open_socket
from zataku.platform.limits import AccountId
from zataku.realtime.messages import EventsMissed
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.socket import Socket

NAMES = ("ann", "bob", "cho")
TOPICS = ("live/1", "live/2")

names, topics = st.sampled_from(NAMES), st.sampled_from(TOPICS)
steps = st.one_of(
    st.tuples(st.just("come"), names, topics),
    st.tuples(st.just("go"), names, topics),
    st.tuples(st.just("tell"), st.none(), topics),
    st.tuples(st.just("tell"), names, topics),
    st.tuples(st.just("send"), names, st.none()),
    st.tuples(st.just("wait"), st.none(), st.none()),
    st.tuples(st.just("end"), names, st.none()),
)


class Model:
    """A model of subscriptions and of what each socket must have received, without ticks or frames."""

    def __init__(self) -> None:
        self.hub, self.clock = make_hub()
        self.people: dict[str, tuple[Socket, MemoryConnection]] = {
            name: open_socket(self.hub, name=name) for name in NAMES
        }
        self.subscriptions: set[tuple[str, str]] = set()
        self.expected: dict[str, list[bytes]] = {name: [] for name in NAMES}

    async def step(self, number: int, what: str, name: str | None, topic: str | None) -> None:
        payload = b'{"t":"missed","to":"%d"}' % number
        match what, name, topic:
            case "come", str(), str() if not self.people[name][0].is_closed:
                self.hub.subscribe(self.people[name][0], topic)
                self.subscriptions.add((name, topic))
            case "go", str(), str():
                self.hub.unsubscribe(self.people[name][0], topic)
                self.subscriptions.discard((name, topic))
            case "tell", _, str():
                self.hub.broadcast(topic, payload, None if name is None else frozenset({AccountId(name)}))
                for hearer, heard in self.subscriptions:
                    if heard == topic and name in {None, hearer}:
                        self.expected[hearer].append(payload)
            case "send", str(), _:
                self.hub.send(self.people[name][0], EventsMissed(to=str(number)))
                if not self.people[name][0].is_closed:
                    self.expected[name].append(payload)
            case "end", str(), _ if number % 8 == 0:
                # What is queued is dropped; what was written is a prefix of what was sent.
                self.hub.forget(self.people[name][0])
                got = self.people[name][1].payloads
                assert got == self.expected[name][: len(got)]
                self.expected[name] = got
                self.subscriptions = {(hearer, heard) for hearer, heard in self.subscriptions if hearer != name}
            case "wait", _, _:
                await self.clock.advance(SocketLimits().flush_seconds / 3)
            case _:
                pass


@settings(max_examples=100)
@example(
    [
        ("come", "ann", "live/1"),
        ("come", "ann", "live/2"),
        ("tell", None, "live/2"),
        ("tell", None, "live/1"),
        ("tell", None, "live/2"),
        ("tell", "bob", "live/1"),
    ]
)
@given(st.lists(steps, min_size=5, max_size=50))
def test_each_socket_gets_its_messages_in_order(path: list[tuple[str, str | None, str | None]]):
    async def walk() -> None:
        model = Model()
        for number, step in enumerate(path):
            await model.step(number, *step)
        await model.clock.advance(1)
        for name in NAMES:
            assert model.people[name][1].payloads == model.expected[name]
        await model.hub.stop()

    asyncio.run(walk())
