"""Cookies: guest tokens, tokens of sessions and keys, and their attributes."""

from collections.abc import Callable

import pytest

from tests.support.stores import START
from zataku.accounts.cookies import Cookies, language_in
from zataku.accounts.secrets import Token, key_token, session_token
from zataku.platform.limits import DAY, HOUR, AccountId

NOW = int(START) * 1000
HANA = AccountId("456e7890-e89b-42d3-a456-426614174001")
OTTO = AccountId("456e7890-e89b-42d3-a456-426614174002")
PLAIN = Cookies(b"s" * 32, secure=False)
SECURE = Cookies(b"s" * 32, secure=True)


def guest_value(cookies: Cookies = PLAIN, account_id: AccountId = HANA, now: int = NOW) -> str:
    return cookies.guest(account_id, now).value or ""


def test_a_guest_cookie_holds_the_account_id_and_its_time() -> None:
    token = PLAIN.guest_in({"zataku_guest": guest_value()}, NOW)
    assert token is not None
    assert (token.account_id, token.issued_at) == (HANA, NOW)


TAMPERED: dict[str, Callable[[str], str]] = {
    "another id": lambda text: text.replace(HANA, OTTO),
    "a later moment": lambda text: text.replace(str(NOW), str(NOW + 1)),
    "another version": lambda text: "2" + text[1:],
    "a bit of the signature": lambda text: text[:-2] + ("A" if text[-2] != "A" else "B") + text[-1],
    "no signature": lambda text: text.rpartition(".")[0],
    "an empty signature": lambda text: text.rpartition(".")[0] + ".",
    "a suffix": lambda text: text + "A",
    "a line break at its end": lambda text: text + "\n",
    "digits of another script": lambda text: text.replace(str(NOW), str(NOW).translate({0x34: "٤"})),
    "nothing": lambda _: "",
    "noise": lambda _: "\x00\xff😀" * 100,
    "a very long text": lambda text: text * 10_000,
}


@pytest.mark.parametrize("tamper", TAMPERED.values(), ids=TAMPERED)
def test_a_guest_token_that_was_tampered_with_is_invalid(tamper: Callable[[str], str]) -> None:
    assert PLAIN.guest_in({"zataku_guest": tamper(guest_value())}, NOW) is None


def test_a_guest_token_of_another_server_is_invalid() -> None:
    foreign = guest_value(Cookies(b"t" * 32, secure=False))
    assert PLAIN.guest_in({"zataku_guest": foreign}, NOW) is None


@pytest.mark.parametrize(("age", "is_valid"), [(0, True), (90 * DAY - 1, True), (90 * DAY, False)])
def test_a_guest_token_is_valid_for_90_days(age: int, is_valid: bool) -> None:
    assert (PLAIN.guest_in({"zataku_guest": guest_value()}, NOW + age) is not None) is is_valid


@pytest.mark.parametrize("jump", [HOUR + 1, DAY, 365 * DAY])
def test_a_guest_token_stays_valid_when_the_clock_is_set_back(jump: int) -> None:
    assert PLAIN.guest_in({"zataku_guest": guest_value()}, NOW - jump) is not None


def test_over_https_cookies_are_bound_to_the_host() -> None:
    token = Token.generate(HANA)
    for cookie in (SECURE.guest(HANA, NOW), SECURE.session(token)):
        header = cookie.to_header(header="")
        assert header.startswith("__Host-zataku_")
        assert {"Secure", "HttpOnly", "Path=/", "SameSite=lax"} <= set(header.split("; "))
        assert "Domain" not in header
    assert SECURE.guest_in({"zataku_guest": guest_value()}, NOW) is None
    assert SECURE.session_in({"zataku_session": token.as_session()}) is None


def test_over_http_cookies_are_not_secure_and_last_as_long() -> None:
    guest, session = (
        PLAIN.guest(HANA, NOW).to_header(header=""),
        PLAIN.session(Token.generate(HANA)).to_header(header=""),
    )
    assert "Secure" not in guest + session
    assert "Max-Age=7776000" in guest
    assert "Max-Age=2592000" in session


def test_a_deleted_cookie_expires_at_once() -> None:
    for cookie in (PLAIN.no_guest(), PLAIN.no_session()):
        assert "Max-Age=0" in cookie.to_header(header="")


def test_pages_can_read_the_language_cookie() -> None:
    assert "HttpOnly" not in PLAIN.language("ko").to_header(header="")
    assert language_in({"zataku_language": "ko"}) == "ko"
    assert language_in({"zataku_language": "xx"}) is None
    assert language_in({}) is None


def test_session_and_key_tokens_are_parsed_as_they_were_formatted() -> None:
    token = Token.generate(HANA)
    for parsed in (session_token(token.as_session()), key_token(token.as_key())):
        assert parsed is not None
        assert parsed.account_id == HANA
        assert parsed.secret.digest() == token.secret.digest()


def test_two_tokens_are_never_the_same() -> None:
    assert Token.generate(HANA).as_key() != Token.generate(HANA).as_key()


MALFORMED_TOKENS = [
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
    "text", [*MALFORMED_TOKENS, f"{HANA}.{'a' * 43}\n", f"zk_{'0' * 32}_{'a' * 43}\n", f"{HANA}.{'é' * 43}"]
)
def test_malformed_tokens_are_rejected(text: str) -> None:
    assert session_token(text) is None
    assert key_token(text) is None


def test_the_repr_of_cookies_and_tokens_hides_their_secrets() -> None:
    token = Token.generate(HANA)
    printed = f"{token!r} {PLAIN.session(token)!r} {PLAIN.guest(HANA, NOW)!r}"
    assert token.secret.reveal() not in printed
    assert guest_value().rpartition(".")[2] not in printed
