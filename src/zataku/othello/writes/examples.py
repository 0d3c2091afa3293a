"""The design document's own example items, used as examples of the writes.

The document does not give the board. Here it results from five moves after which white may play D3, as in the document.
"""

from msgspec.structs import replace

from zataku.othello.design import A_GAME, A_USER, Candidate, Game, User, Vote
from zataku.othello.limits import candidate_id, side_of
from zataku.othello.rules.board import START, Board, Row, format_board, play_move

OPENED_AT = "2025-02-19T10:00:00Z"
NOW = "2025-02-19T16:00:00Z"
DEADLINE = "2025-02-20T00:00:00Z"

_BLACK: Row = (1,) * 8
_WHITE: Row = (2,) * 8


def _board_after(*squares: str) -> Board:
    board = START
    for turn, square in enumerate(squares):
        board = play_move(board, side_of(turn), square)
    return board


PLAYER = User(
    user_id=A_USER,
    email="user@example.com",
    username="player1",
    icon_url="https://example.com/icon.png",
    created_at=OPENED_AT,
    updated_at=OPENED_AT,
)
NEW_GAME = Game(
    game_id=A_GAME,
    ai_side="BLACK",
    board_state=format_board(START),
    created_at=OPENED_AT,
    updated_at=OPENED_AT,
    cadence="DAILY",
    time_zone="UTC",
    ai_level=5,
    language="ja",
)
VOTED_GAME = replace(
    NEW_GAME,
    current_turn=5,
    board_state=format_board(_board_after("F5", "D6", "C3", "F4", "C5")),
    updated_at="2025-02-19T15:00:00Z",
    voting_deadline=DEADLINE,
)
CLOSED_GAME = replace(VOTED_GAME, closed_turn=5)
FULL_GAME = replace(NEW_GAME, current_turn=60, board_state=format_board((*(_BLACK,) * 3, *(_WHITE,) * 5)))
CANDIDATE = Candidate(
    candidate_id=candidate_id(A_GAME, 5, "D3"),
    game_id=A_GAME,
    turn_number=5,
    position="D3",
    description="中央を制圧する手。相手の選択肢を制限できる。",
    vote_count=15,
    created_by="AI",
    created_at="2025-02-19T15:00:00Z",
    voting_deadline=DEADLINE,
)
OTHER_CANDIDATE = replace(
    CANDIDATE, candidate_id=candidate_id(A_GAME, 5, "C4"), position="C4", vote_count=3, created_by=f"USER#{A_USER}"
)
VOTE = Vote(
    game_id=A_GAME,
    turn_number=5,
    user_id=A_USER,
    candidate_id=CANDIDATE.candidate_id,
    created_at=NOW,
    updated_at=NOW,
)
