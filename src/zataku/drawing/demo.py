"""Two rooms that wait for players, so that an empty lobby has something to look at."""

from uuid import uuid4

from zataku.drawing.design import Seat, running_games, waiting_games
from zataku.drawing.limits import GameId, Moment, PlayerId, PlayerName
from zataku.drawing.values import Settings
from zataku.drawing.writes import create_game, keep_seat
from zataku.system import AppContext, Demo
from zataku.table import Store, TransactionCancelled

# Nobody has the ids of these hosts: those of accounts are random.
_ROOMS: tuple[tuple[GameId, PlayerId, PlayerName, Settings], ...] = (
    (
        GameId("3f1f2b5e-7a1c-4f0e-9d57-0c2c3f6a1e01"),
        PlayerId("00000000-0000-4000-a000-000000000001"),
        "はなこ",
        Settings(player_count=4, public=True),
    ),
    (
        GameId("3f1f2b5e-7a1c-4f0e-9d57-0c2c3f6a1e02"),
        PlayerId("00000000-0000-4000-a000-000000000002"),
        "지민",
        Settings(player_count=6, public=True, mode="shiritori"),
    ),
)
_MINUTE = 60 * 1000


def demo_of(context: AppContext) -> Demo:
    """Opens the rooms, once in the life of a store in which nobody waits or plays.

    They go after a day, as every room does that nobody begins in. A seat in one of them is kept for good: it says that
    they were there, so that a server which is started again does not open them anew.
    """

    async def demo() -> None:
        (game_id, host, *_), *_ = _ROOMS
        seat = Seat.key(game_id=game_id, player_id=host)
        known = await context.store.get(seat, strong=True)
        if known is not None and known.ttl is None:
            return
        if known is None and await _in_use(context.store):
            return
        await _open(context.store, int(context.clock.now() * 1000))
        opened = await context.store.get(seat, strong=True)
        if opened is not None:
            await context.store.write(keep_seat(opened))

    return demo


async def _in_use(store: Store) -> bool:
    for games in (waiting_games(), running_games()):
        if await store.first(games) is not None:
            return True
    return False


async def _open(store: Store, now: Moment) -> None:
    for number, (game_id, host, name, settings) in enumerate(_ROOMS, 1):
        plan = create_game(game_id, host, name, None, settings, now - number * _MINUTE)
        try:
            await store.write(plan, token=str(uuid4()))
        except TransactionCancelled as refused:
            # It is there already.
            if refused.conflict:
                raise
