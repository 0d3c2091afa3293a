"""Jobs as the admin page lists and moves them."""

from tests.platform.conftest import NOW
from tests.platform.items import a_job
from tests.server.admin.conftest import AdminApp
from zataku.platform.design import Job, job

DEAD = {"system": "othello", "kind": "close_turn", "subject": "dead"}


async def furnished(admin_app: AdminApp) -> None:
    waiting = [a_job(subject=f"turn{number:02d}", due_at=NOW + number * 1000) for number in range(20)]
    runs = a_job(subject="runs", state="running", owner="web-1", due_at=NOW + 60_000, attempts=1)
    lapsed = a_job(subject="lapsed", state="running", owner="web-2", due_at=NOW - 1, attempts=3)
    dead = [
        a_job(subject=name, state="dead", due_at=None, died_at=NOW - age, attempts=40, last_error="no route")
        for name, age in (("dead", 5000), ("deader", 9000))
    ]
    await admin_app.store.write_many(put=[*waiting, runs, lapsed, *dead])


async def listed(admin_app: AdminApp, **query: object) -> list[dict[str, object]]:
    jobs, told = [], await admin_app.get("jobs", **query)
    jobs += told["jobs"]
    while told["next"]:
        told = await admin_app.get("jobs", after=told["next"], **query)
        jobs += told["jobs"]
    return jobs


async def found(admin_app: AdminApp, subject: str) -> Job | None:
    return await admin_app.store.get(job("othello", "close_turn", subject))


async def test_jobs_are_listed_by_what_is_due_first(any_admin_app: AdminApp) -> None:
    await furnished(any_admin_app)
    jobs = await listed(any_admin_app)
    assert len(jobs) == len({each["subject"] for each in jobs}) == 22
    if len(jobs) == len((await any_admin_app.get("jobs"))["jobs"]):
        assert [each["dueAt"] for each in jobs] == sorted(each["dueAt"] for each in jobs)
    by_subject = {each["subject"]: each for each in jobs}
    assert by_subject["lapsed"]["lapsed"] is True
    assert by_subject["runs"]["lapsed"] is False
    assert by_subject["runs"]["owner"] == "web-1"


async def test_pages_leave_nothing_out(admin_app: AdminApp) -> None:
    await furnished(admin_app)
    assert len((await admin_app.get("jobs", limit=4))["jobs"]) == 4
    for state, count in (("waiting", 20), ("running", 2), ("dead", 2)):
        jobs = await listed(admin_app, state=state, limit=4)
        assert len({each["subject"] for each in jobs}) == len(jobs) == count
        assert {each["state"] for each in jobs} == {state}


async def test_dead_jobs_say_what_went_wrong(admin_app: AdminApp) -> None:
    await furnished(admin_app)
    jobs = (await admin_app.get("jobs", state="dead"))["jobs"]
    assert [each["subject"] for each in jobs] == ["dead", "deader"]
    assert jobs[0]["lastError"] == "no route"
    assert jobs[0]["diedAt"] == NOW - 5000
    assert jobs[0]["dueAt"] is None


async def test_a_dead_job_can_be_scheduled_again(any_admin_app: AdminApp) -> None:
    await furnished(any_admin_app)
    answer = await any_admin_app.http.post("/api/admin/jobs/retry", json=DEAD)
    assert answer.status_code == 204
    revived = await found(any_admin_app, "dead")
    assert revived is not None
    assert (revived.state, revived.due_at, revived.attempts) == ("waiting", NOW, 0)


async def test_a_waiting_job_is_done_at_once(any_admin_app: AdminApp) -> None:
    await furnished(any_admin_app)
    for subject in ("turn19", "lapsed"):
        answer = await any_admin_app.http.post("/api/admin/jobs/retry", json=DEAD | {"subject": subject})
        assert answer.status_code == 204
        moved = await found(any_admin_app, subject)
        assert moved is not None
        assert (moved.state, moved.due_at) == ("waiting", NOW)


async def test_what_nobody_runs_can_be_cancelled(admin_app: AdminApp) -> None:
    await furnished(admin_app)
    for subject in ("dead", "turn05", "lapsed"):
        answer = await admin_app.http.post("/api/admin/jobs/cancel", json=DEAD | {"subject": subject})
        assert answer.status_code == 204
        assert await found(admin_app, subject) is None


async def test_a_running_job_is_left_alone(admin_app: AdminApp) -> None:
    await furnished(admin_app)
    before = await found(admin_app, "runs")
    for verb in ("retry", "cancel"):
        assert await admin_app.refusal("POST", f"jobs/{verb}", json=DEAD | {"subject": "runs"}) == (409, "job_running")
        assert await found(admin_app, "runs") == before


async def test_a_job_that_is_done_is_not_found(admin_app: AdminApp) -> None:
    for verb in ("retry", "cancel"):
        assert await admin_app.refusal("POST", f"jobs/{verb}", json=DEAD) == (404, "no_such_job")


NO_JOBS = [
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


async def test_what_names_no_job_is_refused(admin_app: AdminApp) -> None:
    for verb in ("retry", "cancel"):
        told = [(await admin_app.refusal("POST", f"jobs/{verb}", json=wrong))[0] for wrong in NO_JOBS]
        assert told == [400] * len(NO_JOBS)


async def test_a_body_that_is_no_json_is_refused(admin_app: AdminApp) -> None:
    headers = {"content-type": "application/json"}
    for body in (b"{", b"\xff", b""):
        assert (await admin_app.refusal("POST", "jobs/retry", content=body, headers=headers))[0] == 400


async def test_a_place_that_nobody_gave_out_is_refused(admin_app: AdminApp) -> None:
    for after in ("x", "bnVsbA", "eyI5IjoiYSJ9", "eyIwIjoiYSJ9", "e30", "é"):
        assert await admin_app.refusal("GET", "jobs", params={"after": after}) == (400, "bad_cursor")


async def test_what_cannot_be_listed_is_refused(admin_app: AdminApp) -> None:
    for query in ("limit=0", "limit=401", "limit=x", "state=done"):
        assert (await admin_app.refusal("GET", f"jobs?{query}"))[0] == 400
