"""What an account did in the drawing game, without the account.

Whoever waits or plays leaves the table. Points, pictures and what was said stay for the others, under a name that is
nobody's and an id that is made for this game alone. The seat, by which a game is found, goes last: a run that was
broken off finds it again.
"""

from typing import Any, TypeVar, cast
from uuid import UUID, uuid5

import msgspec

from zataku.drawing.design import (
    ChatMessage,
    Connection,
    Game,
    Picture,
    Round,
    Seat,
    Strokes,
    game,
    games_of_player,
    oldest_chat,
    picture_of,
    rounds_of,
    strokes_of,
)
from zataku.drawing.limits import GameId, Moment, PlayerId, PlayerName
from zataku.drawing.writes import leave_seat
from zataku.platform.limits import AccountId
from zataku.system import AppContext, Remove
from zataku.table import ConditionFailed, Conflict, Key, ResultUnknown, Store, TransactionCancelled

NAMELESS: PlayerName = "名無し"

E = TypeVar("E", Game, Round, ChatMessage, Picture, Strokes)

_MASKS = UUID("6a0f4c53-1df5-4d43-9a2e-2f0a2b3a7c11")
_NAMES = (("id", "name"), ("playerId", "playerName"), ("drawerId", "drawerName"))
_TRIES = 20


def removal(context: AppContext) -> Remove:
    """Takes an account out of every game it took part in."""

    async def remove(account_id: AccountId) -> None:
        who = PlayerId(account_id)
        await context.store.delete(Connection.key(player_id=who))
        async for seat in context.store.each(games_of_player(who)):
            await _Leaving(context.store, seat.game_id, who).leave(int(context.clock.now() * 1000))

    return remove


class _Leaving:
    """One player's way out of one game."""

    def __init__(self, store: Store, game_id: GameId, who: PlayerId) -> None:
        self._store = store
        self._game_id = game_id
        self._who = who
        # The same at each run, so that a run that was broken off goes on under the same id.
        self._mask = PlayerId(str(uuid5(_MASKS, f"{game_id}#{who}")))

    async def leave(self, now: Moment) -> None:
        """Get up, take the name off everything, and give the seat back."""
        found = await self._get_up(now)
        if found is not None:
            # First the state: what the game writes from now on is nobody's.
            await self._settle(game(self._game_id))
            await self._mask_all(found)
        await self._store.delete(Seat.key(game_id=self._game_id, player_id=self._who))

    async def _get_up(self, now: Moment) -> Game | None:
        """The game after the player has left the table; None where there is none any more."""
        for _ in range(_TRIES):
            found = await self._store.get(game(self._game_id))
            if found is None or found.status == "finished":
                return found
            if not any(player.id == self._who and player.left_at is None for player in found.players):
                return found
            if found.status == "waiting":
                # Leaving gives the seat back at once, and with it the way to what was said here.
                await self._mask_chat()
            try:
                await self._store.write(leave_seat(found, found.epoch, self._who, now))
            except (ConditionFailed, TransactionCancelled, ResultUnknown):
                continue
        raise Conflict("The game changes all the time. Nothing was lost; the removal goes on at its next run.")

    async def _mask_all(self, found: Game) -> None:
        async for each in self._store.each(rounds_of(self._game_id)):
            await self._settle(Round.key(game_id=self._game_id, round_number=each.round_number))
            for turn in each.turns:
                await self._settle(picture_of(self._game_id, each.round_number, turn.turn_number))
        if found.current_round is not None:
            await self._mask_round_under_way(found.current_round.round_number, found)
        await self._mask_chat()

    async def _mask_round_under_way(self, number: int, found: Game) -> None:
        current = found.current_round
        assert current is not None
        for turn in current.turns or ():
            await self._settle(picture_of(self._game_id, number, turn.turn_number))
        async for part in self._store.each(strokes_of(self._game_id, number, current.current_turn.turn_number)):
            if part.drawer_id == self._who:
                place = {"round_number": part.round_number, "turn_number": part.turn_number, "number": part.number}
                await self._settle(Strokes.key(game_id=self._game_id, **place))

    async def _mask_chat(self) -> None:
        async for said in self._store.each(oldest_chat(self._game_id)):
            if said.player_id == self._who:
                await self._settle(ChatMessage.key(game_id=said.game_id, created_at=said.created_at, id=said.id))

    async def _settle(self, key: Key[E]) -> None:
        """Take name and id off one item, whatever becomes of it meanwhile."""
        for _ in range(_TRIES):
            found = await self._store.get(key, strong=True)
            if found is None:
                return
            faceless = self._faceless(found)
            if faceless == found:
                return
            try:
                await self._store.save(faceless, was=found)
            except (ConditionFailed, ResultUnknown):
                continue
        raise Conflict("The game changes all the time. Nothing was lost; the removal goes on at its next run.")

    def _faceless(self, found: E) -> E:
        return msgspec.convert(self._masked(msgspec.to_builtins(found)), type(found))

    def _masked(self, value: Any) -> Any:
        """The same value with the id replaced wherever it stands, and the name wherever it stands beside it."""
        if isinstance(value, dict):
            fields = cast("dict[str, Any]", value)
            masked = {name: self._masked(each) for name, each in fields.items()}
            return masked | {name: NAMELESS for key, name in _NAMES if fields.get(key) == self._who and name in fields}
        if isinstance(value, list | tuple):
            return [self._masked(each) for each in cast("list[Any]", value)]
        return self._mask if value == self._who else value
