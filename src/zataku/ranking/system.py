"""Player rankings as the server knows them."""

from pathlib import Path

from zataku.ranking.demo import demo_of
from zataku.ranking.design import TABLES
from zataku.ranking.home import RankingHome, home_of
from zataku.ranking.removal import removal
from zataku.system import AppContext, Page, Plugin, System


def plug(context: AppContext) -> Plugin:
    """The rankings, wired."""
    return Plugin(home=home_of(context), remove=removal(context), demo=demo_of(context))


SYSTEM = System(
    name="ranking",
    about="DailyJob rankings of players",
    tables=TABLES,
    texts=Path(__file__).with_name("texts.toml"),
    home_card=RankingHome,
    pages=(Page(path="/ranking", component="ranking"),),
    plug=plug,
)
