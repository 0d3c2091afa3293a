"""Cookies: signed marks of guests, tokens of sessions and keys, and what a browser is told about them."""

from collections.abc import Callable

import pytest

from tests.support.stores import START
from zataku.accounts.cookies import Cookies, language_in
from zataku.accounts.secrets import Token, key_token, session_token
from zataku.platform.limits import DAY, AccountId

NOW = int(START) * 1000
HANA = AccountId("456e7890-e89b-42d3-a456-426614174001")
OTTO = AccountId("456e7890-e89b-42d3-a456-426614174002")
PLAIN = Cookies(b"s" * 32, secure=False)
SECURE = Cookies(b"s" * 32, secure=True)


def guest_value(cookies: Cookies = PLAIN, account_id: AccountId = HANA, now: int = NOW) -> str:
    return cookies.guest(account_id, now).value or ""


def test_a_guest_is_known_by_their_cookie() -> None:
    mark = PLAIN.guest_in({"zataku_guest": guest_value()}, NOW)
    assert mark is not None
    assert (mark.account_id, mark.issued_at) == (HANA, NOW)


TAMPERED: dict[str, Callable[[str], str]] = {
    "another id": lambda text: text.replace(HANA, OTTO),
    "a later moment": lambda text: text.replace(str(NOW), str(NOW + 1)),
    "another version": lambda text: "2" + text[1:],
    "a bit of the signature": lambda text: text[:-2] + ("A" if text[-2] != "A" else "B") + text[-1],
    "no signature": lambda text: text.rpartition(".")[0],
    "an empty signature": lambda text: text.rpartition(".")[0] + ".",
    "something behind it": lambda text: text + "A",
    "a line break behind it": lambda text: text + "\n",
    "digits of another script": lambda text: text.replace(str(NOW), str(NOW).translate({0x34: "٤"})),
    "nothing": lambda _: "",
    "noise": lambda _: "\x00\xff😀" * 100,
    "very much": lambda text: text * 10_000,
}


@pytest.mark.parametrize("tamper", TAMPERED.values(), ids=TAMPERED)
def test_a_mark_that_was_tampered_with_is_no_mark(tamper: Callable[[str], str]) -> None:
    assert PLAIN.guest_in({"zataku_guest": tamper(guest_value())}, NOW) is None


def test_a_mark_of_another_server_is_no_mark() -> None:
    foreign = guest_value(Cookies(b"t" * 32, secure=False))
    assert PLAIN.guest_in({"zataku_guest": foreign}, NOW) is None


@pytest.mark.parametrize(("age", "counts"), [(0, True), (90 * DAY - 1, True), (90 * DAY, False), (-DAY, False)])
def test_a_mark_holds_for_90_days(age: int, counts: bool) -> None:
    assert (PLAIN.guest_in({"zataku_guest": guest_value()}, NOW + age) is not None) is counts


def test_over_https_cookies_are_bound_to_the_host() -> None:
    token = Token.generate(HANA)
    for cookie in (SECURE.guest(HANA, NOW), SECURE.session(token)):
        header = cookie.to_header(header="")
        assert header.startswith("__Host-zataku_")
        assert {"Secure", "HttpOnly", "Path=/", "SameSite=lax"} <= set(header.split("; "))
        assert "Domain" not in header
    assert SECURE.guest_in({"zataku_guest": guest_value()}, NOW) is None
    assert SECURE.session_in({"zataku_session": token.as_session()}) is None


def test_over_http_they_are_not_secure_and_last_as_long() -> None:
    guest, session = (
        PLAIN.guest(HANA, NOW).to_header(header=""),
        PLAIN.session(Token.generate(HANA)).to_header(header=""),
    )
    assert "Secure" not in guest + session
    assert "Max-Age=7776000" in guest
    assert "Max-Age=2592000" in session


def test_a_cookie_that_is_taken_back_ends_at_once() -> None:
    for cookie in (PLAIN.no_guest(), PLAIN.no_session()):
        assert "Max-Age=0" in cookie.to_header(header="")


def test_the_pages_may_read_the_language_and_nothing_else() -> None:
    assert "HttpOnly" not in PLAIN.language("ko").to_header(header="")
    assert language_in({"zataku_language": "ko"}) == "ko"
    assert language_in({"zataku_language": "xx"}) is None
    assert language_in({}) is None


def test_a_session_and_a_key_are_read_as_they_were_written() -> None:
    token = Token.generate(HANA)
    for found in (session_token(token.as_session()), key_token(token.as_key())):
        assert found is not None
        assert found.account_id == HANA
        assert found.secret.digest() == token.secret.digest()


def test_two_tokens_are_never_the_same() -> None:
    assert Token.generate(HANA).as_key() != Token.generate(HANA).as_key()


NO_TOKEN = [
    "",
    ".",
    "zk_",
    "zk__",
    HANA,
    f"{HANA}.",
    f"{HANA}.short",
    f"../{HANA}.{'a' * 43}",
    "zk_" + "g" * 32,
    "é" * 80,
]


@pytest.mark.parametrize(
    "text", [*NO_TOKEN, f"{HANA}.{'a' * 43}\n", f"zk_{'0' * 32}_{'a' * 43}\n", f"{HANA}.{'é' * 43}"]
)
def test_what_is_no_token_is_nobody(text: str) -> None:
    assert session_token(text) is None
    assert key_token(text) is None


def test_no_cookie_or_token_shows_its_secret_where_it_is_printed() -> None:
    token = Token.generate(HANA)
    printed = f"{token!r} {PLAIN.session(token)!r} {PLAIN.guest(HANA, NOW)!r}"
    assert token.secret.reveal() not in printed
    assert guest_value().rpartition(".")[2] not in printed
