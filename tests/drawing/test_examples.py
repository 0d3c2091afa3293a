"""Items in the shapes of the document, read and written unchanged."""

from typing import Any

import pytest

from zataku.drawing.design import ChatMessage, Connection, Game, Round
from zataku.table import Entity, Item
from zataku.table.schema.entity import binding_of

GAME = "456e7890-e89b-42d3-a456-426614174001"
ANNA, BEN = "789e0123-e89b-42d3-a456-426614174002", "012e3456-e89b-42d3-a456-426614174003"
ROUND, TURN, MESSAGE = (f"345e6789-e89b-42d3-a456-42661417400{number}" for number in (4, 5, 6))
AT = 1_708_336_800_000

META: Item = {
    "gameId": GAME,
    "status": "playing",
    "createdAt": AT,
    "updatedAt": AT + 90_000,
    "settings": {"timeLimit": 60, "roundCount": 3, "playerCount": 4},
    "currentRound": {
        "id": ROUND,
        "roundNumber": 1,
        "startedAt": AT + 10_000,
        "currentTurn": {
            "id": TURN,
            "turnNumber": 1,
            "drawerId": ANNA,
            "answer": "りんご",
            "status": "drawing",
            "timeLimit": 60,
            "startedAt": AT + 20_000,
            "correctPlayerIds": [BEN],
        },
    },
    "players": [
        {"id": ANNA, "name": "あんな", "status": "ready", "joinedAt": AT, "connectionId": "L0SM9cOFvHcCIhw="},
        {"id": BEN, "name": "Ben", "status": "not_ready", "joinedAt": AT + 1000},
    ],
    "scoreHistories": [
        {
            "playerId": BEN,
            "roundNumber": 1,
            "turnNumber": 1,
            "points": 42,
            "reason": "correct_answer",
            "timestamp": AT + 38_000,
        }
    ],
    "currentDrawing": {"drawerId": ANNA, "data": "DRAWING#01#01", "updatedAt": AT + 38_000},
}
# Defaults of the attributes that a game has in addition to the document's.
ADDED = {"epoch": 0, "version": 1}
ADDED_SETTINGS = {"public": False, "mode": "free", "hints": True}

ROUND_ITEM: Item = {
    "id": ROUND,
    "gameId": GAME,
    "roundNumber": 3,
    "startedAt": AT,
    "endedAt": AT + 120_000,
    "turns": [
        {
            "id": TURN,
            "turnNumber": 1,
            "drawerId": ANNA,
            "drawerName": "あんな",
            "answer": "らーめん",
            "status": "finished",
            "timeLimit": 60,
            "startedAt": AT,
            "endedAt": AT + 60_000,
            "correctPlayerIds": [BEN],
            "finalDrawing": "DRAWING#03#01",
        }
    ],
    "roundScores": [{"playerId": BEN, "playerName": "Ben", "points": 42}],
}
CHAT: Item = {
    "id": MESSAGE,
    "gameId": GAME,
    "playerId": BEN,
    "playerName": "Ben",
    "content": "みかん？",
    "type": "guess",
    "createdAt": AT,
    "isGuess": True,
    "isCorrect": False,
    "roundNumber": 1,
    "turnNumber": 1,
}
PLAIN_CHAT: Item = {name: CHAT[name] for name in list(CHAT)[:7]} | {"type": "normal"}
CONNECTION: Item = {
    "playerId": ANNA,
    "playerName": "あんな",
    "gameId": GAME,
    "connectionId": "L0SM9cOFvHcCIhw=",
    "connectedAt": AT,
    "lastActiveAt": AT + 5000,
    "ttl": AT // 1000 + 24 * 60 * 60,
}


def reencode(kind: type[Entity], item: Item) -> Item:
    """The item after it was decoded and encoded again."""
    binding: Any = binding_of(kind)
    return binding.encode(binding.decode(item))


@pytest.mark.parametrize(
    ("kind", "keys", "item"),
    [
        (Round, {"PK": f"GAME#{GAME}", "SK": "ROUND#03"}, ROUND_ITEM),
        (ChatMessage, {"PK": f"GAME#{GAME}", "SK": f"CHAT#{AT}#{MESSAGE}"}, CHAT),
        (ChatMessage, {"PK": f"GAME#{GAME}", "SK": f"CHAT#{AT}#{MESSAGE}"}, PLAIN_CHAT),
        (Connection, {"PK": f"PLAYER#{ANNA}", "SK": "CONNECTION"}, CONNECTION),
    ],
)
def test_an_item_of_the_document_is_unchanged_after_decoding_and_encoding(kind: type[Entity], keys: Item, item: Item):
    assert reencode(kind, {**keys, **item}) == {**keys, **item}


def test_a_game_of_the_document_gains_only_the_added_attributes():
    keys = {"PK": f"GAME#{GAME}", "SK": "META", "GSI2PK": "STATUS#playing", "GSI2SK": f"CREATED#{AT}"}
    settings = {**META["settings"], **ADDED_SETTINGS}
    assert reencode(Game, {**keys, **META}) == {**keys, **META, **ADDED, "settings": settings}


def test_a_waiting_game_has_no_round_and_no_drawing():
    item = {name: value for name, value in META.items() if name not in ("currentRound", "currentDrawing")}
    stored = reencode(Game, {"PK": f"GAME#{GAME}", "SK": "META", **item, "status": "waiting"})
    assert stored.keys() & {"currentRound", "currentDrawing", "GSI2PK", "GSI2SK"} == set()
