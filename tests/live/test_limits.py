"""Limits of rooms, comments and ids, on construction and on disk."""

from collections.abc import Callable

import msgspec
import pytest

from tests.live.entities import NOW, ROOM_ID, comment, host_action, room, socket, uuid
from zataku.clock import instant_ms
from zataku.live.design import Comment, Connection, Room, comments, seq_of
from zataku.live.limits import SEQ_START, fold_word
from zataku.live.moderation.design import Block
from zataku.live.moderation.writes import block_sender, block_word
from zataku.table import BadInput, Store, WrongType

FAMILY = "👨‍👩‍👧‍👦"
VISIBLE_TEXTS = {
    "one letter": "a",
    "emoji joined by zero-width joiners": FAMILY,
    "a flag made of tags": "🏴󠁧󠁢󠁳󠁣󠁴󠁿",
    "text from right to left with its plain marks": "\u200fשלום",
    "a decomposed accent": "Zoe\u0308",
    "blanks around it": "  はい  ",
    "an ideograph of four bytes": "𠮷",
    "a character of the private use area beside a letter": "a\ue000",
}
REFUSED_TEXTS = {
    "nothing": "",
    "blanks": "   ",
    "wide blanks": "\u3000\u3000",
    "zero-width only": "\u200b\u200d\ufeff",
    "Hangul filler": "\u3164",
    "blank braille": "\u2800",
    "a lone variation selector": "\ufe0f",
    "a supplementary variation selector": "\U000e0100",
    "a line break at the end": "はい\n",
    "two lines": "a\nb",
    "a tab": "a\tb",
    "NUL": "a\x00",
    "delete": "a\x7f",
    "a C1 control": "a\x85",
    "a line separator": "a\u2028b",
    "a paragraph separator": "a\u2029b",
    "an override to the left": "\u202egnp.exe",
    "an embedding": "a\u202ab",
    "an isolate": "a\u2066b",
    "the end of an isolate": "a\u2069b",
    "half a surrogate pair": "a\ud83d",
}


def validated(entity: Comment | Room) -> Comment | Room:
    """The entity after the validation that a store makes."""
    return msgspec.convert(msgspec.to_builtins(entity), type(entity))


def as_content(text: str) -> object:
    return validated(comment(1, text))


def as_nickname(text: str) -> object:
    return validated(msgspec.structs.replace(comment(1), nickname=text))


def as_name(text: str) -> object:
    return validated(room(name=text))


TEXTS: tuple[tuple[Callable[[str], object], int], ...] = ((as_content, 500), (as_nickname, 30), (as_name, 100))


@pytest.mark.parametrize(("build", "max_length"), TEXTS)
@pytest.mark.parametrize("text", VISIBLE_TEXTS.values(), ids=VISIBLE_TEXTS)
def test_visible_text_is_accepted_unchanged(build: Callable[[str], object], max_length: int, text: str) -> None:
    assert text in msgspec.to_builtins(build(text)).values()


@pytest.mark.parametrize(("build", "max_length"), TEXTS)
@pytest.mark.parametrize("text", REFUSED_TEXTS.values(), ids=REFUSED_TEXTS)
def test_invisible_text_and_line_breaks_are_refused(build: Callable[[str], object], max_length: int, text: str) -> None:
    with pytest.raises((ValueError, msgspec.ValidationError)):
        build(text)


@pytest.mark.parametrize(("build", "max_length"), TEXTS)
@pytest.mark.parametrize("letter", ["a", "あ", "𠮷", "한"])
def test_the_length_of_text_is_limited_in_characters_not_bytes(
    build: Callable[[str], object], max_length: int, letter: str
) -> None:
    build(letter * max_length)
    with pytest.raises(msgspec.ValidationError):
        build(letter * (max_length + 1))


async def test_a_store_refuses_text_beyond_the_limits_and_stores_nothing(embedded: Store) -> None:
    invalid = comment(1, "a\u202eb")
    with pytest.raises(WrongType):
        await embedded.put(invalid)
    assert [it async for it in embedded.scan(comments)] == []


def test_a_comment_without_a_nickname_is_anonymous() -> None:
    assert comment(1).nickname == "Anonymous"


@pytest.mark.parametrize(
    "room_id",
    [
        "",
        "1",
        uuid(1).upper().replace("0", "A"),
        uuid(1) + "\n",
        uuid(1).replace("-", ""),
        "456e7890-e89b-12d3-a456-426614174001",  # version 1
        "456e7890-e89b-42d3-c456-426614174001",  # another variant
        "{456e7890-e89b-42d3-a456-426614174001}",
    ],
)
def test_ids_of_rooms_are_uuids_of_version_4(room_id: str) -> None:
    validated(room())
    with pytest.raises(msgspec.ValidationError):
        validated(room(room_id))  # pyright: ignore[reportArgumentType]
    with pytest.raises(BadInput):
        Room.key(room_id=room_id)


@pytest.mark.parametrize("host_id", ["user:midori", "L0SM9cOFvHcCIhw=", "a+b/c@d", "x" * 128])
def test_ids_of_other_systems_are_accepted_as_host_ids(host_id: str) -> None:
    validated(room(host_id=host_id))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("host_id", ["", "x" * 129, "a b", "a#b", "みどり", "a\n", "a\x00"])
def test_malformed_host_ids_are_refused(host_id: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        validated(room(host_id=host_id))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-21T10:30:00Z",
        "2026-02-21T10:30:00.00Z",
        "2026-02-21 10:30:00.000Z",
        "2026-02-21T10:30:00.000+09:00",
        "2026-13-01T00:00:00.000Z",
        "2026-02-21T24:00:00.000Z",
        "2026-02-21T10:30:00.000Z\n",
        "",
    ],
)
def test_times_other_than_utc_with_milliseconds_are_refused(text: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        validated(room(created_at=text))


def test_instants_are_written_in_utc_to_the_millisecond() -> None:
    assert instant_ms(0) == "1970-01-01T00:00:00.000Z"
    assert instant_ms(1_771_669_800.25) == "2026-02-21T10:30:00.250Z"
    assert instant_ms(1_771_669_800.9999) == "2026-02-21T10:30:00.999Z"
    assert all(instant_ms(1_771_669_800 + ms / 1000).endswith(f".{ms:03d}Z") for ms in range(1000))


def test_comments_sort_by_the_epoch_of_their_owner_and_then_by_its_numbers() -> None:
    numbers = [(1, 1), (1, 9), (1, 10), (1, 9_999_999), (2, 1), (9, 3), (10, 1), (10, 2), (99_999, 9_999_999)]
    assert sorted(seq_of(*it) for it in reversed(numbers)) == [seq_of(*it) for it in numbers]
    assert seq_of(3, 42) == "000030000042"
    assert seq_of(1, 1) > SEQ_START
    assert seq_of(99_999, 9_999_999) == "9" * 12


@pytest.mark.parametrize(
    ("epoch", "number", "message"),
    [
        (0, 1, "epoch is from 1"),
        (100_000, 1, "to 99999"),
        (-1, 1, "epoch"),
        (1, 0, "from 1"),
        (1, -1, "from 1"),
        (1, 10**7, "Take the room again"),
    ],
)
def test_an_epoch_or_number_that_does_not_fit_the_digits_of_a_seq_is_refused(
    epoch: int, number: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        seq_of(epoch, number)


@pytest.mark.parametrize(("epoch", "accepted"), [(0, False), (1, True), (99_999, True), (100_000, False)])
def test_a_room_has_at_most_99999_owners(epoch: int, accepted: bool) -> None:
    if accepted:
        validated(room(epoch=epoch))
    else:
        with pytest.raises(msgspec.ValidationError):
            validated(room(epoch=epoch))


@pytest.mark.parametrize("seq", ["1", "00000000000a", "0000000000001", "00000000000１", "000000000001\n", ""])
def test_a_seq_is_twelve_plain_digits(seq: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        validated(msgspec.structs.replace(comment(1), seq=seq))


@pytest.mark.parametrize(("seconds", "accepted"), [(0, False), (1, True), (3600, True), (3601, False)])
def test_slow_mode_is_from_a_second_to_an_hour(seconds: int, accepted: bool) -> None:
    if accepted:
        validated(room(slow_mode_seconds=seconds))
    else:
        with pytest.raises(msgspec.ValidationError):
            validated(room(slow_mode_seconds=seconds))


@pytest.mark.parametrize("status", ["open", "PAUSED", ""])
def test_a_room_is_open_or_closed_and_nothing_else(status: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        validated(room(status=status))


@pytest.mark.parametrize("spelling", ["SPAM", "Ｓｐａｍ", "spam", " spam ", "ＳＰＡＭ"])
def test_a_word_is_blocked_in_every_spelling(spelling: str) -> None:
    (put, *_) = block_word(host_action(), 1, spelling).steps
    assert put.entity is not None
    assert put.entity.value == "spam"


@pytest.mark.parametrize("word", ["ﾂﾏﾗﾝ", "Straße", "İstanbul", "ﬃ", "Ⅷ", "㍿"])
def test_folding_a_word_twice_changes_nothing(word: str) -> None:
    assert fold_word(fold_word(word)) == fold_word(word)


def test_a_blocked_word_that_is_not_folded_or_too_long_is_refused() -> None:
    Block(room_id=ROOM_ID, what="SENDER", value="guest:Sora", at=NOW)
    for value in ("Spam", "x" * 51, "\u200b"):
        with pytest.raises(ValueError, match="blocked word|shows nothing"):
            Block(room_id=ROOM_ID, what="WORD", value=value, at=NOW)


@pytest.mark.parametrize("value", ["みどり", "a b", "guest#1", " guest:sora", "guest:sora\n"])
def test_a_malformed_sender_id_cannot_be_blocked(value: str) -> None:
    with pytest.raises(ValueError, match="id of a session"):
        block_sender(host_action(), 1, value, comment(1).comment_id)


def test_a_connection_needs_only_the_three_attributes_of_the_document() -> None:
    connection = Connection(connection_id=socket(1), room_id=ROOM_ID, timestamp=NOW)
    assert msgspec.to_builtins(connection)["connectionId"] == "L0SM9cOFvHcCI0001="
