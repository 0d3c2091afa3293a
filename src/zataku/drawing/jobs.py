"""Stream consumer that removes chat messages beyond the last 1,000 of a game."""

from collections import Counter
from collections.abc import Iterable

from zataku.drawing.design import ChatMessage, oldest_chat
from zataku.drawing.limits import MAX_CHAT_MESSAGES, GameId
from zataku.table import Change, Key, Store

CONSUMER = "chat-cap"
_PAGE_SIZE = 100


async def cap_chat(store: Store, changes: Iterable[Change]) -> int:
    """Remove the messages that new ones push beyond the cap; returns how many.

    A message has its number in the game, so the newest number determines which messages are too old. The read starts at
    the oldest and takes one message more than were inserted. Nothing is read before a game has passed the cap, and the
    same changes processed again remove nothing more. Where two servers assigned the same numbers, that many messages
    more than the cap stay until those numbers are 1,000 behind as well.
    """
    inserted: Counter[GameId] = Counter()
    newest: dict[GameId, int] = {}
    for change in changes:
        message = change.new
        if change.kind == "INSERT" and isinstance(message, ChatMessage) and message.number is not None:
            inserted[message.game_id] += 1
            newest[message.game_id] = max(message.number, newest.get(message.game_id, 0))
    removed = 0
    for game_id, number in newest.items():
        if number > MAX_CHAT_MESSAGES:
            removed += await _remove_until(store, game_id, number - MAX_CHAT_MESSAGES, inserted[game_id])
    return removed


async def _remove_until(store: Store, game_id: GameId, last: int, expected: int) -> int:
    """Remove a game's messages up to this number, oldest first; returns how many."""
    removed, cursor, limit = 0, None, min(expected + 1, _PAGE_SIZE)
    while True:
        page = await store.page(oldest_chat(game_id), limit=limit, after=cursor)
        old = [message for message in page.items if (message.number or 0) <= last]
        await store.write_many(delete=[_key(message) for message in old])
        removed += len(old)
        cursor = page.cursor
        if cursor is None or len(old) < len(page.items):
            return removed
        # More old messages than were just inserted: a consumer that was stopped catches up in larger pages.
        limit = _PAGE_SIZE


def _key(message: ChatMessage) -> Key[ChatMessage]:
    return ChatMessage.key(game_id=message.game_id, created_at=message.created_at, id=message.id)
