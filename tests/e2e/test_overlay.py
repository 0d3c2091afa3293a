"""The overlay of a live room: what people say flies over the slides, and no comment ever touches another."""

import asyncio
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from threading import Semaphore

import pytest
from PIL import Image
from playwright.sync_api import Browser, expect

from tests.e2e.browser import read_qr_code
from tests.e2e.overlay_page import COMMENT_BURST, COUNTER, OBSERVER, Room, Screen
from tests.e2e.server_process import ServerProcess, start_embedded_server
from tests.e2e.socket_client import SocketClient

COMMENTS = 1000
PHONES = 20
ROUND = PHONES * COMMENT_BURST
FASTER = 10
"""How much faster than life the stage moves while everybody watches it."""
IMG = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server whose clock can be advanced, so that no test waits for a rate limit."""
    server = start_embedded_server(tmp_path_factory.mktemp("overlay"))
    yield server
    assert server.close() == 0


@pytest.fixture
def room(talks: ServerProcess) -> Iterator[Room]:
    opened = Room(talks)
    yield opened
    opened.close()


Open = Callable[..., Screen]


@pytest.fixture
def screen(browser: Browser, room: Room) -> Iterator[Open]:
    """Opens overlays of the room."""
    opened: list[Screen] = []

    def screen(query: str = "", **how: bool) -> Screen:
        opened.append(Screen(browser, room, query, **how))
        return opened[-1]

    yield screen
    for one in opened:
        one.close()


def written() -> list[str]:
    """A thousand comments from 1 to 500 characters in all letters, short ones more often, no two the same."""
    chance = random.Random(6)
    letters = [
        "あいうえおかきくけこ字図型座卓",
        "가나다라마바사진짜공감",
        "the quick brown fox ",
        "🍵👏🎉😂",
        "iIlWM.,!?8",
    ]
    texts = {IMG, "!", "長" * 500, "<b>bold</b> &amp; &#33;"}
    while len(texts) < COMMENTS:
        alphabet = chance.choice(letters)
        length = round(500 ** chance.random())
        texts.add("".join(chance.choices(alphabet, k=length)).strip() or "・")
    return sorted(texts, key=lambda _: chance.random())


def test_a_thousand_comments_of_all_lengths_fly_and_no_two_ever_touch(screen: Open, room: Room):
    shown = screen("?size=16&speed=400")
    shown.page.set_viewport_size({"width": 1600, "height": 900})
    shown.page.evaluate(OBSERVER)
    shown.speed_up(FASTER)
    texts = written()
    go = Semaphore(0)

    async def talk(clients: Sequence[SocketClient]) -> None:
        for begin in range(0, COMMENTS, ROUND):
            assert await asyncio.to_thread(go.acquire, timeout=60)
            mine = [texts[begin + place : begin + ROUND : PHONES] for place in range(PHONES)]
            await asyncio.gather(*(say_all(phone, some) for phone, some in zip(clients, mine, strict=True)))
            await asyncio.to_thread(room.server.advance_clock, COMMENT_BURST)

    async def say_all(phone: SocketClient, some: list[str]) -> None:
        for text in some:
            await phone.post_comment(text)

    talking = room.run_clients(PHONES, talk)
    # As fast as they can fly; meanwhile somebody changes the window and the letters.
    for flown, (width, key) in zip(
        range(0, COMMENTS, ROUND), itertools.cycle([(1600, "-"), (1200, "+")]), strict=False
    ):
        shown.page.set_viewport_size({"width": width, "height": 900 * width // 1600})
        shown.page.keyboard.press(key)
        go.release()
        shown.page.wait_for_function(f"() => Object.keys(watched.flown).length >= {flown}", timeout=30_000)
    talking.result(timeout=30)
    shown.page.wait_for_function(f"() => Object.keys(watched.flown).length >= {COMMENTS}", timeout=30_000)
    # Until the last one is over the left edge.
    shown.page.wait_for_function("() => !document.querySelector('#stage > .flight')", timeout=30_000)
    watched = shown.page.evaluate("() => watched")
    assert watched["overlaps"] == []
    assert sorted(watched["flown"].values()) == sorted(texts)
    assert shown.page.get_attribute("#stage", "data-left-out") == "0"
    assert 30 < watched["most"] <= 60
    assert watched["frames"] > 100
    assert watched["wide"] > 100, "Long comments are one line, too."


def test_what_people_write_is_text_and_names_are_shown_where_they_are_wanted(screen: Open, room: Room) -> None:
    shown = screen("?names=1&size=999")
    room.post_comment(IMG, "<i>Ada</i>")
    flight = shown.flights.filter(has_text=IMG)
    expect(flight.locator(".content")).to_have_text(IMG)
    expect(flight.locator(".name")).to_have_text("<i>Ada</i>")
    expect(flight).to_have_css("font-size", "96px")
    room.post_comment("nobody in particular")
    expect(shown.flights.filter(has_text="nobody").locator(".name")).to_have_count(0)


def test_there_is_nothing_but_the_comments(screen: Open, room: Room) -> None:
    for scheme in ("light", "dark"):
        shown = screen()
        shown.page.emulate_media(color_scheme=scheme)
        empty = Image.open(BytesIO(shown.page.screenshot(omit_background=True)))
        assert empty.getchannel("A").getextrema() == (0, 0), "The ground is not transparent."
        room.post_comment("over the slide")
        expect(shown.flights).to_have_count(1)
        shown.speed_up(20)
        # Paused in the very frame: a moment later it may have flown off the screen.
        shown.page.wait_for_function(
            """() => {
                if (document.querySelector('.flight').getBoundingClientRect().right >= innerWidth) return false
                document.getAnimations().forEach((animation) => animation.pause())
                return true
            }"""
        )
        drawn = Image.open(BytesIO(shown.page.screenshot(omit_background=True)))
        assert drawn.getchannel("A").getextrema() == (0, 255)
        assert drawn.getchannel("A").crop((0, 60, 1280, 720)).getextrema() == (0, 0)


def test_what_was_said_before_does_not_fly_and_what_was_missed_for_a_moment_does(screen: Open, room: Room) -> None:
    room.post_comment("long ago")
    shown = screen(can_disconnect=True)
    room.post_comment("now")
    expect(shown.flights).to_have_text(["now"])
    shown.disconnect(stay_offline=True)
    room.post_comment("in a tunnel")
    shown.disconnect(stay_offline=False)
    expect(shown.flights).to_have_text(["now", "in a tunnel"])
    room.post_comment("back")
    expect(shown.flights).to_have_text(["now", "in a tunnel", "back"])


def test_a_hidden_comment_disappears_on_its_way_and_before_it(screen: Open, room: Room) -> None:
    shown = screen("?size=96&speed=50")
    # One lane: the second one waits until the first one is wholly in, which is for long.
    shown.page.set_viewport_size({"width": 400, "height": 150})
    flies, waits = room.post_comment("a long comment that takes its time"), room.post_comment("waits")
    expect(shown.flights).to_have_count(1)
    room.mark(waits, "HIDDEN")
    room.mark(flies, "HIDDEN")
    expect(shown.flights).to_have_count(0)
    room.post_comment("next")
    expect(shown.flights).to_have_text(["next"])


def test_the_pinned_comment_lies_at_the_lower_edge_while_it_is_pinned(screen: Open, room: Room) -> None:
    first, second = room.post_comment("slides: example.org/s"), room.post_comment("the <b>answer</b>")
    room.mark(first, "PINNED")
    shown = screen()
    tag = shown.page.locator(".pinned-tag .content")
    expect(tag).to_have_text("slides: example.org/s")
    room.mark(second, "PINNED")
    expect(tag).to_have_text("the <b>answer</b>")
    box = tag.bounding_box()
    assert box is not None
    assert box["y"] > 500
    room.mark(second, "HIDDEN")
    expect(tag).to_have_text("slides: example.org/s")
    room.mark(first, "PINNED", on=False)
    expect(tag).to_have_count(0)


def test_twenty_claps_raise_a_wave_once_and_a_still_seal_where_nothing_may_move(screen: Open, room: Room) -> None:
    moving, still = screen(), screen(still=True)
    for shown in (moving, still):
        shown.page.evaluate(COUNTER)

    async def clap(clients: Sequence[SocketClient]) -> None:
        await asyncio.gather(*(phone.react("clap", 5) for phone in clients))
        await clients[0].react("lol", 1)

    room.run_clients(3, clap).result(timeout=20)
    for shown in (moving, still):
        expect(shown.page.locator(".tag", has_text="clap").first).to_be_visible()
        assert shown.page.evaluate("() => waves") == 0
    room.run_clients(6, clap).result(timeout=20)
    expect(moving.page.locator(".wave .crest").first).to_be_visible()
    expect(still.page.locator(".bravo")).to_have_text("bravo")
    expect(moving.page.locator(".wave")).to_have_count(0)
    assert moving.page.evaluate("() => waves") == still.page.evaluate("() => waves") == 1
    expect(still.page.locator(".wave")).to_have_count(0)


def test_where_nothing_may_move_comments_stack_and_fade(screen: Open, room: Room) -> None:
    shown = screen(still=True)
    ids = [room.post_comment(f"comment {number}") for number in range(8)]
    stacked = shown.page.locator(".stack .entry")
    expect(stacked).to_have_text([f"comment {number}" for number in range(2, 8)])
    tops = stacked.evaluate_all("all => all.map(it => it.getBoundingClientRect().top)")
    assert tops == sorted(tops)
    assert shown.flights.count() == 0
    room.mark(ids[4], "HIDDEN")
    expect(stacked.filter(has_text="comment 4")).to_have_count(0)
    shown.speed_up(30)
    expect(stacked).to_have_count(0)


def test_keys_change_size_speed_and_the_code_and_the_address_remembers_it(screen: Open, room: Room) -> None:
    shown = screen("?lang=ko")
    for key in ("+", "+", "-", "]", "q"):
        shown.page.keyboard.press(key)
    assert shown.page.url.endswith("?lang=ko&size=44&speed=180&names=0&qr=1")
    card = shown.page.locator(".qr-card")
    expect(card.locator(".code")).to_have_text(room.view["code"])
    assert read_qr_code(card.get_by_role("img")) == f"{room.server.url}/live/{room.view['roomId']}"
    room.post_comment("larger")
    expect(shown.flights).to_have_css("font-size", "44px")
    shown.page.keyboard.press("q")
    expect(card).to_have_count(0)


def test_the_end_is_said_for_a_moment_and_then_there_is_nothing(screen: Open, room: Room) -> None:
    shown = screen("?qr=1")
    room.post_comment("last words")
    expect(shown.flights).to_have_count(1)
    room.end()
    expect(shown.page.locator(".note")).to_contain_text("This room has ended.")
    expect(shown.page.locator(".flight, .qr-card")).to_have_count(0)
    shown.speed_up(30)
    expect(shown.page.locator(".note")).to_have_count(0)
    assert shown.page.inner_text("#stage") == ""


def test_an_overlay_of_no_room_says_so(browser: Browser, talks: ServerProcess) -> None:
    page = browser.new_page(locale="en")
    page.goto(f"{talks.url}/live/00000000-0000-4000-8000-000000000000/overlay")
    expect(page.locator(".note")).to_have_text("No such room. Check the link.")
    page.close()
