"""The server at a glance."""

from tests.platform.items import TURN, a_job
from tests.server.admin.conftest import ADMIN, AdminApp, Connected
from zataku import __version__


async def test_it_says_what_runs_and_how_much_goes_on(any_admin_app: AdminApp) -> None:
    admin_app = any_admin_app
    system, kind, _ = TURN
    jobs = [a_job(subject=f"{number}") for number in range(5)]
    running = a_job(system=system, kind=kind, subject="run", state="running", owner="web-1")
    dead = a_job(subject="dead", state="dead", due_at=None, died_at=1)
    await admin_app.store.write_many(put=[*jobs, running, dead])
    admin_app.sockets = [Connected(ADMIN, "127.0.0.1", admin_app.clock.now(), [])]
    await admin_app.clock.advance(90)
    told = await admin_app.get("overview")
    assert told["version"] == __version__
    assert (told["env"], told["bus"], told["process"], told["sockets"]) == ("test", "memory", "web-1", 1)
    assert told["uptimeSeconds"] == 90
    assert told["now"] - told["startedAt"] == 90_000
    assert told["rooms"] == [{"kind": "live", "rooms": 2, "people": 7}, {"kind": "drawing", "rooms": 0, "people": 0}]
    assert told["jobs"] == {"waiting": 5, "running": 1, "dead": 1, "more": False}
    assert "transactions" in told["store"]["capabilities"]


async def test_it_says_where_the_store_is(admin_app: AdminApp) -> None:
    store = (await admin_app.get("overview"))["store"]
    assert store["place"] == str(admin_app.folder / "zataku.db")
    assert store["kind"] == "embedded"
    assert store["facts"]
