"""Registration of Othello by vote with the server."""

from pathlib import Path

import msgspec

from zataku.othello.demo import demo_of
from zataku.othello.design import board_game, candidates_of, games_with
from zataku.othello.limits import GameId
from zataku.othello.removal import removal
from zataku.platform.identity import Identity
from zataku.system import AppContext, Home, Page, Plugin, System
from zataku.table import Instant, format_instant

MAX_CANDIDATES = 60


class OthelloHome(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The current turn of a game, the end of its vote, and the number of votes.

    All are null while no game is active; the last two while no vote is open. The tally is left out: it is shown only
    to callers who have voted.
    """

    game_id: GameId | None = None
    turn: int | None = None
    ends_at: Instant | None = None
    votes: int | None = None


def home_of(context: AppContext) -> Home:
    """The home card, the same for every caller, for 1.5 read units."""

    async def home(_identity: Identity) -> OthelloHome:
        game = await context.store.first(games_with("ACTIVE"))
        if game is None:
            return OthelloHome()
        card = OthelloHome(game_id=game.game_id, turn=game.current_turn)
        if game.voting_deadline is None or game.voting_deadline <= format_instant(context.clock.now()):
            return card
        if game.closed_turn == game.current_turn:
            return card
        ballot = await context.store.page(candidates_of(game.game_id, game.current_turn), limit=MAX_CANDIDATES)
        votes = sum(candidate.vote_count for candidate in ballot.items)
        return msgspec.structs.replace(card, ends_at=game.voting_deadline, votes=votes)

    return home


def plug(context: AppContext) -> Plugin:
    """The plugin of Othello by vote, bound to the server's context."""
    return Plugin(home=home_of(context), remove=removal(context), demo=demo_of(context))


SYSTEM = System(
    name="othello",
    about="Othello by vote against an AI",
    tables=(board_game,),
    texts=Path(__file__).with_name("texts.toml"),
    home_card=OthelloHome,
    pages=(Page(path="/othello", component="othello"),),
    plug=plug,
)
