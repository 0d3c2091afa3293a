"""The rule against hot partitions: a growing set of items must not share one partition key."""

from datetime import date, datetime
from enum import Enum
from typing import Annotated, Any, Literal, NewType

import pytest
from msgspec import Meta

from tests.table.lint.findings import findings_of, message_of
from zataku.table import Entity, Table, derived

UserId = NewType("UserId", str)


class Mode(Enum):
    FREE = "free"
    CHAIN = "chain"


def users(pk: str, sk: str) -> Table:
    table = Table("Users", sk="SK")

    @table.entity(pk=pk, sk=sk)
    class User(Entity, frozen=True, kw_only=True):
        """A user with fields of several types."""

        name: UserId
        mode: Mode
        role: Literal["host", "guest"]
        day: date
        bucket: int
        shard: Annotated[int, Meta(ge=0, le=15)]

    return table


@pytest.mark.parametrize(
    ("pk", "sk"),
    [
        ("users", "uname#{name}"),
        ("MODE#{mode}", "{name}"),
        ("{role}#{mode}", "{name}"),
        ("DAY#{day}", "{name}"),
        ("days", "DAY#{day}"),
        ("buckets", "{bucket:03d}"),
    ],
)
def test_a_growing_set_under_one_partition_key_is_reported(pk: str, sk: str) -> None:
    assert findings_of(users(pk, sk)) == [("hot-partition", "User.PK")]
    assert "about 1,000 write units and 3,000 read units a second" in message_of(users(pk, sk))


@pytest.mark.parametrize(
    ("pk", "sk"),
    [
        ("users#{name}", "SETTINGS"),
        ("MODE#{mode}#{shard}", "{name}"),
        ("system", "none"),
        ("roles", "{role}#{mode}"),
        ("buckets", "{bucket:02d}"),
        ("DAY#{day}", "DAY"),
        ("shards", "{shard:02d}"),
    ],
)
def test_a_set_that_is_spread_or_cannot_grow_is_allowed(pk: str, sk: str) -> None:
    assert findings_of(users(pk, sk)) == []


def games(key: str) -> Table:
    table = Table("Games", sk="SK")
    table.index("GSI2", pk="GSI2PK", sk="GSI2SK")

    @table.entity(pk="GAME#{game}", sk="META", index={"GSI2PK": key, "GSI2SK": "{game}"})
    class Game(Entity, frozen=True, kw_only=True):
        """A game in a list."""

        game: UserId
        status: Literal["waiting", "playing"]
        at: datetime
        shard: Annotated[int, Meta(ge=0, le=15)]

        @derived("status")
        def listed_as(self) -> Literal["waiting"] | None:
            return "waiting" if self.status == "waiting" else None

    return table


@pytest.mark.parametrize("key", ["GAMES", "STATUS#{status}", "STATUS#{listed_as}"])
def test_an_index_with_a_growing_set_under_one_key_is_reported(key: str) -> None:
    assert findings_of(games(key)) == [("hot-partition", "Game.GSI2")]


@pytest.mark.parametrize("key", ["STATUS#{status}#{shard}", "AT#{at}", "OF#{game}"])
def test_an_index_that_spreads_a_growing_set_is_allowed(key: str) -> None:
    assert findings_of(games(key)) == []


def snapshots(sk: str, pk: str = "USER#{user}") -> Table:
    table = Table("Ranking", sk="SK")
    table.index("ByLevel", pk="SK", sk="PK")

    @table.entity(pk=pk, sk=sk)
    class Snapshot(Entity, frozen=True, kw_only=True):
        """A player on a day."""

        user: UserId
        day: date

    return table


def test_an_index_partitioned_by_a_constant_table_key_is_reported() -> None:
    assert findings_of(snapshots("METADATA")) == [("hot-partition", "Snapshot.ByLevel")]
    assert message_of(snapshots("METADATA")).startswith("Every Snapshot is in the one partition 'METADATA' of ByLevel,")
    assert findings_of(snapshots("SNAP#{day}")) == [("hot-partition", "Snapshot.ByLevel")]
    assert message_of(snapshots("SNAP#{day}")).startswith(
        "Every Snapshot with the same day is in one partition of ByLevel"
    )
    assert findings_of(snapshots("USER#{user}")) == []
    assert findings_of(snapshots("none", pk="system")) == []


def test_an_index_partitioned_by_the_tag_is_reported() -> None:
    table = Table("Games")
    table.index("ByKind", pk="entityType")
    tagged: Any = {"tag": "GAME", "tag_field": "entityType"}

    @table.entity(pk="GAME#{game}")
    class Game(Entity, frozen=True, kw_only=True, **tagged):
        """A game."""

        game: UserId

    assert findings_of(table) == [("hot-partition", "Game.ByKind")]
