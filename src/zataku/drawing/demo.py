"""Demo data: two waiting rooms in an otherwise empty lobby."""

from uuid import uuid4

from zataku.clock import now_ms
from zataku.drawing.design import Seat, running_games, waiting_games
from zataku.drawing.limits import GameId, Moment, PlayerId, PlayerName
from zataku.drawing.values import Settings
from zataku.drawing.writes import create_game, keep_seat
from zataku.system import AppContext, Demo
from zataku.table import Store, TransactionCancelled

# No account has these ids: account ids are random.
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
    """The function that opens the rooms, once per store, if the store has no waiting or running game.

    The rooms expire after a day, like every room that is not started. The seat of the first host never expires: it
    marks that the rooms were created, so that a restarted server does not create them again.
    """

    async def demo() -> None:
        (game_id, host, *_), *_ = _ROOMS
        seat = Seat.key(game_id=game_id, player_id=host)
        marker = await context.store.get(seat, strong=True)
        if marker is not None and marker.ttl is None:
            return
        if marker is None and await _has_games(context.store):
            return
        await _open_rooms(context.store, now_ms(context.clock))
        opened = await context.store.get(seat, strong=True)
        if opened is not None:
            await context.store.write(keep_seat(opened))

    return demo


async def _has_games(store: Store) -> bool:
    for games in (waiting_games(), running_games()):
        if await store.first(games) is not None:
            return True
    return False


async def _open_rooms(store: Store, now: Moment) -> None:
    for number, (game_id, host, name, settings) in enumerate(_ROOMS, 1):
        plan = create_game(game_id, host, name, None, settings, now - number * _MINUTE)
        try:
            await store.write(plan, token=str(uuid4()))
        except TransactionCancelled as error:
            # The room exists already.
            if error.conflict:
                raise
