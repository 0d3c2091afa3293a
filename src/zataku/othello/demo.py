"""A game that everybody can vote in at once, a few days old."""

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
)
from zataku.othello.writes.votes import MAX_ENGINE_CANDIDATES
from zataku.system import AppContext, Demo
from zataku.table import Entity, Instant, Plan, Store, TransactionCancelled, add_seconds, format_instant

E = TypeVar("E", bound=Entity)

A_GAME = GameId("0d5e1f2a-6c7b-4e8f-9a01-7e57ab1e0001")
TURNS = 7
"""The turn that the crowd votes in: it is white, and the AI has begun."""

_VOTERS = 9
_DAY = 86_400
_HOUR = 3_600
_TOKYO = 9 * _HOUR
_THINKING = 60


def demo_of(context: AppContext) -> Demo:
    """Plays a game up to a turn that ends at the next midnight in Tokyo, for a store without games.

    Each step stands on the stored game, so that a run which was broken off is gone on with and a second does nothing.
    """

    async def demo() -> None:
        if await _others_play(context.store):
            return
        match_ = _Match(context.store, context.clock.now())
        await match_.begin()
        for _ in range(TURNS + 1):
            await match_.go_on()

    return demo


async def _others_play(store: Store) -> bool:
    for status in ("ACTIVE", "FINISHED"):
        found = await store.first(games_with(status))
        if found is not None and found.game_id != A_GAME:
            return True
    return False


class _Match:
    """The game, as it was played until now."""

    def __init__(self, store: Store, now: float) -> None:
        self._store = store
        self._midnight = (int(now) + _TOKYO) // _DAY * _DAY - _TOKYO
        self._end = self._midnight + (_DAY if int(now) + _HOUR < self._midnight + _DAY else 2 * _DAY)
        self._random = Random(A_GAME)
        self._voters = [UserId(str(UUID(int=self._random.getrandbits(128), version=4))) for _ in range(_VOTERS)]

    async def begin(self) -> None:
        """Those who vote sign up, and the game is opened."""
        opened = format_instant(self._deadline(1) - _DAY)
        for user_id, name in zip(self._voters, NAMES, strict=False):
            await self._done(register_user(User(user_id=user_id, username=name, created_at=opened, updated_at=opened)))
        made = Game(
            game_id=A_GAME,
            ai_side="BLACK",
            board_state=format_board(START),
            created_at=opened,
            updated_at=opened,
            cadence="DAILY",
            time_zone="Asia/Tokyo",
            ai_level=3,
            language="ja",
        )
        await self._done(open_game(made))

    async def go_on(self) -> None:
        """The next turn, up to the one that is shown."""
        found = await self._store.get(game(A_GAME), strong=True)
        if found is None or found.current_turn > TURNS or found.status != "ACTIVE":
            return
        chance = Random(f"{A_GAME}#{found.current_turn}")
        if side_of(found.current_turn) == found.ai_side:
            await self._play(found, chance)
            return
        if found.opened_turn != found.current_turn:
            await self._open(found, chance)
        if found.current_turn < TURNS:
            await self._close(found)

    async def _play(self, found: Game, chance: Random) -> None:
        turn = found.current_turn
        moment = add_seconds(found.updated_at, _THINKING)
        deadline = format_instant(self._deadline(turn + 1))
        if await self._done(play_turn(found, chance.choice(votable_squares(found)), moment, deadline)):
            await self._comment(turn, moment)

    async def _open(self, found: Game, chance: Random) -> None:
        """Three squares to choose from, and people who choose."""
        turn = found.current_turn
        assert found.voting_deadline is not None
        squares = votable_squares(found)
        chosen = chance.sample(squares, min(len(squares), MAX_ENGINE_CANDIDATES))
        proposals = [_proposal(turn + at, square) for at, square in enumerate(chosen)]
        moment = add_seconds(found.updated_at, _THINKING)
        await self._done(open_candidates(found, proposals, moment))
        ballot = [it async for it in self._store.each(ballot_of(A_GAME, turn))]
        for user_id in self._voters[: _VOTERS if turn < TURNS else _VOTERS // 2]:
            choice = chance.choice(ballot).candidate_id
            await self._done(cast_vote(A_GAME, turn, user_id, choice, add_seconds(moment, chance.randrange(_THINKING))))

    async def _close(self, found: Game) -> None:
        assert found.voting_deadline is not None
        moment = found.voting_deadline
        await self._done(close_turn(A_GAME, found.current_turn, moment))
        closed = await self._store.get(game(A_GAME), strong=True)
        assert closed is not None
        ballot = [it async for it in self._store.each(ballot_of(A_GAME, found.current_turn))]
        if await self._done(advance(closed, ballot, moment)):
            await self._comment(found.current_turn, moment)

    async def _comment(self, turn: int, moment: Instant) -> None:
        found = await self._store.get(game(A_GAME), strong=True)
        assert found is not None
        board = parse_board(found.board_state)
        texts = Contents(
            **fill_phrase(COMMENTS, turn, f"{turn + 1}", count_discs(board, "BLACK"), count_discs(board, "WHITE"))
        )
        await self._done(add_commentary(A_GAME, turn, texts.ja, moment, texts))

    def _deadline(self, turn: int) -> int:
        """When voting in a turn ends: in the last one at the end, in those before at the midnights that have passed."""
        return self._end if turn >= TURNS else self._midnight - (TURNS - 2 - turn) // 2 * _DAY

    async def _done(self, plan: Plan[E]) -> bool:
        """True when it was carried out; what was done in an earlier run is refused, and passed over."""
        try:
            await self._store.write(plan, token=str(uuid4()))
        except TransactionCancelled as refused:
            if refused.conflict:
                raise
            return False
        return True


def _proposal(number: int, square: str) -> Proposal:
    texts = Descriptions(**fill_phrase(REASONS, number, square))
    return Proposal(square, texts.ja, texts)
