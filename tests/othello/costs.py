"""The case that each budget describes: stored items and the call to measure."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from tests.othello.games import (
    C3,
    DEADLINE,
    GAME,
    NOW,
    SOON,
    TOMORROW,
    TURN,
    candidate,
    closed_game,
    full_game,
    new_game,
    user_id_of,
    user_named,
    vote,
    voted_game,
    wide_game,
)
from tests.support.cost_assertions import Case
from zataku.othello import design
from zataku.othello.design import Commentary, Move
from zataku.othello.limits import Contents, Descriptions, GameId
from zataku.othello.writes import (
    Proposal,
    add_commentary,
    advance,
    cast_vote,
    change_profile,
    change_vote,
    close_turn,
    finish,
    open_candidates,
    open_game,
    play_turn,
    propose,
    register_user,
    reopen_turn,
    set_game_expiry,
    set_item_expiry,
)
from zataku.othello.writes.game_end import RETENTION_SECONDS
from zataku.table import Entity, Key, Plan, Query, Store, parse_instant

REASON = "次の手で角を取れるようになるので、ここは我慢して中央を固めておきたいところです。" * 5
LONG = REASON[:200]
SHORT = REASON[:40]
COMMENT = (REASON * 3)[:500]
HANA = user_named("はな")
DESCRIPTIONS = Descriptions(
    ja=SHORT,
    ko="다음 수에 귀를 노릴 수 있도록 여기서는 중앙을 다져 둡니다. 참을 때"[:40],
    en="Keep to the centre now, corners later. "[:40],
)
COMMENTARY_TEXTS = Contents(ja="形勢は互角。" * 6, ko="형세는 팽팽하다. " * 4, en="An even game so far. " * 2)
ENGINE_CANDIDATES = tuple(
    candidate(square, description=SHORT, description_i18n=DESCRIPTIONS) for square in ("C3", "F5", "E6")
)
USER_CANDIDATES = tuple(
    candidate(square, description=LONG, created_by=f"USER#{user_id_of(at)}")
    for at, square in enumerate(("F2", "B4", "F4", "C7", "D7"))
)
WIDE_CLOSED = replace(wide_game, closed_turn=TURN)
EXPIRY = parse_instant(NOW) + RETENTION_SECONDS
MOVES = [
    Move(
        game_id=GAME,
        turn_number=turn,
        side="WHITE" if turn % 2 else "BLACK",
        position="D3",
        played_by="COLLECTIVE" if turn % 2 else "AI",
        candidate_id=C3.candidate_id if turn % 2 else None,
        created_at=NOW,
    )
    for turn in range(60)
]


def case_with(*items: Entity, then: Callable[[Store], Awaitable[Any]]) -> Case:
    """The case of a call with these items stored."""

    async def prepare(store: Store) -> Callable[[], Awaitable[Any]]:
        await store.write_many(put=items)
        return lambda: then(store)

    return prepare


def write_case(plan: Plan[Any], *items: Entity) -> Case:
    """The case of a write with these items stored."""
    return case_with(*items, then=lambda store: store.write(plan))


def get_case(key: Key[Any], *items: Entity) -> Case:
    """The case of a read of one item."""
    return case_with(*items, then=lambda store: store.get(key))


def page_case(query: Query[Any], items: Sequence[Entity], limit: int = 50) -> Case:
    """The case of a read of one full page."""

    async def read(store: Store) -> None:
        assert len((await store.page(query, limit=limit)).items) == min(limit, len(items))

    return case_with(*items, then=read)


def _games(number: int) -> list[Entity]:
    full = {"cadence": "DAILY", "time_zone": "Asia/Tokyo", "ai_level": 5, "language": "ja"}
    return [replace(voted_game, game_id=GameId(str(UUID(int=at, version=4))), **full) for at in range(number)]


CASES: dict[str, Case] = {
    "user": get_case(design.user(HANA.user_id), HANA),
    "games_with": page_case(design.games_with("ACTIVE"), _games(50)),
    "game": get_case(design.game(GAME), voted_game),
    "moves_of": page_case(design.moves_of(GAME), MOVES, limit=60),
    "candidates_of": page_case(design.candidates_of(GAME, TURN), [*ENGINE_CANDIDATES, *USER_CANDIDATES]),
    "vote_of": get_case(design.vote_of(GAME, TURN, user_id_of(0)), vote(0, C3.candidate_id)),
    "votes_by": page_case(design.votes_by(user_id_of(0)), [vote(0, C3.candidate_id, turn) for turn in range(50)]),
    "commentary_of": page_case(
        design.commentary_of(GAME),
        [
            Commentary(
                game_id=GAME,
                turn_number=turn,
                content=COMMENTARY_TEXTS.ja,
                content_i18n=COMMENTARY_TEXTS,
                created_at=NOW,
            )
            for turn in range(60)
        ],
        limit=60,
    ),
    "candidates_by": page_case(
        design.candidates_by(user_id_of(0)),
        [
            candidate("C3", turn_number=turn, created_by=f"USER#{user_id_of(0)}", description=SHORT)
            for turn in range(50)
        ],
    ),
    "moves_until": page_case(design.moves_until(GAME, 30), MOVES, limit=31),
    "ballot_of": page_case(design.ballot_of(GAME, TURN), [*ENGINE_CANDIDATES, *USER_CANDIDATES]),
    "votes_in": page_case(design.votes_in(GAME, TURN), [vote(at, C3.candidate_id) for at in range(50)]),
    "register_user": write_case(register_user(HANA)),
    "change_profile": write_case(change_profile(HANA, "花", "/icons/hana.png", None, SOON), HANA),
    "open_game": write_case(open_game(replace(new_game, cadence="PT30M", ai_level=3, language="ko"))),
    "open_candidates": write_case(
        open_candidates(
            wide_game, [Proposal(candidate.position, SHORT, DESCRIPTIONS) for candidate in ENGINE_CANDIDATES], NOW
        ),
        wide_game,
    ),
    "propose": write_case(propose(voted_game, Proposal("C3", LONG), user_id_of(0), NOW), voted_game),
    "cast_vote": write_case(
        cast_vote(GAME, TURN, user_id_of(9), USER_CANDIDATES[0].candidate_id, NOW), voted_game, *USER_CANDIDATES
    ),
    "change_vote": write_case(
        change_vote(vote(9, USER_CANDIDATES[0].candidate_id), USER_CANDIDATES[1].candidate_id, SOON),
        voted_game,
        vote(9, USER_CANDIDATES[0].candidate_id),
        replace(USER_CANDIDATES[0], vote_count=1),
        USER_CANDIDATES[1],
    ),
    "close_turn": write_case(close_turn(GAME, TURN, DEADLINE), voted_game),
    "reopen_turn": write_case(reopen_turn(closed_game, TOMORROW, DEADLINE), closed_game),
    "advance": write_case(
        advance(WIDE_CLOSED, [*ENGINE_CANDIDATES, *USER_CANDIDATES], DEADLINE),
        WIDE_CLOSED,
        *ENGINE_CANDIDATES,
        *USER_CANDIDATES,
    ),
    "play_turn": write_case(play_turn(new_game, "D3", NOW, DEADLINE), new_game),
    "finish": write_case(finish(full_game, NOW), full_game),
    "add_commentary": write_case(
        add_commentary(GAME, 0, COMMENT, NOW, Contents(ja=COMMENT, ko=COMMENT, en=COMMENT)), voted_game
    ),
    "set_item_expiry": write_case(
        set_item_expiry(GAME, [vote(at, C3.candidate_id) for at in range(99)], EXPIRY, NOW),
        replace(closed_game, status="FINISHED"),
        *[vote(at, C3.candidate_id) for at in range(99)],
    ),
    "set_game_expiry": write_case(set_game_expiry(GAME, EXPIRY, NOW), replace(closed_game, status="FINISHED")),
}

AI_VOTE = write_case(
    cast_vote(GAME, TURN, user_id_of(9), ENGINE_CANDIDATES[0].candidate_id, NOW), voted_game, *ENGINE_CANDIDATES
)
AI_CHANGE = write_case(
    change_vote(vote(9, ENGINE_CANDIDATES[0].candidate_id), ENGINE_CANDIDATES[1].candidate_id, SOON),
    voted_game,
    vote(9, ENGINE_CANDIDATES[0].candidate_id),
    replace(ENGINE_CANDIDATES[0], vote_count=1),
    ENGINE_CANDIDATES[1],
)
SHORT_COMMENT = write_case(add_commentary(GAME, 0, COMMENTARY_TEXTS.ja, NOW), voted_game)
