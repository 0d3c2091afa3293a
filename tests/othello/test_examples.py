"""The example items of the design document, stored unchanged."""

import json
from typing import Any

import pytest

from zataku.othello.design import Candidate, Game, User, Vote
from zataku.othello.writes import examples
from zataku.table import Entity, Store
from zataku.table.schema.entity import binding_of

USER = """{
  "PK": "USER#123e4567-e89b-12d3-a456-426614174000",
  "SK": "USER#123e4567-e89b-12d3-a456-426614174000",
  "userId": "123e4567-e89b-12d3-a456-426614174000",
  "email": "user@example.com",
  "username": "player1",
  "iconUrl": "https://example.com/icon.png",
  "createdAt": "2025-02-19T10:00:00Z",
  "updatedAt": "2025-02-19T10:00:00Z",
  "entityType": "USER"
}"""
GAME = r"""{
  "PK": "GAME#456e7890-e89b-12d3-a456-426614174001",
  "SK": "GAME#456e7890-e89b-12d3-a456-426614174001",
  "GSI1PK": "GAME#STATUS#ACTIVE",
  "GSI1SK": "2025-02-19T10:00:00Z",
  "gameId": "456e7890-e89b-12d3-a456-426614174001",
  "gameType": "OTHELLO",
  "status": "ACTIVE",
  "aiSide": "BLACK",
  "currentTurn": 5,
  "boardState": "{\"board\":[[0,0,0,...],[...],...]}",
  "winner": null,
  "createdAt": "2025-02-19T10:00:00Z",
  "updatedAt": "2025-02-19T15:00:00Z",
  "entityType": "GAME"
}"""
CANDIDATE = """{
  "PK": "GAME#456e7890-e89b-12d3-a456-426614174001#TURN#5",
  "SK": "CANDIDATE#789e0123-e89b-12d3-a456-426614174002",
  "candidateId": "789e0123-e89b-12d3-a456-426614174002",
  "gameId": "456e7890-e89b-12d3-a456-426614174001",
  "turnNumber": 5,
  "position": "D3",
  "description": "中央を制圧する手。相手の選択肢を制限できる。",
  "voteCount": 15,
  "createdBy": "AI",
  "status": "VOTING",
  "createdAt": "2025-02-19T15:00:00Z",
  "votingDeadline": "2025-02-20T00:00:00Z",
  "entityType": "CANDIDATE"
}"""
VOTE = """{
  "PK": "GAME#456e7890-e89b-12d3-a456-426614174001#TURN#5",
  "SK": "VOTE#123e4567-e89b-12d3-a456-426614174000",
  "GSI2PK": "USER#123e4567-e89b-12d3-a456-426614174000",
  "GSI2SK": "VOTE#2025-02-19T16:00:00Z",
  "gameId": "456e7890-e89b-12d3-a456-426614174001",
  "turnNumber": 5,
  "userId": "123e4567-e89b-12d3-a456-426614174000",
  "candidateId": "789e0123-e89b-12d3-a456-426614174002",
  "createdAt": "2025-02-19T16:00:00Z",
  "updatedAt": "2025-02-19T16:00:00Z",
  "entityType": "VOTE"
}"""
DOCUMENT = [(User, USER), (Game, GAME), (Candidate, CANDIDATE), (Vote, VOTE)]


@pytest.mark.parametrize(("kind", "text"), DOCUMENT, ids=["user", "game", "candidate", "vote"])
async def test_an_example_is_stored_as_in_the_document(store: Store, kind: type[Entity], text: str):
    item: dict[str, Any] = json.loads(text)
    binding = binding_of(kind)
    entity = binding.decode(item)
    assert binding.encode(entity) == item
    await store.put(entity)
    stored = await store.get(binding.key_of(entity), strong=True)
    assert stored == entity
    assert stored is not None
    assert binding.encode(stored) == item


def test_a_candidate_of_a_user_is_listed_under_the_user():
    item = binding_of(Candidate).encode(examples.OTHER_CANDIDATE)
    assert item["GSI2PK"] == "USER#123e4567-e89b-12d3-a456-426614174000"
    assert item["GSI2SK"] == "CANDIDATE#2025-02-19T15:00:00Z"


def test_the_examples_of_the_writes_follow_the_document():
    for entity, text, own in (
        (examples.PLAYER, USER, set[str]()),
        (examples.VOTED_GAME, GAME, {"boardState"}),
        (examples.CANDIDATE, CANDIDATE, {"SK", "candidateId"}),
        (examples.VOTE, VOTE, {"candidateId"}),
    ):
        item, documented = binding_of(type(entity)).encode(entity), json.loads(text)
        assert {name: item[name] for name in documented if name not in own} == {
            name: value for name, value in documented.items() if name not in own
        }
