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


class _Scene(Struct):
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
    scene = _Scene(random, voters, turns, start, game)
    while not is_over(scene.board):
        side = side_of(scene.turn)
        squares = legal_moves(scene.board, side)
        voting = bool(squares) and side != ai_side
        if voting and scene.turn >= turns:
            break
        yield from _voted_turn(scene, squares) if voting else _plain_turn(scene, squares)
    yield from _last_items(scene)


def _plain_turn(scene: _Scene, squares: list[str]) -> Iterator[Sample]:
    """A move of the AI or a pass, a minute later."""
    scene.now += THINKING_SECONDS
    side = side_of(scene.turn)
    position = scene.random.choice(squares) if squares else "PASS"
    yield Move(
        game_id=scene.game.game_id,
        turn_number=scene.turn,
        side=side,
        position=position,
        played_by="AI" if side == scene.game.ai_side else "COLLECTIVE",
        created_at=format_instant(scene.now),
    )
    yield from _next_turn(scene, position)


def _voted_turn(scene: _Scene, squares: list[str]) -> Iterator[Sample]:
    """A turn of the crowd, with a vote until midnight in Tokyo."""
    deadline = _next_midnight(scene.now)
    candidates, votes = _ballot(scene, squares, deadline)
    best = winning_candidate(candidates)
    scene.now = deadline
    for candidate in candidates:
        yield replace(candidate, status="ADOPTED" if candidate is best else "CLOSED")
    yield from votes
    yield Move(
        game_id=scene.game.game_id,
        turn_number=scene.turn,
        side=side_of(scene.turn),
        position=best.position,
        played_by="COLLECTIVE",
        candidate_id=best.candidate_id,
        created_at=format_instant(scene.now),
    )
    yield from _next_turn(scene, best.position)


def _next_turn(scene: _Scene, position: str) -> Iterator[Sample]:
    """Update the scene after a move; yields the commentary on it."""
    turn, side = scene.turn, side_of(scene.turn)
    if position != "PASS":
        scene.board = play_move(scene.board, side, position)
    texts = Contents(
        **fill_phrase(COMMENTS, turn, position, count_discs(scene.board, "BLACK"), count_discs(scene.board, "WHITE"))
    )
    yield Commentary(
        game_id=scene.game.game_id,
        turn_number=turn,
        content=texts.ja,
        content_i18n=texts,
        created_at=format_instant(scene.now + 1),
    )
    voted = position != "PASS" and side != scene.game.ai_side
    scene.game = replace(
        scene.game,
        current_turn=turn + 1,
        board_state=format_board(scene.board),
        updated_at=format_instant(scene.now),
        closed_turn=turn if voted else scene.game.closed_turn,
        opened_turn=turn if voted else scene.game.opened_turn,
    )


def _last_items(scene: _Scene) -> Iterator[Sample]:
    """The finished game, or the open vote and its game."""
    if is_over(scene.board):
        yield replace(scene.game, status="FINISHED", winner=winner(scene.board, scene.game.ai_side))
        return
    deadline = _next_midnight(scene.now)
    candidates, votes = _ballot(scene, legal_moves(scene.board, side_of(scene.turn)), deadline)
    yield from candidates
    yield from votes
    yield replace(scene.game, voting_deadline=format_instant(deadline), opened_turn=scene.turn)


def _ballot(scene: _Scene, squares: list[str], deadline: int) -> tuple[list[Candidate], list[Vote]]:
    """Up to three candidates of the engine, perhaps one of a user, and the votes for them."""
    random, game_id, turn = scene.random, scene.game.game_id, scene.turn
    proposed = random.sample(squares, min(len(squares), 4))
    candidates: list[Candidate] = []
    for index, position in enumerate(proposed):
        by_user = index == 3 and bool(scene.voters)
        texts = None if by_user else Descriptions(**fill_phrase(REASONS, turn + index, position))
        candidates.append(
            Candidate(
                candidate_id=candidate_id(game_id, turn, position),
                game_id=game_id,
                turn_number=turn,
                position=position,
                description=random.choice(USER_REASONS) if texts is None else texts.ja,
                description_i18n=texts,
                created_by=f"USER#{random.choice(scene.voters).user_id}" if by_user else "AI",
                created_at=format_instant(scene.now + (THINKING_SECONDS * 10 if by_user else THINKING_SECONDS)),
                voting_deadline=format_instant(deadline),
            )
        )
    votes: list[Vote] = []
    for voter in scene.voters:
        if random.random() < 0.7:
            index = random.randrange(len(candidates))
            voted_at = format_instant(random.randrange(scene.now + THINKING_SECONDS * 10, deadline))
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
