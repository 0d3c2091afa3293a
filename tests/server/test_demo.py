"""Something to look at in an empty store."""

from typing import cast

from tests.support.app_context import app_context
from tests.support.stores import START
from zataku.clock import ManualClock
from zataku.othello.system import plug as othello
from zataku.realtime.topics import Topics
from zataku.server.demo import demonstrate
from zataku.system import System
from zataku.table import Store, StoreFull


class Heard:
    """Topics that write down what is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, bytes]] = []

    def tell(self, topic: str, event: bytes) -> None:
        """Write it down."""
        self.told.append((topic, event))


def named(name: str, demo: object) -> System:
    real = othello(app_context(cast("Store", None), ManualClock(START)))
    return System(name=name, tables=(), home=real.home, remove=real.remove, demo=demo)  # pyright: ignore[reportArgumentType]


async def test_whoever_looks_already_is_told_when_there_is_something_to_see() -> None:
    heard, filled = Heard(), list[str]()

    async def fill() -> None:
        assert heard.told == []
        filled.append("othello")

    await demonstrate(cast("Topics", heard), [named("kifu", None), named("othello", fill)])
    assert filled == ["othello"]
    assert heard.told == [("home", b'{"k":"changed"}')]


async def test_a_system_that_cannot_be_filled_does_not_keep_the_others_from_it() -> None:
    heard, filled = Heard(), list[str]()

    async def fail() -> None:
        raise StoreFull("The disk is full.")

    async def fill() -> None:
        filled.append("ranking")

    await demonstrate(cast("Topics", heard), [named("othello", fail), named("ranking", fill)])
    assert filled == ["ranking"]
    assert len(heard.told) == 1
