"""A drawing game: a table with every setting that a template supports, and alarms."""

from typing import Annotated

from msgspec import Meta, Struct

from zataku.table import (
    KEYS_ONLY,
    NEW_AND_OLD,
    Entity,
    OnDemand,
    Provisioned,
    Table,
    Waiver,
    capacity_alarm,
    error_rate_alarm,
    throttle_alarm,
)

drawing = Table(
    "EsiritoriGame",
    sk="SK",
    ttl="ttl",
    stream=NEW_AND_OLD,
    capacity=OnDemand(max_reads=500, max_writes=200),
    recovery=True,
    transactions=True,
    alarms=[
        capacity_alarm("read", percent=80, period=300, evaluations=2),
        error_rate_alarm(percent=5, period=300, evaluations=1),
        throttle_alarm("read"),
        throttle_alarm("write", events=10),
    ],
    waivers=[Waiver("hot-partition", "GSI2-ActiveGameIndex", "Few games wait at a time.", "1,000 writes a second")],
)
by_player = drawing.index("GSI1-PlayerIndex", pk="GSI1PK", sk="GSI1SK")
by_status = drawing.index("GSI2-ActiveGameIndex", pk="GSI2PK", sk="GSI2SK", projection=KEYS_ONLY)


class Stroke(Struct, frozen=True, kw_only=True, rename="camel"):
    """A stroke of a picture."""

    colour: Annotated[str, Meta(pattern="^#[0-9a-f]{6}$")]
    points: Annotated[list[int], Meta(max_length=200)]


@drawing.entity(pk="GAME#{game_id}", sk="PICTURE#{turn:02d}")
class Picture(Entity, frozen=True, kw_only=True, rename="camel"):
    """The picture of a turn."""

    game_id: Annotated[str, Meta(max_length=36)]
    turn: Annotated[int, Meta(ge=1, le=10)]
    answer: Annotated[str, Meta(min_length=1, max_length=50, pattern="^[ぁ-んー]+$")]
    strokes: Annotated[list[Stroke], Meta(max_length=10)] = []
    ttl: int | None = None


steady = Table(
    "SteadyTraffic",
    sk="SK",
    capacity=Provisioned(5, 5, max_reads=100, max_writes=50, target=60),
    alarms=[capacity_alarm("write", percent=90)],
)
steady_index = steady.index("ByOwner", pk="owner")
fixed = Table("FixedTraffic", capacity=Provisioned(2, 1), deletion={"prod": "Retain", "staging": "Retain"})
