"""Where players stand: the rows of a roster and of a histogram."""

from typing import Annotated

from msgspec import Meta, Struct

from zataku.ranking import limits
from zataku.ranking.limits import Level, Name, Power, Uuid
from zataku.ranking.naming import attribute


class Standing(Struct, frozen=True, rename=attribute):
    """What a player had at the end of a day."""

    user_id: Uuid
    name: Name
    level: Annotated[Level, Meta(description="limits as in a snapshot")]
    power: Annotated[Power, Meta(description="limits as in a snapshot")]


class BucketStart(Struct, frozen=True, kw_only=True, rename=attribute):
    """Where a bucket begins: the value at its first place, and how many players have more.

    Among equal values the player named is the one whose turn it is by UUID. An index keeps its own order among them, so
    a place inside a tie is a place among equals, not that player's row in a page.
    """

    value: Annotated[Power, Meta(description="that player's level or power")]
    user_id: Uuid
    above: Annotated[limits.Count, Meta(description="how many players have more")]
    through: Annotated[limits.Count, Meta(description="how many players have as much or more")]

    def __post_init__(self) -> None:
        limits.check_power(self.value)
