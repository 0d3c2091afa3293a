"""Jobs on the admin page: listed, retried and cancelled."""

from tests.platform.conftest import NOW
from tests.platform.items import a_job
from tests.server.admin.conftest import AdminApp
from zataku.platform.design import Job, job

DEAD = {"system": "othello", "kind": "close_turn", "subject": "dead"}


async def fill_store(admin_app: AdminApp) -> None:
    waiting = [a_job(subject=f"turn{number:02d}", due_at=NOW + number * 1000) for number in range(20)]
    running = a_job(subject="runs", state="running", owner="web-1", due_at=NOW + 60_000, attempts=1)
    lapsed = a_job(subject="lapsed", state="running", owner="web-2", due_at=NOW - 1, attempts=3)
    dead = [
        a_job(subject=name, state="dead", due_at=None, died_at=NOW - age, attempts=40, last_error="no route")
        for name, age in (("dead", 5000), ("deader", 9000))
    ]
    await admin_app.store.write_many(put=[*waiting, running, lapsed, *dead])


async def list_jobs(admin_app: AdminApp, **query: object) -> list[dict[str, object]]:
    page = await admin_app.get("jobs", **query)
    jobs = list(page["jobs"])
    while page["next"]:
        page = await admin_app.get("jobs", after=page["next"], **query)
        jobs += page["jobs"]
    return jobs


async def stored_job(admin_app: AdminApp, subject: str) -> Job | None:
    return await admin_app.store.get(job("othello", "close_turn", subject))


async def test_jobs_are_listed_by_due_time(any_admin_app: AdminApp) -> None:
    await fill_store(any_admin_app)
    jobs = await list_jobs(any_admin_app)
    assert len(jobs) == len({job["subject"] for job in jobs}) == 22
    if len(jobs) == len((await any_admin_app.get("jobs"))["jobs"]):
        assert [job["dueAt"] for job in jobs] == sorted(job["dueAt"] for job in jobs)
    by_subject = {job["subject"]: job for job in jobs}
    assert by_subject["lapsed"]["lapsed"] is True
    assert by_subject["runs"]["lapsed"] is False
    assert by_subject["runs"]["owner"] == "web-1"


async def test_the_pages_of_a_list_show_every_job_once(admin_app: AdminApp) -> None:
    await fill_store(admin_app)
    assert len((await admin_app.get("jobs", limit=4))["jobs"]) == 4
    for state, count in (("waiting", 20), ("running", 2), ("dead", 2)):
        jobs = await list_jobs(admin_app, state=state, limit=4)
        assert len({job["subject"] for job in jobs}) == len(jobs) == count
        assert {job["state"] for job in jobs} == {state}


async def test_dead_jobs_have_their_last_error(admin_app: AdminApp) -> None:
    await fill_store(admin_app)
    jobs = (await admin_app.get("jobs", state="dead"))["jobs"]
    assert [job["subject"] for job in jobs] == ["dead", "deader"]
    assert jobs[0]["lastError"] == "no route"
    assert jobs[0]["diedAt"] == NOW - 5000
    assert jobs[0]["dueAt"] is None


async def test_a_dead_job_can_be_scheduled_again(any_admin_app: AdminApp) -> None:
    await fill_store(any_admin_app)
    response = await any_admin_app.http.post("/api/admin/jobs/retry", json=DEAD)
    assert response.status_code == 204
    revived = await stored_job(any_admin_app, "dead")
    assert revived is not None
    assert (revived.state, revived.due_at, revived.attempts) == ("waiting", NOW, 0)


async def test_a_waiting_job_can_be_made_due_now(any_admin_app: AdminApp) -> None:
    await fill_store(any_admin_app)
    for subject in ("turn19", "lapsed"):
        response = await any_admin_app.http.post("/api/admin/jobs/retry", json=DEAD | {"subject": subject})
        assert response.status_code == 204
        moved = await stored_job(any_admin_app, subject)
        assert moved is not None
        assert (moved.state, moved.due_at) == ("waiting", NOW)


async def test_a_job_that_does_not_run_can_be_cancelled(admin_app: AdminApp) -> None:
    await fill_store(admin_app)
    for subject in ("dead", "turn05", "lapsed"):
        response = await admin_app.http.post("/api/admin/jobs/cancel", json=DEAD | {"subject": subject})
        assert response.status_code == 204
        assert await stored_job(admin_app, subject) is None


async def test_a_running_job_is_neither_retried_nor_cancelled(admin_app: AdminApp) -> None:
    await fill_store(admin_app)
    before = await stored_job(admin_app, "runs")
    for action in ("retry", "cancel"):
        assert await admin_app.refusal("POST", f"jobs/{action}", json=DEAD | {"subject": "runs"}) == (
            409,
            "job_running",
        )
        assert await stored_job(admin_app, "runs") == before


async def test_a_missing_job_is_reported_as_not_found(admin_app: AdminApp) -> None:
    for action in ("retry", "cancel"):
        assert await admin_app.refusal("POST", f"jobs/{action}", json=DEAD) == (404, "no_such_job")


INVALID_NAMES = [
    {},
    {"system": "othello"},
    DEAD | {"system": "Chess"},
    DEAD | {"kind": "CLOSE"},
    DEAD | {"subject": "with space"},
    DEAD | {"subject": ""},
    DEAD | {"more": 1},
    [],
    None,
]


async def test_invalid_job_names_are_refused(admin_app: AdminApp) -> None:
    for action in ("retry", "cancel"):
        statuses = [(await admin_app.refusal("POST", f"jobs/{action}", json=body))[0] for body in INVALID_NAMES]
        assert statuses == [400] * len(INVALID_NAMES)


async def test_a_body_that_is_not_json_is_refused(admin_app: AdminApp) -> None:
    headers = {"content-type": "application/json"}
    for body in (b"{", b"\xff", b""):
        assert (await admin_app.refusal("POST", "jobs/retry", content=body, headers=headers))[0] == 400


async def test_an_invalid_cursor_is_refused(admin_app: AdminApp) -> None:
    for after in ("x", "bnVsbA", "eyI5IjoiYSJ9", "eyIwIjoiYSJ9", "e30", "é"):
        assert await admin_app.refusal("GET", "jobs", params={"after": after}) == (400, "bad_cursor")


async def test_invalid_list_parameters_are_refused(admin_app: AdminApp) -> None:
    for query in ("limit=0", "limit=401", "limit=x", "state=done"):
        assert (await admin_app.refusal("GET", f"jobs?{query}"))[0] == 400
