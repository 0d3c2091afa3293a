"""Values that each attribute accepts and rejects."""

from typing import Annotated, Any, Literal, get_origin
from zoneinfo import available_timezones

import msgspec
import pytest
from msgspec.structs import replace

from tests.othello.games import C3, GAME, NOW, user_named, voted_game
from zataku.othello import limits
from zataku.othello.design import Candidate, Commentary, User
from zataku.othello.limits import Contents, Descriptions, candidate_id, side_of
from zataku.othello.rules.board import START, format_board, parse_board
from zataku.table import WrongType, format_instant, parse_instant
from zataku.table.schema.entity import binding_of

A_UUID = "456e7890-e89b-12d3-a456-426614174001"

ACCEPTED: dict[str, list[Any]] = {
    "UserUuid": [A_UUID],
    "GameUuid": [A_UUID],
    "CandidateUuid": ["00000000-0000-0000-0000-000000000000"],
    "Author": ["AI", f"USER#{A_UUID}"],
    "Email": ["user@example.com", "a@b", "日本@例え.jp", "x" * 64 + "@" + "y" * 189],
    "IconUrl": ["https://example.com/icon.png", "/icons/a.png", "https://x", "/a"],
    "Square": ["A1", "H8", "D3"],
    "SquareOrPass": ["A1", "H8", "PASS"],
    "Turn": [0, 60, 120],
    "Votes": [0, 1_000_000_000],
    "BoardState": ["{}", format_board(START), "x" * 1000],
    "AiLevel": [1, 10],
    "Cadence": ["DAILY", "PT1M", "PT30M", "PT9999M"],
    "TimeZone": ["Asia/Tokyo", "UTC", "America/Argentina/Buenos_Aires", "Etc/GMT+9", "GMT", "Japan", "EST5EDT"],
    "Language": ["ja", "ko", "en"],
    "GameType": ["OTHELLO"],
    "GameStatus": ["ACTIVE", "FINISHED"],
    "CandidateStatus": ["VOTING", "CLOSED", "ADOPTED"],
    "Side": ["BLACK", "WHITE"],
    "Player": ["AI", "COLLECTIVE"],
    "Winner": ["AI", "COLLECTIVE", "DRAW"],
    "Username": ["花", "x" * 30, "𠮷" * 30],
    "Description": ["あ", "🎯" * 200],
    "Content": ["。", "가" * 500],
}

REJECTED: dict[str, list[Any]] = {
    "UserUuid": ["", A_UUID.upper(), A_UUID + "\n", A_UUID[:-1], A_UUID.replace("-", ""), f"{{{A_UUID}}}"],
    "GameUuid": [f"{A_UUID}#TURN#5", A_UUID.replace("4", "４"), 5],
    "CandidateUuid": [A_UUID.replace("e", "g")],
    "Author": ["ai", "USER#", A_UUID, f"USER#{A_UUID}\n", f"USER#USER#{A_UUID}", f"AI#{A_UUID}"],
    "Email": ["", "user", "a@b@c", "a b@c", "a@b\n", "@b", "a@", "a\x00@b", "x" * 65 + "@y", "x@" + "y" * 190],
    "IconUrl": [
        "",
        "http://example.com/a.png",
        "javascript:alert(1)",
        "data:image/png;base64,AA==",
        "//example.com/a.png",
        "/",
        "/a b.png",
        "https://",
        "https://example.com/a\n",
        "https://例え.jp/",
        "https://" + "x" * 2041,
    ],
    "Square": ["", "a1", "I1", "A0", "A9", "1A", "D3\n", " D3", "D３", "Ｄ3", "PASS", "D33"],
    "SquareOrPass": ["pass", "PASS\n", "PASSED", "A1|PASS", ""],
    "Turn": [-1, 121, 1.5, "1", True],
    "Votes": [-1, 1_000_000_001],
    "BoardState": ["", "x" * 1001, "盤", "a\n", "\t"],
    "AiLevel": [0, 11, "5"],
    "Cadence": ["daily", "PT0M", "PT01M", "PT10000M", "PT1H", "PT1M\n", "DAILYPT1M", "PT１M", ""],
    "TimeZone": ["", "asia/Tokyo", "Asia/", "/etc/passwd", "Asia/../Tokyo", "Asia/Tokyo\n", "東京", "A/b/c/d"],
    "Language": ["jp", "JA", ""],
    "GameType": ["CHESS", "othello"],
    "GameStatus": ["WAITING", "active"],
    "CandidateStatus": ["OPEN", ""],
    "Side": ["RED", "black"],
    "Player": ["HUMAN"],
    "Winner": ["BLACK", "", "null"],
    "Username": ["", "x" * 31, "𠮷" * 31],
    "Description": ["", "あ" * 201, "🎯" * 201],
    "Content": ["", "가" * 501],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in ACCEPTED.items() for value in values])
def test_a_limit_accepts_a_valid_value(name: str, value: Any):
    assert msgspec.convert(value, getattr(limits, name)) == value


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in REJECTED.items() for value in values])
def test_a_limit_rejects_an_invalid_value(name: str, value: Any):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(value, getattr(limits, name))


def test_every_limit_has_both_kinds_of_examples():
    declared = {name for name, limit in vars(limits).items() if get_origin(limit) in (Annotated, Literal)}
    assert declared == set(ACCEPTED) == set(REJECTED)


@pytest.mark.parametrize(
    "name",
    ["花", "石田 健一", "민지", "Zoë", "Zoe\u0308", "𠮷野家", "👩‍👩‍👧‍👦", "❤️", "نام\u200cها", "a" * 30, "ｶﾀｶﾅ"],
)
def test_a_valid_user_name_is_accepted(name: str):
    assert user_named(name).username == name


@pytest.mark.parametrize(
    "name",
    [
        " ",
        "\u3000",
        " はな",
        "はな\u3000",
        "はな\n",
        "は\nな",
        "は\tな",
        "は\x00な",
        "は\u202eな",
        "\u200b",
        "は\u200bな",
        "\u200d",
        "\u3164",
        "\u2800\u2800",
        "\ufe0f",
        "\u0301",
        "は\u2028な",
        "\ud800",
        "\ue000",
        "は\ufeffな",
        "\U000e0041",
    ],
)
def test_an_invalid_user_name_is_rejected(name: str):
    with pytest.raises(ValueError, match="name"):
        user_named(name)


@pytest.mark.parametrize("email", ["a\u202eb@example.com", "a\u200bb@example.com", "a@exam\u2066ple.com", "\ufeffa@b"])
def test_an_invalid_mail_address_is_rejected(email: str):
    with pytest.raises(ValueError, match="mail address"):
        replace(user_named("花"), email=email)


def test_every_time_zone_of_this_machine_has_a_name_that_fits():
    names = [name for name in available_timezones() if name[0].isupper()]
    assert len(names) > 400
    assert [msgspec.convert(name, limits.TimeZone) for name in names] == names


def test_a_text_may_have_lines_and_spaces():
    text = "中央を制圧する手。\n  次は角。"
    assert msgspec.structs.replace(C3, description=text).description == text
    assert Commentary(game_id=GAME, turn_number=0, content=text, created_at=NOW).content == text


@pytest.mark.parametrize(
    "text", ["\n", " \u3000 ", "\u200b", "a\x1b[31m", "a\r\n", "a\u2066b", "\udfff", "\u3164\u3164"]
)
def test_a_text_needs_a_visible_character_and_no_control_characters(text: str):
    for make in (
        lambda: msgspec.structs.replace(C3, description=text),
        lambda: Commentary(game_id=GAME, turn_number=0, content=text, created_at=NOW),
        lambda: Descriptions(ja="手", ko=text, en="move"),
        lambda: Contents(ja="手", ko="수", en=text),
    ):
        with pytest.raises(ValueError, match="not allowed|visible"):
            make()


def test_values_outside_their_limits_are_rejected_on_encoding():
    for entity in (
        msgspec.structs.replace(C3, description="あ" * 201),
        msgspec.structs.replace(C3, position="PASS"),
        msgspec.structs.replace(voted_game, current_turn=121),
        msgspec.structs.replace(voted_game, created_at="2025-02-19T10:00:00Z\n"),
    ):
        with pytest.raises(WrongType):
            binding_of(type(entity)).encode(entity)


def test_stored_items_are_checked_on_decoding():
    for kind, broken in ((User, {"username": "\u202e"}), (Candidate, {"description": " "})):
        item = binding_of(kind).encode(user_named("花") if kind is User else C3)
        with pytest.raises(Exception, match="does not fit"):
            binding_of(kind).decode({**item, **broken})


def test_a_square_has_one_constant_id_in_a_turn():
    assert candidate_id(GAME, 5, "D3") == "f2e36d47-e936-5b0f-ae10-d7e255761bdc"
    ids = {candidate_id(GAME, turn, square) for turn in (1, 11) for square in ("A1", "A2", "B1")}
    assert len(ids) == 6


def test_black_has_the_even_turns():
    assert [side_of(turn) for turn in range(4)] == ["BLACK", "WHITE", "BLACK", "WHITE"]


def test_an_instant_is_formatted_in_whole_seconds():
    assert format_instant(1_739_959_200.9) == "2025-02-19T10:00:00Z"
    assert format_instant(0) == "1970-01-01T00:00:00Z"
    assert parse_instant("2025-02-19T10:00:00Z") == 1_739_959_200


def test_a_formatted_board_is_parsed_unchanged():
    assert parse_board(format_board(START)) == START
    assert len(format_board(START)) == 155


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"board":[[0,0,0,...],[...],...]}',
        format_board(START).replace("[0,0,0,2,1,0,0,0]", "[0,0,0,2,1,0,0]"),
        format_board(START).replace("2", "3"),
        format_board(START).replace("2", "-1"),
        format_board(START).replace("2", '"2"'),
        format_board(START).replace("2", "1.5"),
        format_board(START)[:-1] + ',"turn":1}',
        format_board(START) + "x",
        '{"board":[' + ",".join(["[0,0,0,0,0,0,0,0]"] * 9) + "]}",
    ],
)
def test_a_text_that_is_not_a_board_is_rejected(text: str):
    with pytest.raises(ValueError, match="not a board"):
        parse_board(text)
