"""Demo data: a game a few days old, with an open vote."""

from random import Random
from typing import TypeVar
from uuid import UUID, uuid4

from zataku.othello.design import Game, User, ballot_of, game, games_with
from zataku.othello.limits import Contents, Descriptions, GameId, UserId, side_of
from zataku.othello.rules.board import START, count_discs, format_board, parse_board
from zataku.othello.sample_texts import COMMENTS, NAMES, REASONS, fill_phrase
from zataku.othello.writes import (
    Proposal,
    add_commentary,
    advance,
    cast_vote,
    close_turn,
    open_candidates,
    open_game,
    play_turn,
    register_user,
    votable_squares,
    winning_candidate,
)
from zataku.othello.writes.votes import MAX_ENGINE_CANDIDATES
from zataku.system import AppContext, Demo
from zataku.table import Entity, Instant, Plan, Store, TransactionCancelled, add_seconds, format_instant

E = TypeVar("E", bound=Entity)

A_GAME = GameId("0d5e1f2a-6c7b-4e8f-9a01-7e57ab1e0001")
TURNS = 7
"""The turn with the open vote. The crowd is white, and the AI moved first."""

_VOTERS = 9
_DAY = 86_400
_HOUR = 3_600
_TOKYO_OFFSET = 9 * _HOUR
_THINKING_SECONDS = 60


def demo_of(context: AppContext) -> Demo:
    """The function that plays a game up to a turn ending at the next midnight in Tokyo, if a store has no other game.

    Each step is conditional on the stored game, so that an interrupted run is resumed and a second run does nothing.
    """

    async def demo() -> None:
        if await _has_other_games(context.store):
            return
        demo_game = _DemoGame(context.store, context.clock.now())
        await demo_game.open()
        for _ in range(TURNS + 1):
            await demo_game.play_next_turn()

    return demo


async def _has_other_games(store: Store) -> bool:
    for status in ("ACTIVE", "FINISHED"):
        newest = await store.first(games_with(status))
        if newest is not None and newest.game_id != A_GAME:
            return True
    return False


class _DemoGame:
    """The writes that play the demo game."""

    def __init__(self, store: Store, now: float) -> None:
        self._store = store
        self._midnight = (int(now) + _TOKYO_OFFSET) // _DAY * _DAY - _TOKYO_OFFSET
        self._end = self._midnight + (_DAY if int(now) + _HOUR < self._midnight + _DAY else 2 * _DAY)
        self._random = Random(A_GAME)
        self._voters = [UserId(str(UUID(int=self._random.getrandbits(128), version=4))) for _ in range(_VOTERS)]

    async def open(self) -> None:
        """Register the voters and open the game."""
        opened_at = format_instant(self._deadline(1) - _DAY)
        for user_id, name in zip(self._voters, NAMES, strict=False):
            voter = User(user_id=user_id, username=name, created_at=opened_at, updated_at=opened_at)
            await self._write_once(register_user(voter))
        new_game = Game(
            game_id=A_GAME,
            ai_side="BLACK",
            board_state=format_board(START),
            created_at=opened_at,
            updated_at=opened_at,
            cadence="DAILY",
            time_zone="Asia/Tokyo",
            ai_level=3,
            language="ja",
        )
        await self._write_once(open_game(new_game))

    async def play_next_turn(self) -> None:
        """Play one turn; in the last one, only open the vote."""
        current = await self._store.get(game(A_GAME), strong=True)
        if current is None or current.current_turn > TURNS or current.status != "ACTIVE":
            return
        random = Random(f"{A_GAME}#{current.current_turn}")
        if side_of(current.current_turn) == current.ai_side:
            await self._play_ai_move(current, random)
            return
        if current.opened_turn != current.current_turn:
            await self._open_vote(current, random)
        if current.current_turn < TURNS:
            await self._close_vote(current)

    async def _play_ai_move(self, current: Game, random: Random) -> None:
        turn = current.current_turn
        now = add_seconds(current.updated_at, _THINKING_SECONDS)
        deadline = format_instant(self._deadline(turn + 1))
        square = random.choice(votable_squares(current))
        if await self._write_once(play_turn(current, square, now, deadline)):
            await self._comment(turn, square, now)

    async def _open_vote(self, current: Game, random: Random) -> None:
        """Open up to three candidates and vote for them."""
        turn = current.current_turn
        assert current.voting_deadline is not None
        squares = votable_squares(current)
        chosen = random.sample(squares, min(len(squares), MAX_ENGINE_CANDIDATES))
        proposals = [_proposal(turn + index, square) for index, square in enumerate(chosen)]
        now = add_seconds(current.updated_at, _THINKING_SECONDS)
        await self._write_once(open_candidates(current, proposals, now))
        ballot = [candidate async for candidate in self._store.each(ballot_of(A_GAME, turn))]
        for user_id in self._voters[: _VOTERS if turn < TURNS else _VOTERS // 2]:
            choice = random.choice(ballot).candidate_id
            voted_at = add_seconds(now, random.randrange(_THINKING_SECONDS))
            await self._write_once(cast_vote(A_GAME, turn, user_id, choice, voted_at))

    async def _close_vote(self, current: Game) -> None:
        assert current.voting_deadline is not None
        now = current.voting_deadline
        await self._write_once(close_turn(A_GAME, current.current_turn, now))
        closed = await self._store.get(game(A_GAME), strong=True)
        assert closed is not None
        ballot = [candidate async for candidate in self._store.each(ballot_of(A_GAME, current.current_turn))]
        if await self._write_once(advance(closed, ballot, now)):
            await self._comment(current.current_turn, winning_candidate(ballot).position, now)

    async def _comment(self, turn: int, square: str, now: Instant) -> None:
        current = await self._store.get(game(A_GAME), strong=True)
        assert current is not None
        board = parse_board(current.board_state)
        texts = Contents(
            **fill_phrase(COMMENTS, turn, square, count_discs(board, "BLACK"), count_discs(board, "WHITE"))
        )
        await self._write_once(add_commentary(A_GAME, turn, texts.ja, now, texts))

    def _deadline(self, turn: int) -> int:
        """The end of voting in a turn: the next midnight for the last turn, past midnights for those before."""
        return self._end if turn >= TURNS else self._midnight - (TURNS - 2 - turn) // 2 * _DAY

    async def _write_once(self, plan: Plan[E]) -> bool:
        """Carry out a plan; False when an earlier run has done so."""
        try:
            await self._store.write(plan, token=str(uuid4()))
        except TransactionCancelled as error:
            if error.conflict:
                raise
            return False
        return True


def _proposal(number: int, square: str) -> Proposal:
    texts = Descriptions(**fill_phrase(REASONS, number, square))
    return Proposal(square, texts.ja, texts)
