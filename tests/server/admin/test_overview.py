"""The overview on the admin page."""

from tests.platform.items import TURN, a_job
from tests.server.admin.conftest import ADMIN, AdminApp, FakeConnection
from zataku import __version__


async def test_the_overview_has_the_process_its_rooms_and_its_jobs(any_admin_app: AdminApp) -> None:
    admin_app = any_admin_app
    system, kind, _ = TURN
    jobs = [a_job(subject=f"{number}") for number in range(5)]
    running = a_job(system=system, kind=kind, subject="run", state="running", owner="web-1")
    dead = a_job(subject="dead", state="dead", due_at=None, died_at=1)
    await admin_app.store.write_many(put=[*jobs, running, dead])
    admin_app.sockets = [FakeConnection(ADMIN, "127.0.0.1", admin_app.clock.now(), [])]
    await admin_app.clock.advance(90)
    overview = await admin_app.get("overview")
    assert overview["version"] == __version__
    assert (overview["env"], overview["bus"], overview["process"], overview["sockets"]) == (
        "test",
        "memory",
        "web-1",
        1,
    )
    assert overview["uptimeSeconds"] == 90
    assert overview["now"] - overview["startedAt"] == 90_000
    assert overview["rooms"] == [
        {"kind": "live", "rooms": 2, "people": 7},
        {"kind": "drawing", "rooms": 0, "people": 0},
    ]
    assert overview["jobs"] == {"waiting": 5, "running": 1, "dead": 1, "more": False}
    assert "transactions" in overview["store"]["capabilities"]


async def test_the_overview_has_the_place_of_the_store(admin_app: AdminApp) -> None:
    store = (await admin_app.get("overview"))["store"]
    assert store["place"] == str(admin_app.folder / "zataku.db")
    assert store["kind"] == "embedded"
    assert store["facts"]
