"""Player rankings, plugged into the server."""

from zataku.ranking.demo import demo_of
from zataku.ranking.design import TABLES
from zataku.ranking.home import home_of
from zataku.ranking.removal import removal
from zataku.system import AppContext, System


def plug(context: AppContext) -> System:
    """Everything that the rankings bring."""
    return System(
        name="ranking",
        tables=TABLES,
        home=home_of(context),
        remove=removal(context),
        demo=demo_of(context),
    )
