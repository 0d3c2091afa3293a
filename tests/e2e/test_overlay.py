"""The overlay of a live room: comments fly over the slides, and no two of them overlap."""

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
from tests.e2e.overlay_page import COMMENT_BURST, OBSERVER, WAVE_COUNTER, Room, Screen
from tests.e2e.server_process import ServerProcess, start_embedded_server
from tests.e2e.socket_client import SocketClient

COMMENTS = 1000
CLIENTS = 20
COMMENTS_PER_ROUND = CLIENTS * COMMENT_BURST
PLAYBACK_RATE = 10
"""How much faster than normal the animations of many comments run."""
MARKUP = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server whose clock can be advanced, so that no test waits for a rate limit."""
    server = start_embedded_server(tmp_path_factory.mktemp("overlay"))
    yield server
    assert server.close() == 0


@pytest.fixture
def room(server: ServerProcess) -> Iterator[Room]:
    room = Room(server)
    yield room
    room.close()


OpenScreen = Callable[..., Screen]


@pytest.fixture
def screen(browser: Browser, room: Room) -> Iterator[OpenScreen]:
    """A function that opens overlays of the room."""
    opened: list[Screen] = []

    def screen(query: str = "", **options: bool) -> Screen:
        opened.append(Screen(browser, room, query, **options))
        return opened[-1]

    yield screen
    for overlay in opened:
        overlay.close()


def sample_texts() -> list[str]:
    """A thousand comments from 1 to 500 characters in several scripts, short ones more often, all different."""
    rng = random.Random(6)
    letters = [
        "あいうえおかきくけこ字図型座卓",
        "가나다라마바사진짜공감",
        "the quick brown fox ",
        "🍵👏🎉😂",
        "iIlWM.,!?8",
    ]
    texts = {MARKUP, "!", "長" * 500, "<b>bold</b> &amp; &#33;"}
    while len(texts) < COMMENTS:
        alphabet = rng.choice(letters)
        length = round(500 ** rng.random())
        texts.add("".join(rng.choices(alphabet, k=length)).strip() or "・")
    return sorted(texts, key=lambda _: rng.random())


def test_a_thousand_comments_of_all_lengths_fly_and_no_two_overlap(screen: OpenScreen, room: Room):
    overlay = screen("?size=16&speed=400")
    overlay.page.set_viewport_size({"width": 1600, "height": 900})
    overlay.page.evaluate(OBSERVER)
    overlay.speed_up(PLAYBACK_RATE)
    texts = sample_texts()
    next_round = Semaphore(0)

    async def post_rounds(clients: Sequence[SocketClient]) -> None:
        for begin in range(0, COMMENTS, COMMENTS_PER_ROUND):
            assert await asyncio.to_thread(next_round.acquire, timeout=60)
            shares = [texts[begin + index : begin + COMMENTS_PER_ROUND : CLIENTS] for index in range(CLIENTS)]
            await asyncio.gather(*(post_all(client, share) for client, share in zip(clients, shares, strict=True)))
            await asyncio.to_thread(room.server.advance_clock, COMMENT_BURST)

    async def post_all(client: SocketClient, share: list[str]) -> None:
        for text in share:
            await client.post_comment(text)

    posting = room.run_clients(CLIENTS, post_rounds)
    # The window and the text size change while comments fly.
    for flown, (width, key) in zip(
        range(0, COMMENTS, COMMENTS_PER_ROUND), itertools.cycle([(1600, "-"), (1200, "+")]), strict=False
    ):
        overlay.page.set_viewport_size({"width": width, "height": 900 * width // 1600})
        overlay.page.keyboard.press(key)
        next_round.release()
        overlay.page.wait_for_function(f"() => Object.keys(observed.flown).length >= {flown}", timeout=30_000)
    posting.result(timeout=30)
    overlay.page.wait_for_function(f"() => Object.keys(observed.flown).length >= {COMMENTS}", timeout=30_000)
    # The last one has left the screen.
    overlay.page.wait_for_function("() => !document.querySelector('#stage > .flight')", timeout=30_000)
    observed = overlay.page.evaluate("() => observed")
    assert observed["overlaps"] == []
    assert sorted(observed["flown"].values()) == sorted(texts)
    assert overlay.page.get_attribute("#stage", "data-dropped") == "0"
    assert 30 < observed["maxFlying"] <= 60
    assert observed["frames"] > 100
    assert observed["wideBoxes"] > 100, "Long comments are one line, too."


def test_markup_is_shown_as_text_and_nicknames_where_the_query_asks_for_them(screen: OpenScreen, room: Room) -> None:
    overlay = screen("?names=1&size=999")
    room.post_comment(MARKUP, "<i>Ada</i>")
    flight = overlay.flights.filter(has_text=MARKUP)
    expect(flight.locator(".content")).to_have_text(MARKUP)
    expect(flight.locator(".name")).to_have_text("<i>Ada</i>")
    expect(flight).to_have_css("font-size", "96px")
    room.post_comment("anonymous")
    expect(overlay.flights.filter(has_text="anonymous").locator(".name")).to_have_count(0)


def test_the_background_of_the_overlay_is_the_colour_of_its_address(screen: OpenScreen) -> None:
    for query, colour in (("?background=00b140", (0, 177, 64, 255)), ("?background=red", (0, 0, 0, 0))):
        picture = Image.open(BytesIO(screen(query).page.screenshot(omit_background=True))).convert("RGBA")
        assert picture.getpixel((640, 360)) == colour


def test_the_overlay_is_transparent_except_for_its_comments(screen: OpenScreen, room: Room) -> None:
    for scheme in ("light", "dark"):
        overlay = screen()
        overlay.page.emulate_media(color_scheme=scheme)
        empty = Image.open(BytesIO(overlay.page.screenshot(omit_background=True)))
        assert empty.getchannel("A").getextrema() == (0, 0), "The background is not transparent."
        room.post_comment("over the slide")
        expect(overlay.flights).to_have_count(1)
        overlay.speed_up(20)
        # Paused in the same frame: in a later one it may have left the screen.
        overlay.page.wait_for_function(
            """() => {
                if (document.querySelector('.flight').getBoundingClientRect().right >= innerWidth) return false
                document.getAnimations().forEach((animation) => animation.pause())
                return true
            }"""
        )
        drawn = Image.open(BytesIO(overlay.page.screenshot(omit_background=True)))
        assert drawn.getchannel("A").getextrema() == (0, 255)
        assert drawn.getchannel("A").crop((0, 60, 1280, 720)).getextrema() == (0, 0)


def test_earlier_comments_do_not_fly_but_comments_missed_while_offline_do(screen: OpenScreen, room: Room) -> None:
    room.post_comment("long ago")
    overlay = screen(can_disconnect=True)
    room.post_comment("now")
    expect(overlay.flights).to_have_text(["now"])
    overlay.disconnect(stay_offline=True)
    room.post_comment("while offline")
    overlay.disconnect(stay_offline=False)
    expect(overlay.flights).to_have_text(["now", "while offline"])
    room.post_comment("back")
    expect(overlay.flights).to_have_text(["now", "while offline", "back"])


def test_a_hidden_comment_is_removed_in_flight_and_while_it_waits(screen: OpenScreen, room: Room) -> None:
    overlay = screen("?size=96&speed=50")
    # One lane: the second comment waits until the first one is completely visible, which takes long.
    overlay.page.set_viewport_size({"width": 400, "height": 150})
    flying, waiting = room.post_comment("a long comment that takes its time"), room.post_comment("waits")
    expect(overlay.flights).to_have_count(1)
    room.mark(waiting, "HIDDEN")
    room.mark(flying, "HIDDEN")
    expect(overlay.flights).to_have_count(0)
    room.post_comment("next")
    expect(overlay.flights).to_have_text(["next"])


def test_the_pinned_comment_is_shown_at_the_lower_edge_while_it_is_pinned(screen: OpenScreen, room: Room) -> None:
    first, second = room.post_comment("slides: example.org/s"), room.post_comment("the <b>answer</b>")
    room.mark(first, "PINNED")
    overlay = screen()
    tag = overlay.page.locator(".pinned-tag .content")
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


def test_twenty_claps_show_one_wave_or_with_reduced_motion_one_still_seal(screen: OpenScreen, room: Room) -> None:
    moving, still = screen(), screen(still=True)
    for overlay in (moving, still):
        overlay.page.evaluate(WAVE_COUNTER)

    async def clap(clients: Sequence[SocketClient]) -> None:
        await asyncio.gather(*(client.react("clap", 5) for client in clients))
        await clients[0].react("lol", 1)

    room.run_clients(3, clap).result(timeout=20)
    for overlay in (moving, still):
        expect(overlay.page.locator(".tag", has_text="clap").first).to_be_visible()
        assert overlay.page.evaluate("() => waves") == 0
    room.run_clients(6, clap).result(timeout=20)
    expect(moving.page.locator(".wave .crest").first).to_be_visible()
    expect(still.page.locator(".bravo")).to_have_text("bravo")
    expect(moving.page.locator(".wave")).to_have_count(0)
    assert moving.page.evaluate("() => waves") == still.page.evaluate("() => waves") == 1
    expect(still.page.locator(".wave")).to_have_count(0)


def test_with_reduced_motion_comments_stack_and_fade(screen: OpenScreen, room: Room) -> None:
    overlay = screen(still=True)
    ids = [room.post_comment(f"comment {number}") for number in range(8)]
    stacked = overlay.page.locator(".stack .entry")
    expect(stacked).to_have_text([f"comment {number}" for number in range(2, 8)])
    tops = stacked.evaluate_all("all => all.map(it => it.getBoundingClientRect().top)")
    assert tops == sorted(tops)
    assert overlay.flights.count() == 0
    room.mark(ids[4], "HIDDEN")
    expect(stacked.filter(has_text="comment 4")).to_have_count(0)
    overlay.speed_up(30)
    expect(stacked).to_have_count(0)


def test_keys_change_the_size_the_speed_and_the_qr_code_and_the_address_keeps_them(
    screen: OpenScreen, room: Room
) -> None:
    overlay = screen("?lang=ko")
    for key in ("+", "+", "-", "]", "q"):
        overlay.page.keyboard.press(key)
    assert overlay.page.url.endswith("?lang=ko&size=44&speed=180&names=0&qr=1")
    card = overlay.page.locator(".qr-card")
    expect(card.locator(".code")).to_have_text(room.view["code"])
    assert read_qr_code(card.locator("img")) == f"{room.server.url}/l/{room.view['code']}"
    expect(card.locator(".loopback")).to_contain_text("휴대폰으로는 열 수 없어요")
    room.post_comment("larger")
    expect(overlay.flights).to_have_css("font-size", "44px")
    overlay.page.keyboard.press("q")
    expect(card).to_have_count(0)


def test_the_close_is_announced_for_a_moment_and_then_the_overlay_is_empty(screen: OpenScreen, room: Room) -> None:
    overlay = screen("?qr=1")
    room.post_comment("last words")
    expect(overlay.flights).to_have_count(1)
    room.end()
    expect(overlay.page.locator(".note")).to_contain_text("This room has ended.")
    expect(overlay.page.locator(".flight, .qr-card")).to_have_count(0)
    overlay.speed_up(30)
    expect(overlay.page.locator(".note")).to_have_count(0)
    assert overlay.page.inner_text("#stage") == ""


def test_the_overlay_of_an_unknown_room_says_that_there_is_none(browser: Browser, server: ServerProcess) -> None:
    page = browser.new_page(locale="en")
    page.goto(f"{server.url}/live/00000000-0000-4000-8000-000000000000/overlay")
    expect(page.locator(".note")).to_have_text("No such room. Check the link.")
    page.close()
