"""Lines break between words: no word that has room on a line of its own is broken, in English and in Korean."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.browser import PAGES, Visitor
from tests.e2e.overlay_page import Room
from tests.e2e.server_process import ServerProcess, start_embedded_server

SCREEN = {"width": 320, "height": 640}
COMMENTS = (
    "Incomprehensibilities notwithstanding, where do internationalization responsibilities actually get decided?",
    "국제화에 대한 책임은 도대체 어디에서 결정되는지 자세하게 설명해 주실 수 있으신가요?",
    "w" * 300,
)

NICKNAMES = ("Maximiliana", "막시밀리아나 로젠베르크", "Maximiliana")

# Run in the page: the words that are on two lines although the box around them has room for them on one.
BROKEN_WORDS = """
() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const broken = []
  // The text up to the next space, where Korean breaks lines; English also after a hyphen or a slash.
  const units = (text) => [...text.matchAll(/[^\\s\\-\\/–—·…,.:?=&_{}()'"“”]+/g)]
  const blockOf = (element) => {
    while (getComputedStyle(element).display.startsWith('inline')) element = element.parentElement
    return element
  }
  while (walker.nextNode()) {
    const node = walker.currentNode
    const element = node.parentElement
    if (!element.checkVisibility() || element.closest('script, style, pre, code, .visually-hidden, .link')) continue
    const style = getComputedStyle(blockOf(element))
    const room = blockOf(element).clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)
    for (const unit of units(node.data)) {
      if (/[\\u3041-\\u30ff\\u4e00-\\u9fff]/.test(unit[0])) continue
      const range = document.createRange()
      range.setStart(node, unit.index)
      range.setEnd(node, unit.index + unit[0].length)
      const lines = [...range.getClientRects()].filter((box) => box.width > 0)
      const width = lines.reduce((sum, box) => sum + box.width, 0)
      if (new Set(lines.map((box) => Math.round(box.top))).size > 1 && width <= room) broken.push(unit[0])
    }
  }
  return broken
}
"""

# Run in the page: on how many lines a word of an element is.
LINES_OF_WORD = """
(element, word) => {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  const lines = new Set()
  while (walker.nextNode()) {
    const at = walker.currentNode.data.indexOf(word)
    if (at < 0) continue
    const range = document.createRange()
    range.setStart(walker.currentNode, at)
    range.setEnd(walker.currentNode, at + word.length)
    for (const box of range.getClientRects()) lines.add(Math.round(box.top))
  }
  return lines.size
}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server whose clock can be advanced, so that no test waits for a rate limit."""
    server = start_embedded_server(tmp_path_factory.mktemp("words"))
    yield server
    assert server.close() == 0


def open_as_host(visitor: Visitor, room: Room, language: str) -> Page:
    """The room's page in the browser of its host, in a language."""
    room.host.patch("/api/me", json={"language": language}).raise_for_status()
    visitor.context.add_cookies(
        [{"name": c.name, "value": c.value or "", "url": visitor.url} for c in room.host.cookies.jar]
    )
    return visitor.open(f"/live/{room.view['roomId']}")


@pytest.mark.parametrize("language", ["en", "ko"])
def test_no_word_is_broken_that_fits_a_line_of_a_phone(browser: Browser, server: ServerProcess, language: str) -> None:
    room = Room(server, "국제화에 대한 책임을 다 같이 이야기하는 자리")
    for text, nickname in zip(COMMENTS, NICKNAMES, strict=True):
        room.mark(room.post_comment(text, nickname), "PINNED")
    visitor = Visitor(browser, server.url, screen=SCREEN, language=language)
    page = visitor.page
    broken: dict[str, list[str]] = {}

    def check(view: str) -> None:
        if words := page.evaluate(BROKEN_WORDS):
            broken[view] = words

    for path in PAGES:
        visitor.open(path)
        expect(page.locator(".loading:not(.side *)")).to_have_count(0)
        check(path)
    visitor.open(f"/live/{room.view['roomId']}")
    expect(page.locator(".comment")).to_have_count(len(COMMENTS))
    check("the audience")
    visitor.context.add_cookies(
        [
            {"name": c.name, "value": c.value or "", "url": server.url}
            for c in room.host.cookies.jar
            if c.name != "zataku_language"
        ]
    )
    visitor.open(f"/live/{room.view['roomId']}")
    page.locator("header .holder > .button").last.click()
    expect(page.locator(".host")).to_be_visible()
    check("the host")
    room.end()
    visitor.open(f"/live/{room.view['roomId']}")
    expect(page.locator(".row[data-seq]")).to_have_count(len(COMMENTS))
    check("after the close")
    visitor.close()
    room.close()
    assert broken == {}


def test_japanese_buttons_and_hints_break_between_phrases(browser: Browser, server: ServerProcess) -> None:
    room = Room(server)
    for at in range(2):
        room.post_comment(f"{at}")
        server.advance_clock(60)
    room.end()
    visitor = Visitor(browser, server.url, screen=SCREEN, language="ja")
    page = visitor.open(f"/live/{room.view['roomId']}")
    for found, word in (
        (page.get_by_role("link", name="CSVで書き出す"), "書き出す"),
        (page.get_by_text("つまみを動かすと"), "移れます"),
    ):
        expect(found).to_be_visible()
        assert found.evaluate(LINES_OF_WORD, word) == 1
    visitor.close()
    room.close()


def test_a_japanese_question_about_a_comment_breaks_between_phrases(browser: Browser, server: ServerProcess) -> None:
    room = Room(server)
    room.post_comment("0")
    visitor = Visitor(browser, server.url, screen=SCREEN, language="ja")
    page = open_as_host(visitor, room, "ja")
    page.get_by_role("button", name="ほかの操作").click()
    page.get_by_role("button", name="削除", exact=True).click()
    sentence = page.get_by_role("dialog").get_by_text("元に戻せません")
    expect(sentence).to_be_visible()
    assert sentence.evaluate(LINES_OF_WORD, "戻せません") == 1
    visitor.close()
    room.close()


@pytest.mark.parametrize(
    ("language", "label", "word"),
    [("en", "Undo", "sent"), ("ja", "元に戻す", "送れません"), ("ko", "되돌리기", "없어요")],
)
def test_a_long_toast_leaves_its_button_whole_on_a_small_phone(
    browser: Browser, server: ServerProcess, language: str, label: str, word: str
) -> None:
    room = Room(server)
    visitor = Visitor(browser, server.url, screen=SCREEN, language=language)
    page = open_as_host(visitor, room, language)
    page.locator("header .holder > .button").last.click()
    field = page.locator(".block-list input")
    field.fill("rude")
    field.press("Enter")
    toast = page.locator(".toast")
    undo = toast.get_by_role("button", name=label)
    undo.hover()
    assert undo.evaluate(LINES_OF_WORD, label) == 1
    assert undo.evaluate("button => button.scrollWidth <= button.clientWidth")
    assert toast.evaluate("toast => toast.scrollWidth <= toast.clientWidth")
    assert toast.evaluate(LINES_OF_WORD, word) == 1
    visitor.close()
    room.close()


@pytest.mark.parametrize("language", ["ja", "ko", "en"])
def test_the_title_of_a_missing_room_is_not_cut_on_a_small_phone(
    browser: Browser, server: ServerProcess, language: str
) -> None:
    visitor = Visitor(browser, server.url, screen={"width": 320, "height": 568}, language=language)
    title = visitor.open("/live/00000000-0000-4000-8000-000000000000").get_by_role("heading", level=1)
    assert title.evaluate("title => title.scrollHeight <= title.clientHeight + 1")
    visitor.close()
