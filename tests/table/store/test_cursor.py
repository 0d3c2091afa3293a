"""Cursors: sealed, bound to their query, valid after a restart."""

import base64
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.table.boardgame import Game, GameId, by_status, everything_of, games_by_status, moves_of, status
from zataku.table import BadCursor, path
from zataku.table.schema.access_pattern import Query
from zataku.table.store.cursor import read, sign

SECRET = b"s" * 32
POSITION = {"PK": "GAME#g1", "SK": "MOVE#007", "voteCount": Decimal("1.5"), "raw": b"\x00\xff"}

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ é"


def test_a_cursor_is_read_as_its_position() -> None:
    assert read(sign(POSITION, b"q", SECRET), b"q", SECRET) == POSITION


@pytest.mark.parametrize("length", [0, 1, 63, 64, 65, 1000])
def test_a_cursor_shows_nothing_of_its_position(length: int) -> None:
    position = {"PK": "ACCOUNT#456e7890", "SK": "SESSION#" + "s3cr3t" * length}
    cursor = sign(position, b"q", SECRET)
    content = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    assert [word for word in (b"ACCOUNT", b"456e7890", b"SESSION", b"s3cr3t", b"PK", b"SK") if word in content] == []
    assert read(cursor, b"q", SECRET) == position


def test_two_positions_share_no_keystream() -> None:
    first, second = (
        base64.urlsafe_b64decode(sign({"PK": letter * 40}, b"q", SECRET) + "==")[16:] for letter in ("a", "b")
    )
    # The texts differ by the same value in every letter; what is sent does not.
    assert len({ours ^ theirs for ours, theirs in zip(first, second, strict=True)}) > 20


@given(st.data())
def test_a_cursor_with_any_changed_character_is_refused(data: st.DataObject) -> None:
    cursor = sign(POSITION, b"q", SECRET)
    at = data.draw(st.integers(0, len(cursor) - 1))
    other = data.draw(st.sampled_from(ALPHABET).filter(lambda letter: letter != cursor[at]))
    with pytest.raises(BadCursor, match="Start again from the first page"):
        read(cursor[:at] + other + cursor[at + 1 :], b"q", SECRET)


@given(st.text())
def test_arbitrary_text_is_refused_as_a_cursor(text: str) -> None:
    with pytest.raises(BadCursor):
        read(text, b"q", SECRET)


@pytest.mark.parametrize("cut", range(0, 40, 3))
def test_a_truncated_cursor_is_refused(cut: int) -> None:
    with pytest.raises(BadCursor):
        read(sign(POSITION, b"q", SECRET)[:cut], b"q", SECRET)


def test_a_cursor_of_another_query_or_secret_is_refused() -> None:
    cursor = sign(POSITION, b"q", SECRET)
    with pytest.raises(BadCursor):
        read(cursor, b"other", SECRET)
    with pytest.raises(BadCursor):
        read(cursor, b"q", b"t" * 32)


def test_queries_that_differ_have_different_fingerprints() -> None:
    span = by_status.partition("GAME#STATUS#ACTIVE")
    watched = path(Game, lambda game: game.watchers)
    spans = [
        span,
        span.newest_first(),
        span.begins_with("2026"),
        span.between("2025", "2026"),
        span.where(status.equals("ACTIVE")),
        span.where(status.exists()),
        span.where(status.missing()),
        span.where(watched.equals(frozenset({"a", "b"}))),
        span.where(watched.contains("a")),
        by_status.partition("GAME#STATUS#FINISHED"),
    ]
    queries = [Query("games", span, (Game,), strong=False) for span in spans]
    queries += [moves_of(GameId("g1")), everything_of(GameId("g1")), games_by_status("ACTIVE")]
    assert len({query.fingerprint() for query in queries}) == len(queries)


def test_a_fingerprint_does_not_depend_on_the_process() -> None:
    watched = path(Game, lambda game: game.watchers)
    members = frozenset({"a", "b", "c", "d", "e"})
    span = by_status.partition("x").where(watched.equals(members))
    query = Query("games", span, (Game,), strong=False)
    # A set's own order changes with the process's hash seed; the fingerprint's must not.
    assert b"['a', 'b', 'c', 'd', 'e']" in query.fingerprint()


def test_a_number_and_its_text_have_different_fingerprints() -> None:
    level = path(Game, lambda game: game.level)
    span = by_status.partition("x")
    number, text = span.where(level.equals(1.5)), span.where(level.contains("1.5"))
    same = span.where(level.equals("1.5"))  # type: ignore[arg-type]
    queries = [Query("games", narrowed, (Game,), strong=False).fingerprint() for narrowed in (number, text, same)]
    assert len(set(queries)) == 3
