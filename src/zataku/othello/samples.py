"""Generated samples: users, and finished and running games with all their items.

The same `Random` and time give the same items.
"""

from collections.abc import Iterator, Sequence
from random import Random
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from zataku.othello.design import Candidate, Commentary, Game, Move, User, Vote
from zataku.othello.limits import Contents, Descriptions, GameId, Side, UserId, candidate_id, side_of
from zataku.othello.rules.board import START, Board, count_discs, format_board, is_over, legal_moves, play_move, winner
from zataku.othello.sample_texts import COMMENTS, NAMES, REASONS, USER_REASONS, fill_phrase
from zataku.othello.writes.turns import winning_candidate
from zataku.table import format_instant

DAY = 86_400
THINKING_SECONDS = 60
Sample = User | Game | Move | Candidate | Vote | Commentary


def users(random: Random, start: int, number: int = 12) -> list[User]:
    """Users who registered in the month before, with names in the scripts of all three languages."""
    created: list[User] = []
    for index in range(number):
        name = NAMES[index % len(NAMES)]
        joined_at = format_instant(start - random.randrange(1, 30 * DAY))
        user_id = UserId(_uuid(random))
        created.append(
            User(
                user_id=user_id,
                username=name if index < len(NAMES) else f"{name}{index // len(NAMES) + 1}",
                icon_url=f"/icons/{user_id}.png" if random.random() < 0.5 else None,
                created_at=joined_at,
                updated_at=joined_at,
            )
        )
    return created


def finished_game(random: Random, start: int, voters: Sequence[User], ai_side: Side = "BLACK") -> Iterator[Sample]:
    """The items of a legal game that is over, the GAME item last."""
    return _played_game(random, start, voters, ai_side, 120)


def running_game(
    random: Random, start: int, voters: Sequence[User], ai_side: Side = "BLACK", turns: int = 11
) -> Iterator[Sample]:
    """The items of a game with an open vote, in that turn or the next one of the crowd; the GAME item last."""
    return _played_game(random, start, voters, ai_side, turns)


class _GameState(Struct):
    """The state of a game while it is generated: the board, the time, and the number of turns to play."""

    random: Random
    voters: Sequence[User]
    turns: int
    now: int
    game: Game
    board: Board = START

    @property
    def turn(self) -> int:
        """The current turn of the game."""
        return self.game.current_turn


def _played_game(random: Random, start: int, voters: Sequence[User], ai_side: Side, turns: int) -> Iterator[Sample]:
    game = Game(
        game_id=GameId(_uuid(random)),
        ai_side=ai_side,
        board_state=format_board(START),
        created_at=format_instant(start),
        updated_at=format_instant(start),
        cadence="DAILY",
        time_zone="Asia/Tokyo",
        ai_level=random.randint(1, 10),
        language="ja",
    )
    state = _GameState(random, voters, turns, start, game)
    while not is_over(state.board):
        side = side_of(state.turn)
        squares = legal_moves(state.board, side)
        voting = bool(squares) and side != ai_side
        if voting and state.turn >= turns:
            break
        yield from _voted_turn(state, squares) if voting else _plain_turn(state, squares)
    yield from _last_items(state)


def _plain_turn(state: _GameState, squares: list[str]) -> Iterator[Sample]:
    """A move of the AI or a pass, a minute later."""
    state.now += THINKING_SECONDS
    side = side_of(state.turn)
    position = state.random.choice(squares) if squares else "PASS"
    yield Move(
        game_id=state.game.game_id,
        turn_number=state.turn,
        side=side,
        position=position,
        played_by="AI" if side == state.game.ai_side else "COLLECTIVE",
        created_at=format_instant(state.now),
    )
    yield from _next_turn(state, position)


def _voted_turn(state: _GameState, squares: list[str]) -> Iterator[Sample]:
    """A turn of the crowd, with a vote until midnight in Tokyo."""
    deadline = _next_midnight(state.now)
    candidates, votes = _ballot(state, squares, deadline)
    best = winning_candidate(candidates)
    state.now = deadline
    for candidate in candidates:
        yield replace(candidate, status="ADOPTED" if candidate is best else "CLOSED")
    yield from votes
    yield Move(
        game_id=state.game.game_id,
        turn_number=state.turn,
        side=side_of(state.turn),
        position=best.position,
        played_by="COLLECTIVE",
        candidate_id=best.candidate_id,
        created_at=format_instant(state.now),
    )
    yield from _next_turn(state, best.position)


def _next_turn(state: _GameState, position: str) -> Iterator[Sample]:
    """Update the state after a move; yields the commentary on it."""
    turn, side = state.turn, side_of(state.turn)
    if position != "PASS":
        state.board = play_move(state.board, side, position)
    texts = Contents(
        **fill_phrase(COMMENTS, turn, position, count_discs(state.board, "BLACK"), count_discs(state.board, "WHITE"))
    )
    yield Commentary(
        game_id=state.game.game_id,
        turn_number=turn,
        content=texts.ja,
        content_i18n=texts,
        created_at=format_instant(state.now + 1),
    )
    voted = position != "PASS" and side != state.game.ai_side
    state.game = replace(
        state.game,
        current_turn=turn + 1,
        board_state=format_board(state.board),
        updated_at=format_instant(state.now),
        closed_turn=turn if voted else state.game.closed_turn,
        opened_turn=turn if voted else state.game.opened_turn,
    )


def _last_items(state: _GameState) -> Iterator[Sample]:
    """The finished game, or the open vote and its game."""
    if is_over(state.board):
        yield replace(state.game, status="FINISHED", winner=winner(state.board, state.game.ai_side))
        return
    deadline = _next_midnight(state.now)
    candidates, votes = _ballot(state, legal_moves(state.board, side_of(state.turn)), deadline)
    yield from candidates
    yield from votes
    yield replace(
        state.game,
        voting_deadline=format_instant(deadline),
        opened_turn=state.turn,
        updated_at=format_instant(state.now + THINKING_SECONDS),
    )


def _ballot(state: _GameState, squares: list[str], deadline: int) -> tuple[list[Candidate], list[Vote]]:
    """Up to three candidates of the engine, perhaps one of a user, and the votes for them."""
    random, game_id, turn = state.random, state.game.game_id, state.turn
    proposed = random.sample(squares, min(len(squares), 4))
    candidates: list[Candidate] = []
    for index, position in enumerate(proposed):
        by_user = index == 3 and bool(state.voters)
        texts = None if by_user else Descriptions(**fill_phrase(REASONS, turn + index, position))
        candidates.append(
            Candidate(
                candidate_id=candidate_id(game_id, turn, position),
                game_id=game_id,
                turn_number=turn,
                position=position,
                description=random.choice(USER_REASONS) if texts is None else texts.ja,
                description_i18n=texts,
                created_by=f"USER#{random.choice(state.voters).user_id}" if by_user else "AI",
                created_at=format_instant(state.now + (THINKING_SECONDS * 10 if by_user else THINKING_SECONDS)),
                voting_deadline=format_instant(deadline),
            )
        )
    votes: list[Vote] = []
    for voter in state.voters:
        if random.random() < 0.7:
            index = random.randrange(len(candidates))
            voted_at = format_instant(random.randrange(state.now + THINKING_SECONDS * 10, deadline))
            candidates[index] = replace(candidates[index], vote_count=candidates[index].vote_count + 1)
            votes.append(
                Vote(
                    game_id=game_id,
                    turn_number=turn,
                    user_id=voter.user_id,
                    candidate_id=candidates[index].candidate_id,
                    created_at=voted_at,
                    updated_at=voted_at,
                )
            )
    return candidates, votes


def _next_midnight(now: int) -> int:
    """The next midnight in Tokyo, nine hours ahead of UTC, that leaves an hour to vote."""
    offset = 9 * 3600
    return (now + 3600 + offset) // DAY * DAY + DAY - offset


def _uuid(random: Random) -> str:
    return str(UUID(int=random.getrandbits(128), version=4))


def examples() -> Iterator[Sample]:
    """The items of a running game, for the design document."""
    random, start = Random(1), 1_771_669_800
    voters = users(random, start, 3)
    yield from voters
    yield from running_game(random, start, voters)
