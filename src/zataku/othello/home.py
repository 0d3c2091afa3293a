"""What Othello by vote shows on the home page: the newest game that is on."""

import msgspec

from zataku.othello.design import candidates_of, games_with
from zataku.othello.limits import GameId
from zataku.platform.identity import Identity
from zataku.system import AppContext, Home
from zataku.table import Instant, format_instant

MAX_CANDIDATES = 60


class OthelloHome(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The turn that a game has come to, until when everybody may vote in it, and how many have.

    All are null while no game is on; the last two while nobody votes. How the votes are spread is not told here: that
    is for whoever has voted.
    """

    game_id: GameId | None = None
    turn: int | None = None
    ends_at: Instant | None = None
    votes: int | None = None


def home_of(context: AppContext) -> Home:
    """The same for everybody, for 1.5 read units."""

    async def home(_who: Identity) -> OthelloHome:
        game = await context.store.first(games_with("ACTIVE"))
        if game is None:
            return OthelloHome()
        shown = OthelloHome(game_id=game.game_id, turn=game.current_turn)
        if game.voting_deadline is None or game.voting_deadline <= format_instant(context.clock.now()):
            return shown
        if game.closed_turn == game.current_turn:
            return shown
        ballot = await context.store.page(candidates_of(game.game_id, game.current_turn), limit=MAX_CANDIDATES)
        votes = sum(candidate.vote_count for candidate in ballot.items)
        return msgspec.structs.replace(shown, ends_at=game.voting_deadline, votes=votes)

    return home
