"""Values that the drawing game accepts and rejects."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tests.drawing.games import NOW, room, seeded_random
from zataku.drawing import limits
from zataku.drawing.design import ChatMessage, Game, Picture, Seat, Strokes
from zataku.drawing.samples import a_message, a_picture, an_id, in_play, some_strokes
from zataku.drawing.values import FinishedTurn, Player, RoundScore, ScoreEntry, Settings

PLAYER = {"id": an_id(seeded_random()), "joinedAt": NOW}


def accepts(value: object, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def is_name(name: str) -> bool:
    return accepts({**PLAYER, "name": name}, Player)


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "はなこ",
        "지민",
        "Zoë 2",
        "かきくけこさしすせそ",
        "\u1112\u1161\u11ab",  # Hangul Jamo, one syllable in three
        "か\u3099",  # a combining voiced mark
        "नमस्ते",
        "𠮷野家",
        "山　田",  # an ideographic space
        "a\u00a0b",
        "٣",
        "Ⅳ½",
        "1\ufe0f\u20e3",  # a keycap is a digit and two marks
        "𠮷" * 10,
    ],
)
def test_names_of_any_script_are_accepted(name: str):
    assert is_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "abcdefghijk",
        "𠮷" * 11,
        "😀",
        "a😀",
        "❤️",
        "a-b",
        "a_b",
        "<b>",
        "a\nb",
        "a\n",
        "\ta",
        "a\u2028b",
        "a\u200db",  # a zero-width joiner
        "\u202eabc",  # right-to-left override
        "\ufeffa",
        "a\x00",
        " ",
        "　　",
        "\u0301",
        "\u3164",  # a Hangul filler, which is invisible
        "\u115f\u1160",
        "ー.",
    ],
)
def test_names_with_other_characters_or_nothing_visible_are_rejected(name: str):
    assert not is_name(name)


def test_a_name_is_checked_wherever_it_is_stored():
    game = room()
    message = a_message(seeded_random(), game, game.players[0], 1, "x", NOW)
    player, round_ = game.players[0].id, in_play(seeded_random(), game, 1, 1, "finished").current_round
    assert round_ is not None
    (turn,) = round_.turns or ()
    for construct in (
        lambda: replace(message, player_name="😀"),
        lambda: replace(game.players[0], name="😀"),
        lambda: Seat(game_id=game.game_id, player_id=player, player_name="😀", joined_at=NOW),
        lambda: RoundScore(player_id=player, player_name="😀", points=1),
        lambda: replace(turn, drawer_name="😀"),
    ):
        with pytest.raises(ValueError, match="only letters, numbers and spaces"):
            construct()
    assert not accepts({**msgspec.to_builtins(turn), "drawerName": "a\n"}, FinishedTurn)


@pytest.mark.parametrize("answer", ["ぁ", "ゖ", "らーめん", "ー", "ゔぁいおりん", "あ" * 50])
def test_a_word_is_hiragana(answer: str):
    assert accepts(answer, limits.Answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "あ" * 51,
        "リンゴ",
        "林檎",
        "りんご ",
        "りんご\n",
        "ringo",
        "\u3040",
        "\u3097",
        "か\u3099",
        "ゝ",
        "り-ご",
        "〜",
        "ｱ",
    ],
)
def test_a_word_with_other_characters_is_rejected(answer: str):
    assert not accepts(answer, limits.Answer)


@pytest.mark.parametrize(
    ("kind", "lowest", "highest"),
    [
        (limits.TimeLimit, 30, 300),
        (limits.RoundCount, 1, 10),
        (limits.SeatCount, 2, 10),
        (limits.RoundNumber, 1, 10),
        (limits.TurnNumber, 1, 10),
        (limits.Points, 1, 300),
        (limits.RoundPoints, -150, 3000),
        (limits.Total, -1500, 30_000),
        (limits.Penalty, 1, 150),
        (limits.StrokesNumber, 1, 9_999),
        (limits.Moment, 0, 9_999_999_999_999),
    ],
)
def test_a_number_outside_its_range_is_rejected(kind: Any, lowest: int, highest: int):
    assert [accepts(number, kind) for number in (lowest - 1, lowest, highest, highest + 1)] == [
        False,
        True,
        True,
        False,
    ]
    assert not accepts(lowest + 0.5, kind)
    assert not accepts(str(lowest), kind)


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (limits.ChatText, ["a", "😀" * 500], ["", "a" * 501]),
        (limits.Kana, ["あ", "ん"], ["", "ああ", "ー", "ア", "あ\n"]),
        (limits.DrawingName, ["DRAWING#03#10"], ["DRAWING#3#10", "DRAWING#03#10\n", "DRAWING#03#10#0001", ""]),
        (limits.ConnectionId, ["L0SM9cOFvHcCIhw=", "a" * 128], ["", "a" * 129, "a b", "a\n", "あ"]),
        (
            limits.GameUuid,
            [an_id(seeded_random())],
            ["", "g1", an_id(seeded_random()).upper(), an_id(seeded_random()) + "\n"],
        ),
        (limits.GameStatus, ["waiting", "playing", "finished"], ["WAITING", "over"]),
        (limits.TurnStatus, ["not_started", "setting_answer", "drawing", "finished"], ["started"]),
        (limits.ReadyStatus, ["ready", "not_ready"], ["maybe"]),
        (limits.ScoreReason, ["correct_answer", "drawer_penalty"], ["bonus"]),
        (limits.ChatType, ["normal", "system", "guess", "correct"], ["wrong"]),
        (limits.Mode, ["free", "shiritori"], ["fast"]),
    ],
)
def test_texts_and_states_outside_their_form_are_rejected(kind: Any, good: list[str], bad: list[str]):
    assert [text for text in good if not accepts(text, kind)] == []
    assert [text for text in bad if accepts(text, kind)] == []


def is_message(text: str) -> bool:
    message = a_message(seeded_random(), room(), room().players[0], 1, "x", NOW)
    return accepts({**msgspec.to_builtins(message), "content": text}, ChatMessage)


@pytest.mark.parametrize(
    "text", ["a", "👨\u200d👩\u200d👧", "❤\ufe0f", "می\u200cخواهم", "안녕　하세요", "…", "か\u3099", "𠮷" * 500]
)
def test_a_message_is_one_line_of_any_script(text: str):
    assert is_message(text)


@pytest.mark.parametrize(
    "text",
    [
        "a\x00b",
        "a\nb",
        "a\r",
        "\ta",
        "\x1b[2J",
        "a\u2028b",
        "\u202eabc",  # right-to-left override
        "\ufeffa",
        " ",
        "　",
        "\u3164",
        "\u200d",
        "\u0301",
    ],
)
def test_a_message_with_control_characters_or_nothing_visible_is_rejected(text: str):
    assert not is_message(text)


def test_a_picture_is_base64_of_at_most_100_kb():
    game = in_play(seeded_random(), room(), 1, 1)
    whole = msgspec.to_builtins(a_picture(seeded_random(), game, 1, 1, game.players[0].id, NOW, 100 * 1024))
    assert accepts(whole, Picture)
    assert accepts({**whole, "data": "QQ=="}, Picture)
    for text in ("", "QQ=", "QQQQQ", "Q===", "QQ\n=", "Q" * (100 * 1024 + 4), "QQ==QQ==", "Q-_=", "QQ==\n"):
        assert not accepts({**whole, "data": text}, Picture), text[:20]
    part = msgspec.to_builtins(some_strokes(seeded_random(), game, 1, NOW))
    assert accepts(part, Strokes)
    assert not accepts({**part, "data": "QQ="}, Strokes)


def test_a_game_has_one_seat_for_each_player_and_no_more_players_than_seats():
    game = room(players=3, seats=3)
    with pytest.raises(ValueError, match="only one seat"):
        replace(game, players=(*game.players[:2], game.players[0]))
    with pytest.raises(ValueError, match="more players than seats"):
        replace(game, settings=replace(game.settings, player_count=2))
    assert not accepts({**msgspec.to_builtins(game), "players": msgspec.to_builtins(game.players) * 4}, Game)


def test_a_room_has_the_default_settings():
    assert Settings() == Settings(time_limit=60, round_count=3, player_count=4, public=False, mode="free", hints=True)


def test_a_penalty_counts_against_the_drawer():
    entry = ScoreEntry(
        player_id=an_id(seeded_random()),
        round_number=1,
        turn_number=1,
        points=30,
        reason="drawer_penalty",
        timestamp=NOW,
    )
    assert entry.signed == -30
    assert replace(entry, reason="correct_answer").signed == 30


def test_the_retention_covers_the_longest_game_and_a_week():
    assert limits.LONGEST_GAME_SECONDS == 10 * 60 * 60
    assert limits.RETENTION_SECONDS == (24 + 10 + 7 * 24) * 60 * 60
    assert limits.seconds_after(1999, 10) == 11
