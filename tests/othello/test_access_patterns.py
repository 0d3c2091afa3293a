"""Each access pattern of Othello by vote, on every store."""

from random import Random

from msgspec.structs import replace

from tests.othello.games import (
    C3,
    C5,
    DEADLINE,
    E3,
    GAME,
    NOW,
    TURN,
    candidate,
    user_id_of,
    user_named,
    vote,
    voted_game,
)
from tests.support.manual_clock import ManualClock
from tests.support.store_reads import assert_query_returns, eventually, read_page_by_page
from tests.support.stores import START
from zataku.othello.design import (
    Commentary,
    Game,
    Move,
    ballot_of,
    candidates_by,
    candidates_of,
    commentary_of,
    game,
    games_with,
    moves_of,
    moves_until,
    user,
    vote_of,
    votes_by,
    votes_in,
)
from zataku.othello.limits import GameId, side_of
from zataku.othello.rules.board import START as OPENING
from zataku.othello.rules.board import format_board, play_move
from zataku.othello.samples import finished_game, users
from zataku.table import Store, format_instant

OTHER = GameId("456e7890-e89b-12d3-a456-426614174002")


def move(turn: int, game_id: GameId = GAME) -> Move:
    """A move of a turn."""
    return Move(game_id=game_id, turn_number=turn, side=side_of(turn), position="D3", played_by="AI", created_at=NOW)


def commentary(turn: int, game_id: GameId = GAME) -> Commentary:
    """The commentary on a turn."""
    return Commentary(game_id=game_id, turn_number=turn, content="静かな一手。", created_at=NOW)


async def test_a_user_is_found_by_id(store: Store):
    hana = await store.put(user_named("はな", 1))
    await eventually(lambda: store.get(user(user_id_of(1))), hana)
    assert await store.get(user(user_id_of(2))) is None


async def test_games_are_listed_by_status_newest_first(store: Store):
    games = [
        replace(
            voted_game,
            game_id=GameId(f"456e7890-e89b-12d3-a456-42661417400{at}"),
            created_at=format_instant(START + at),
        )
        for at in range(5)
    ]
    finished = replace(games[2], status="FINISHED", winner="DRAW", voting_deadline=None)
    await store.write_many(put=[*games[:2], finished, *games[3:], user_named("はな")])
    await assert_query_returns(store, games_with("ACTIVE"), games[4], games[3], games[1], games[0])
    await assert_query_returns(store, games_with("FINISHED"), finished)
    assert [listed.game_id for listed in await read_page_by_page(store, games_with("ACTIVE"), 3)] == [
        games[at].game_id for at in (4, 3, 1, 0)
    ]


async def test_a_game_is_found_by_id(store: Store):
    await store.write_many(put=[voted_game, move(0), commentary(0)])
    await eventually(lambda: store.get(game(GAME)), voted_game)
    assert await store.get(game(OTHER)) is None


async def test_moves_are_read_in_turn_order_also_after_the_tenth(store: Store):
    moves = [move(turn) for turn in range(0, 120, 7)]
    await store.write_many(put=[voted_game, *reversed(moves), move(3, OTHER), commentary(1)])
    await assert_query_returns(store, moves_of(GAME), *moves)


async def test_candidates_are_those_of_the_turn(store: Store):
    later = candidate("C3", turn_number=11)
    await store.write_many(put=[C3, E3, C5, later, vote(1, C3.candidate_id), vote(2, E3.candidate_id)])
    await assert_query_returns(
        store, candidates_of(GAME, TURN), *sorted([C3, E3, C5], key=lambda proposed: proposed.candidate_id)
    )
    await assert_query_returns(store, candidates_of(GAME, 11), later)
    await assert_query_returns(store, candidates_of(OTHER, TURN))


async def test_the_ballot_of_a_turn_is_read_strongly(store: Store):
    await store.write_many(put=[E3, C5, candidate("C3", turn_number=11), vote(1, C3.candidate_id)])
    await store.put(replace(C3, vote_count=1))
    ballot = [proposed async for proposed in store.each(ballot_of(GAME, TURN))]
    assert ballot == sorted([replace(C3, vote_count=1), E3, C5], key=lambda proposed: proposed.candidate_id)


async def test_a_vote_is_found_by_turn_and_user(store: Store):
    own_vote = await store.put(vote(1, C3.candidate_id))
    await eventually(lambda: store.get(vote_of(GAME, TURN, user_id_of(1))), own_vote)
    assert await store.get(vote_of(GAME, 2, user_id_of(1))) is None
    assert await store.get(vote_of(GAME, TURN, user_id_of(2))) is None


async def test_a_users_votes_are_listed_newest_first_without_proposals(store: Store):
    votes = [
        replace(vote(1, C3.candidate_id, turn), created_at=format_instant(START + turn)) for turn in range(1, 12, 2)
    ]
    own = candidate("C3", created_by=f"USER#{user_id_of(1)}")
    await store.write_many(put=[*votes, vote(2, C3.candidate_id), own])
    await assert_query_returns(store, votes_by(user_id_of(1)), *reversed(votes))
    assert await read_page_by_page(store, votes_by(user_id_of(3)), 2) == []


async def test_commentary_is_read_in_turn_order(store: Store):
    comments = [commentary(turn) for turn in (0, 2, 9, 10, 11, 100)]
    await store.write_many(put=[*reversed(comments), move(1), voted_game, commentary(1, OTHER)])
    await assert_query_returns(store, commentary_of(GAME), *comments)


async def test_a_users_proposals_are_listed_newest_first_without_those_of_the_ai(store: Store):
    own = [
        candidate("C3", turn_number=turn, created_by=f"USER#{user_id_of(1)}", created_at=format_instant(START + turn))
        for turn in (1, 3, 11)
    ]
    other = candidate("E3", created_by=f"USER#{user_id_of(2)}")
    await store.write_many(put=[*own, other, C5, vote(1, C3.candidate_id)])
    await assert_query_returns(store, candidates_by(user_id_of(1)), *reversed(own))
    await assert_query_returns(store, candidates_by(user_id_of(2)), other)


async def test_the_moves_up_to_a_turn_give_its_board(store: Store):
    items = list(finished_game(Random(3), int(START), users(Random(1), int(START))))
    moves = [item for item in items if isinstance(item, Move)]
    await store.write_many(put=[*moves, *(item for item in items if isinstance(item, Game | Commentary))])
    for last in (0, 9, 10, moves[-1].turn_number):
        await assert_query_returns(store, moves_until(moves[0].game_id, last), *moves[: last + 1])
    board = OPENING
    async for played in store.each(moves_until(moves[0].game_id, 120)):
        board = board if played.position == "PASS" else play_move(board, played.side, played.position)
    assert [format_board(board)] == [item.board_state for item in items if isinstance(item, Game)]


async def test_all_votes_of_a_turn_are_read_strongly(store: Store):
    votes = [vote(at, C3.candidate_id) for at in range(30)]
    await store.write_many(put=[*votes, vote(1, C3.candidate_id, 11), C3])
    await assert_query_returns(store, votes_in(GAME, TURN), *sorted(votes, key=lambda cast: cast.user_id))


async def test_expired_items_are_not_returned(store: Store, clock: ManualClock):
    await store.put(replace(vote(1, C3.candidate_id), expires_at=int(START) + 100))
    unexpired = await store.put(replace(C3, voting_deadline=DEADLINE))
    await clock.advance(100)
    assert await store.get(vote_of(GAME, TURN, user_id_of(1)), strong=True) is None
    await assert_query_returns(store, votes_by(user_id_of(1)))
    await assert_query_returns(store, candidates_of(GAME, TURN), unexpired)
