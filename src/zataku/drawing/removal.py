"""Removal of an account from the drawing game.

A waiting or playing account leaves its seat. Points, pictures and messages stay for the other players, under an
anonymous name and a pseudonymous id of this game alone. The seat, through which a game is found, also one that was left
before the game began, is deleted last, so that an interrupted run finds it again.
"""

from typing import Any, TypeVar, cast
from uuid import UUID, uuid5

import msgspec

from zataku.clock import now_ms
from zataku.drawing.design import (
    ChatMessage,
    Connection,
    Game,
    Picture,
    Round,
    Seat,
    Strokes,
    drawings_of,
    game,
    games_of_player,
    oldest_chat,
    rounds_of,
)
from zataku.drawing.limits import GameId, Moment, PlayerId, PlayerName
from zataku.drawing.writes import leave_seat
from zataku.platform.limits import AccountId
from zataku.system import AppContext, Remove
from zataku.table import ConditionFailed, Conflict, Key, ResultUnknown, Store, TransactionCancelled

ANONYMOUS_NAME: PlayerName = "名無し"

E = TypeVar("E", Game, Round, ChatMessage, Picture, Strokes)

_PSEUDONYM_NAMESPACE = UUID("6a0f4c53-1df5-4d43-9a2e-2f0a2b3a7c11")
_ID_AND_NAME_FIELDS = (("id", "name"), ("playerId", "playerName"), ("drawerId", "drawerName"))
_MAX_ATTEMPTS = 20
_KEEPS_CHANGING = "The game keeps changing. Nothing was lost; the removal continues on its next run."


def removal(context: AppContext) -> Remove:
    """The function that removes an account from every game it took part in."""

    async def remove(account_id: AccountId) -> None:
        player_id = PlayerId(account_id)
        await context.store.delete(Connection.key(player_id=player_id))
        async for seat in context.store.each(games_of_player(player_id)):
            await _PlayerErasure(context.store, seat.game_id, player_id).erase(now_ms(context.clock))

    return remove


class _PlayerErasure:
    """Erasure of one player from one game."""

    def __init__(self, store: Store, game_id: GameId, player_id: PlayerId) -> None:
        self._store = store
        self._game_id = game_id
        self._player_id = player_id
        # Deterministic, so that a repeated run continues under the same id.
        self._pseudonym = PlayerId(str(uuid5(_PSEUDONYM_NAMESPACE, f"{game_id}#{player_id}")))

    async def erase(self, now: Moment) -> None:
        """Leave the game, anonymize every item, and delete the seat."""
        state = await self._leave_game(now)
        if state is not None:
            # The state first: later writes of the game copy the name from it.
            await self._anonymize(game(self._game_id))
            await self._anonymize_history()
        await self._store.delete(Seat.key(game_id=self._game_id, player_id=self._player_id))

    async def _leave_game(self, now: Moment) -> Game | None:
        """The game after the player has left it; None when it does not exist."""
        for _ in range(_MAX_ATTEMPTS):
            state = await self._store.get(game(self._game_id))
            if state is None or state.status == "finished":
                return state
            if not any(player.id == self._player_id and player.left_at is None for player in state.players):
                return state
            try:
                await self._store.write(leave_seat(state, state.epoch, self._player_id, now))
            except (ConditionFailed, TransactionCancelled, ResultUnknown):
                continue
        raise Conflict(_KEEPS_CHANGING)

    async def _anonymize_history(self) -> None:
        async for played in self._store.each(rounds_of(self._game_id)):
            await self._anonymize(Round.key(game_id=self._game_id, round_number=played.round_number))
        async for drawing in self._store.each(drawings_of(self._game_id)):
            if drawing.drawer_id == self._player_id:
                await self._anonymize(_drawing_key(drawing))
        await self._anonymize_chat()

    async def _anonymize_chat(self) -> None:
        async for message in self._store.each(oldest_chat(self._game_id)):
            if message.player_id == self._player_id:
                await self._anonymize(
                    ChatMessage.key(game_id=message.game_id, created_at=message.created_at, id=message.id)
                )

    async def _anonymize(self, key: Key[E]) -> None:
        """Replace name and id in one item, with retries when it changes concurrently."""
        for _ in range(_MAX_ATTEMPTS):
            item = await self._store.get(key, strong=True)
            if item is None:
                return
            anonymized = self._anonymized(item)
            if anonymized == item:
                return
            try:
                await self._store.save(anonymized, was=item)
            except (ConditionFailed, ResultUnknown):
                continue
        raise Conflict(_KEEPS_CHANGING)

    def _anonymized(self, item: E) -> E:
        return msgspec.convert(self._replace_ids(msgspec.to_builtins(item)), type(item))

    def _replace_ids(self, value: Any) -> Any:
        """The value with every occurrence of the player's id replaced, and the name next to each."""
        if isinstance(value, dict):
            fields = cast("dict[str, Any]", value)
            replaced = {name: self._replace_ids(each) for name, each in fields.items()}
            return replaced | {
                name: ANONYMOUS_NAME
                for key, name in _ID_AND_NAME_FIELDS
                if fields.get(key) == self._player_id and name in fields
            }
        if isinstance(value, list | tuple):
            return [self._replace_ids(each) for each in cast("list[Any]", value)]
        return self._pseudonym if value == self._player_id else value


def _drawing_key(drawing: Picture | Strokes) -> Key[Any]:
    turn = {"round_number": drawing.round_number, "turn_number": drawing.turn_number}
    if isinstance(drawing, Strokes):
        return Strokes.key(game_id=drawing.game_id, **turn, number=drawing.number)
    return Picture.key(game_id=drawing.game_id, **turn)
