"""The demo of an empty store."""

from typing import cast

from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.topics import Topics
from zataku.server.demo import fill_demo
from zataku.system import Demo, Plugin
from zataku.table import StoreFull


class RecordingTopics:
    """Topics that record what is published."""

    def __init__(self) -> None:
        self.published: list[tuple[str, bytes]] = []

    def publish(self, topic: str, event: bytes) -> None:
        self.published.append((topic, event))


def plugin(demo: Demo | None) -> Plugin:
    async def home(_: Identity) -> Plugin:
        raise NotImplementedError

    async def remove(_: AccountId) -> None:
        raise NotImplementedError

    return Plugin(home=home, remove=remove, demo=demo)


async def test_open_home_pages_are_told_when_a_demo_is_there() -> None:
    topics, filled = RecordingTopics(), list[str]()

    async def fill() -> None:
        assert topics.published == []
        filled.append("othello")

    await fill_demo(cast("Topics", topics), {"kifu": plugin(None), "othello": plugin(fill)})
    assert filled == ["othello"]
    assert topics.published == [("home", b'{"k":"changed"}')]


async def test_a_demo_that_fails_does_not_keep_the_others_from_being_filled() -> None:
    topics, filled = RecordingTopics(), list[str]()

    async def fail() -> None:
        raise StoreFull("The disk is full.")

    async def fill() -> None:
        filled.append("ranking")

    await fill_demo(cast("Topics", topics), {"othello": plugin(fail), "ranking": plugin(fill)})
    assert filled == ["ranking"]
    assert len(topics.published) == 1
