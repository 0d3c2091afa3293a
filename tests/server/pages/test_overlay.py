"""The document of an overlay: the title of its room, its texts, and its own script only."""

import re
from html import escape
from pathlib import Path

import httpx
import pytest

from tests.server.conftest import PUBLIC, MakeClient
from zataku.live.system import OVERLAY, SYSTEM
from zataku.server.pages.document import PageHead, PageText, load_texts, system_document
from zataku.server.pages.languages import LANGUAGES, Language
from zataku.server.pages.web_build import WebBuild

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("language", LANGUAGES)
async def test_an_overlay_has_its_texts_in_the_requested_language(make_client: MakeClient, language: Language) -> None:
    response = await make_client().get(f"/live/some-room/overlay?lang={language}&size=60")
    assert response.status_code == 200
    assert response.headers["content-language"] == language
    assert f'<html lang="{language}">' in response.text
    overlay_texts = {
        name: text for name, text in load_texts(SYSTEM.texts, language).items() if name.startswith("overlay_")
    }
    assert len(overlay_texts) == 12
    for name, text in overlay_texts.items():
        attribute = name.removeprefix("overlay_").replace("_", "-")
        assert f'data-{attribute}="{escape(text)}"' in response.text


async def test_an_overlay_has_the_title_and_the_address_of_its_room(browser: httpx.AsyncClient) -> None:
    room = (await browser.post("/api/live/rooms", json={"name": "A <talk>"})).json()
    page = (await browser.get(f"/live/{room['roomId']}/overlay")).text
    assert "<title>A &lt;talk&gt; – 座卓</title>" in page
    assert f'data-room="{room["roomId"]}" data-public-url="{PUBLIC}"' in page


async def test_an_overlay_loads_its_own_script_and_nothing_of_the_app(browser: httpx.AsyncClient) -> None:
    response = await browser.get("/live/some-room/overlay")
    loaded = re.findall(r'(?:href|src)="(/assets/[^"]+)"', response.text)
    assert loaded == ["/assets/overlay-1.css", "/assets/socket-1.js", "/assets/overlay-1.js"]
    assert not re.search(r"<script(?![^>]* src=)|<style| style=| on\w+=", response.text)
    assert "'unsafe" not in response.headers["content-security-policy"]


async def test_an_overlay_sets_a_guest_cookie(make_client: MakeClient) -> None:
    """OBS has no cookies of the host, and its socket needs an identity."""
    response = await make_client(accept="text/html").get("/live/some-room/overlay")
    assert "set-cookie" in response.headers


async def test_the_name_of_a_room_cannot_break_out_of_the_document(make_client: MakeClient) -> None:
    response = await make_client().get("/live/%22%3E%3Cscript%3E1/overlay")
    assert "<script>1" not in response.text
    assert 'data-room="&quot;&gt;&lt;script&gt;1"' in response.text


async def test_without_a_build_the_page_says_how_to_make_one(tmp_path: Path) -> None:
    head = PageHead(language="en", theme=None, text=PageText("t", "a"), url=PUBLIC, public_url=PUBLIC)
    assert "make setup" in system_document(WebBuild.read(tmp_path), head, OVERLAY, {}, {})
