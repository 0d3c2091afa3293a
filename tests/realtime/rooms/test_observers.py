"""Observers of a room, such as a screen: they see everything, are not counted, and do nothing."""

import msgspec
import pytest

from tests.realtime.rooms.counter_room import CounterCommand
from tests.realtime.rooms.room_process import ROOM, CounterClient, ProcessClock, RoomProcess, advance_until, guest
from zataku.errors import Forbidden
from zataku.realtime.messages import CommandMessage


async def execute(client: CounterClient) -> None:
    what = msgspec.Raw(msgspec.json.encode(CounterCommand(add=1)))
    await client.process.router.execute(client.socket, CommandMessage(id=2, to=ROOM, what=what))


async def test_an_observer_sees_every_event_and_counts_in_no_process(
    two: tuple[RoomProcess, RoomProcess], clock: ProcessClock
):
    one, other = two
    hana, sora = await one.client("hana").join(), await other.client("sora").join()
    screens = [await process.client(f"screen of {process.name}").join(observer=True) for process in two]
    await advance_until(clock, lambda: hana.read().here == 2 and sora.read().here == 2, 5)
    await clock.run(3)
    # A whisper to one account is an event that the others must be told to skip.
    await one.rooms.ask(ROOM, guest("hana"), CounterCommand(add=1, whisper="hana"), int)
    await advance_until(clock, lambda: all(it.read().sum == 1 for it in (hana, sora, *screens)), 5)
    assert [it.read().here for it in (hana, sora, *screens)] == [2, 2, 2, 2]
    assert one.rooms.running("counter") == {ROOM: 2}
    assert all({"whisper": 1} not in screen.events for screen in screens)


async def test_an_observer_sends_no_commands_until_it_joins_as_a_person(process: RoomProcess, clock: ProcessClock):
    hana = await process.client("hana").join()
    screen = await process.client("screen").join(observer=True)
    with pytest.raises(Forbidden) as refused:
        await execute(screen)
    assert refused.value.code == "observer"
    screen.send_transient("a line")
    assert hana.read().transient_events == []
    await screen.join()
    await execute(screen)
    assert hana.read().sum == 1
    await advance_until(clock, lambda: hana.read().here == 2, 5)


async def test_a_person_who_also_shows_the_room_on_a_screen_counts_once_and_stays(
    process: RoomProcess, clock: ProcessClock
):
    hana, screen = await process.client("hana").join(), await process.client("hana").join(observer=True)
    await clock.run(2)
    assert hana.read().here == 1
    screen.disconnect()
    await clock.run(2)
    assert (hana.read().here, process.rooms.running("counter")) == (1, {ROOM: 1})
