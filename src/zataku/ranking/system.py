"""Player rankings, plugged into the server."""

from zataku.ranking.demo import demo_of
from zataku.ranking.design import TABLES
from zataku.ranking.home import home_of
from zataku.ranking.removal import removal
from zataku.system import House, System


def plug(house: House) -> System:
    """Everything that the rankings bring."""
    return System(
        name="ranking",
        tables=TABLES,
        home=home_of(house),
        remove=removal(house),
        demo=demo_of(house),
    )
