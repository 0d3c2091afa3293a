"""The page of a closed room: its timeline, and the seal of its host."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.browser import PHONE, Visitor
from tests.e2e.overlay_page import Room
from tests.e2e.server_process import ServerProcess, start_embedded_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server whose clock can be advanced, so that a talk is as long as it has to be."""
    server = start_embedded_server(tmp_path_factory.mktemp("archive"))
    yield server
    assert server.close() == 0


def test_the_timeline_has_times_a_handle_and_nothing_where_nothing_was_said(
    browser: Browser, server: ServerProcess
) -> None:
    room = Room(server)
    room.post_comment("the beginning")
    server.advance_clock(40 * 60)
    room.post_comment("the end")
    room.end()
    guest = Visitor(browser, server.url, screen=PHONE)
    page = guest.open(f"/live/{room.view['roomId']}")
    slider = page.get_by_role("slider", name="Timeline")
    expect(slider).to_be_visible()
    heights: list[float] = slider.locator("i").evaluate_all("(bars) => bars.map((bar) => bar.offsetHeight)")
    assert len([height for height in heights if height > 0]) == 2
    # Round times of day below it, which do not overlap.
    times = page.locator(".axis span")
    assert times.count() >= 2
    assert all(text[-4] in "05" for text in times.all_inner_texts()), times.all_inner_texts()
    boxes = [box for box in (time.bounding_box() for time in times.all()) if box]
    assert all(one["x"] + one["width"] <= other["x"] for one, other in pairwise(boxes))

    # The handle is dragged to the end, and the keys lead back.
    expect(page.get_by_text("Drag to jump to a moment")).to_be_visible()
    handle = slider.locator(".handle svg").bounding_box()
    strip = slider.bounding_box()
    assert handle
    assert strip
    assert handle["width"] >= 24
    page.mouse.move(handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2)
    page.mouse.down()
    page.mouse.move(strip["x"] + strip["width"] - 1, strip["y"] + 10, steps=4)
    page.mouse.up()
    expect(slider).to_have_attribute("aria-valuenow", str(len(heights) - 1))
    page.keyboard.press("Home")
    expect(slider).to_have_attribute("aria-valuenow", "0")
    guest.close()
    room.close()


def test_the_host_has_a_seal_where_a_comment_is_pinned_archived_and_found(
    browser: Browser, server: ServerProcess
) -> None:
    room = Room(server)
    room.mark(room.post_comment("ask anything", "Midori", by_host=True), "PINNED")
    room.post_comment("ask what?", "Sora")
    guest = Visitor(browser, server.url, screen=PHONE)
    page = guest.open(f"/live/{room.view['roomId']}")
    expect(page.get_by_role("region", name="Pinned").locator("p .seal")).to_be_visible()
    room.end()
    rows = page.locator("[data-seq]")
    sealed = rows.filter(has=page.locator(".seal"))
    expect(page.get_by_role("log", name="Comments")).to_be_visible()
    expect(rows).to_have_count(2)
    expect(sealed).to_have_count(1)
    expect(sealed).to_contain_text("Midori")
    page.get_by_role("radio", name="Highlights").check(force=True)
    expect(page.get_by_role("main").locator(".seal").filter(has_text="主")).to_be_visible()
    page.get_by_role("searchbox", name="Search the comments").fill("ask")
    expect(rows).to_have_count(2)
    expect(sealed).to_contain_text("Midori")
    guest.close()
    room.close()
