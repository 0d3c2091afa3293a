"""Small records, tags and libraries for the tests."""

from collections.abc import Awaitable
from itertools import count
from typing import Any

from tests.support.stores import START
from zataku.kifu.design import slug_claim, tag, user_settings
from zataku.kifu.entities import Record, SlugClaim, Tag, UserSettings
from zataku.kifu.limits import KifuId, TagId, UserName
from zataku.kifu.writes import add_record, add_tag
from zataku.table import Plan, Store, format_instant

ME, FRIEND, STRANGER = UserName("h-akira"), UserName("h-akira2"), UserName("min-jun")
NOW = format_instant(START)
_token_numbers = count()


def kid(number: int) -> KifuId:
    return KifuId(f"kifu{number:06d}")


def tid(number: int) -> TagId:
    return TagId(f"tagid{number:04d}")


def a_record(number: int = 0, *, username: UserName = ME, **fields: Any) -> Record:
    defaults: dict[str, Any] = {
        "kifu_id": kid(number),
        "slug": f"社団戦/2025/{number:04d}",
        "kifu": "手合割：平手\n先手：鈴木\n",
        "first_or_second": "first",
        "result": "win",
        "memo": "",
        "public": False,
        "share": False,
        "created": NOW,
        "latest_access": NOW,
        "latest_update": NOW,
    }
    return Record(username=username, **(defaults | fields))


def a_record_of(size: int, number: int = 0, **fields: Any) -> Record:
    """A record whose text has the given number of bytes."""
    return a_record(number, kifu="a" * size, **fields)


def a_tag(number: int = 0, *, username: UserName = ME, **fields: Any) -> Tag:
    defaults = {"tag_id": tid(number), "name": f"四間飛車{number}", "created": NOW}
    return Tag(username=username, latest_access=NOW, latest_update=NOW, **(defaults | fields))


async def settings(store: Store, username: UserName = ME) -> UserSettings:
    stored = await store.get(user_settings(username))
    assert stored is not None
    return stored


async def claim_of(store: Store, record: Record) -> SlugClaim:
    claim = await store.get(slug_claim(record.username, record.slug))
    assert claim is not None
    return claim


def write_attempts(store: Store, *plans: Plan[Any]) -> list[Awaitable[Any]]:
    """Transactions for a race, each with a token, so that no reply gets lost."""
    return [store.write(plan, token=f"race-{next(_token_numbers)}") for plan in plans]


async def tag_exists(store: Store, expected: Tag) -> bool:
    return await store.get(tag(expected.username, expected.tag_id)) is not None


async def create_users(store: Store, *usernames: UserName) -> None:
    """Create users with empty libraries, without the risk of a lost reply."""
    await store.write_many(
        put=[UserSettings(username=username, kifu_count=0, tag_count=0) for username in usernames or (ME,)]
    )


async def add_records(store: Store, *records: Record) -> tuple[Record, ...]:
    """Add records to the library by its own writes."""
    for number, record in enumerate(records):
        owner = await settings(store, record.username)
        await store.write(add_record(record, owner), token=f"record-{record.kifu_id}-{number}"[:36])
    return records


async def add_tags(store: Store, *tags: Tag) -> tuple[Tag, ...]:
    """Add tags to the library by its own writes."""
    for new_tag in tags:
        owner = await settings(store, new_tag.username)
        await store.write(add_tag(new_tag, owner), token=f"tag-{new_tag.username}-{new_tag.tag_id}"[:36])
    return tags
