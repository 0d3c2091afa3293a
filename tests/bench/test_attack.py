"""The attack: its parts, and a short form of all attacks at once against a real server."""

from collections.abc import Iterator
from random import Random

import msgspec
import pytest

from bench.attack.attackers import headers
from bench.attack.attackers.frames import PING, TEXT, frame
from bench.attack.attackers.fuzzed_messages import MessageFuzzer
from bench.attack.attackers.fuzzed_requests import RequestFuzzer, operations
from bench.attack.audience import Phase, quantile
from bench.attack.campaign import QUIET, Campaign, Health, Result
from bench.attack.mutations import mutated_bytes, mutated_json
from bench.attack.newcomers import Visits
from bench.attack.outcome import MAX_KEPT_EXCHANGES, Outcome, combined
from bench.attack.plan import ATTACKS
from bench.attack.samples import SchemaSampler
from bench.attack.summary import exchanges, rows
from bench.attack.target import AttackedServer, Target

SEED = 20_260_221
PEOPLE = 20
COMMENTS = 500
QUIET_SECONDS = 2.0
MAX_GROWTH_BYTES = 150 * 1024 * 1024
"""Far more than the attacks may leave behind, far less than a leak of every message would."""

TARGET = Target(
    port=1, room_id="room", archive_id="archive", moderated_id="moderated", open_id="open", empty_ids=["empty"]
)
DOCUMENT = {
    "paths": {
        "/api/rooms/{room_id}": {
            "get": {"parameters": [{"name": "room_id", "in": "path", "schema": {"type": "string"}}]},
            "post": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/schemas/Name"}}}}},
        }
    },
    "schemas": {"Name": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}},
}


def result(*phases: Phase, outcome: Outcome | None = None, after: int = 100) -> Result:
    return Result(
        phases=list(phases),
        outcomes={"pongs": outcome or Outcome(messages=100_000)},
        before=Health(memory=100, open_files=10),
        after=Health(memory=after, open_files=10),
        errors=[],
        is_ready=True,
    )


def phase(name: str, wait: float = 0.01, **fields: object) -> Phase:
    return msgspec.structs.replace(Phase(name=name, posted=2, waits=[wait, wait], visits=Visits(home=[wait])), **fields)


def missed(of: Result) -> set[str]:
    return {row.case for row in rows(of) if row.met is False}


@pytest.fixture(scope="module")
def short_attack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Result]:
    """The outcome of all attacks at once, in their short form, on a server with a small audience."""
    server = AttackedServer(tmp_path_factory.mktemp("attacked"), SEED, COMMENTS)
    server.environment["ZATAKU_REQUEST_SECONDS"] = "5"
    server.start()
    try:
        yield Campaign(server, PEOPLE, "short", SEED).run([ATTACKS], QUIET_SECONDS)
    finally:
        server.stop()


def test_no_attack_causes_a_fault_of_the_server(short_attack: Result):
    faulty = {name: outcome.faults for name, outcome in short_attack.outcomes.items() if outcome.fault_count}
    assert faulty == {}
    assert short_attack.errors == []


def test_everything_hostile_is_answered_or_closed(short_attack: Result):
    open_ended = {
        name: outcome.unanswered for name, outcome in short_attack.outcomes.items() if outcome.unanswered_count
    }
    assert open_ended == {}


def test_every_attack_has_run(short_attack: Result):
    assert {name: outcome.connections > 0 for name, outcome in short_attack.outcomes.items()} == {
        attack.name: True for attack in ATTACKS
    }
    assert combined(short_attack.outcomes.values()).messages >= 5_000


def test_the_sockets_with_many_subscriptions_are_subscribed(short_attack: Result):
    answers = short_attack.outcomes["full-subscriptions"].answers
    assert answers.get("joined", 0) >= 10 * answers["101"]


def test_the_audience_gets_every_comment_during_the_attack_and_newcomers_get_in(short_attack: Result):
    assert [(it.broken, it.undelivered, it.visits.failures) for it in short_attack.phases] == [(None, 0, [])] * 3
    assert all(it.posted for it in short_attack.phases)


def test_the_server_is_ready_after_the_attack_and_has_its_memory_and_files_back(short_attack: Result):
    assert short_attack.is_ready
    assert short_attack.after.memory - short_attack.before.memory < MAX_GROWTH_BYTES
    assert short_attack.after.open_files <= short_attack.before.open_files + 20


def test_a_run_misses_a_goal_when_the_audience_waits_more_than_three_times_as_long():
    assert missed(result(phase(QUIET), phase("pongs", 0.029))) == set()
    assert missed(result(phase(QUIET), phase("pongs", 0.031))) == {
        "all attacks: p99 of comments",
        "all attacks: p99 of /api/home",
        "pongs: p99 of comments",
        "pongs: p99 of /api/home",
    }


def test_one_attack_that_is_felt_is_a_missed_goal_though_all_together_are_not():
    others = phase("frame-floods", visits=Visits(home=[0.01] * 200), waits=[0.01] * 200)
    assert missed(result(phase(QUIET), phase("pongs", 0.031), others)) == {
        "pongs: p99 of comments",
        "pongs: p99 of /api/home",
    }


def test_a_quiet_phase_that_suffers_from_the_attack_excuses_nothing():
    assert missed(result(phase(QUIET), phase("pongs", 0.031), phase(QUIET, 5))) == {
        "all attacks: p99 of comments",
        "all attacks: p99 of /api/home",
        "pongs: p99 of comments",
        "pongs: p99 of /api/home",
    }


def test_an_attack_is_compared_with_the_quiet_phases_beside_it():
    quiet, slower = phase(QUIET, 0.01), phase(QUIET, 0.02)
    assert missed(result(quiet, phase("pongs", 0.029), slower, phase("headers", 0.059), slower)) == set()
    assert missed(result(slower, phase("pongs", 0.031), quiet, phase("headers", 0.031), slower, slower)) == {
        f"{attack}: p99 of {name}" for attack in ("pongs", "headers") for name in ("comments", "/api/home")
    }


def test_a_part_of_the_attacks_may_send_less():
    few = result(phase(QUIET), outcome=Outcome(messages=1))
    assert [row.case for row in rows(few, is_full_run=False) if row.met is False] == []


@pytest.mark.parametrize(
    ("of", "case"),
    [
        (result(phase(QUIET), phase("pongs", undelivered=1)), "comments that reached everyone"),
        (result(phase(QUIET), phase("pongs", broken="closed")), "comments that reached everyone"),
        (result(phase(QUIET), phase("pongs", broken="refused", posted=0)), "comments that reached everyone"),
        (
            result(phase(QUIET), phase("pongs", visits=Visits(home=[0.01], failures=["timed out"]))),
            "newcomers who got in",
        ),
        (
            result(phase(QUIET), outcome=Outcome(messages=100_000, answers={"500": 1}, fault_count=1)),
            "answers without a fault of the server",
        ),
        (
            result(phase(QUIET), outcome=Outcome(messages=100_000, unanswered_count=1)),
            "hostile requests answered or closed in time",
        ),
        (result(phase(QUIET), after=200), "memory after the attacks"),
        (result(phase(QUIET), outcome=Outcome(messages=99_999)), "hostile messages"),
    ],
    ids=lambda of: of if isinstance(of, str) else "",
)
def test_each_goal_can_be_missed(of: Result, case: str):
    assert missed(of) == {case}


def test_faults_are_kept_with_their_bytes_up_to_a_number():
    outcome = Outcome()
    for number in range(MAX_KEPT_EXCHANGES + 5):
        outcome.fault(b"GET /%d\xff" % number, b"HTTP/1.1 500")
    assert outcome.fault_count == MAX_KEPT_EXCHANGES + 5
    kept = msgspec.json.decode(exchanges(result(outcome=outcome)))["exchanges"]["pongs"]["faults"]
    assert len(kept) == MAX_KEPT_EXCHANGES
    assert kept[0] == {"sent": "GET /0\xff", "received": "HTTP/1.1 500"}


def test_the_same_seed_gives_the_same_mutations():
    def texts(seed: int) -> list[bytes]:
        random = Random(seed)
        value = {"k": "comment", "content": ["x", {"y": 1}]}
        return [mutated_json(value, random) for _ in range(200)] + [mutated_bytes(b"abc", random) for _ in range(50)]

    assert texts(1) == texts(1)
    assert texts(1) != texts(2)
    assert len(set(texts(1))) > 100


def test_requests_go_to_every_operation_of_the_document():
    assert [(it.method, it.path) for it in operations(DOCUMENT)] == [
        ("GET", "/api/rooms/{room_id}"),
        ("POST", "/api/rooms/{room_id}"),
    ]
    fuzzer = RequestFuzzer(DOCUMENT, TARGET, Random(1))
    requests = [fuzzer.request()[0] for _ in range(300)]
    assert any(request.startswith(b"GET /api/rooms/open HTTP/1.1\r\n") for request in requests)
    assert any(request.startswith(b"POST ") and b'{"name":' in request for request in requests)


def test_messages_are_near_the_commands_of_a_room():
    fuzzer = MessageFuzzer(TARGET, Random(1))
    frames = b"".join(fuzzer.frame() for _ in range(2000))
    for text in (b'"t":"join"', b'"t":"do"', b'"k":"comment"', b'"k":"block_word"', b'"k":"react"', b"live/open"):
        assert text in frames


def test_a_sample_follows_references_and_prefers_known_values():
    sampler = SchemaSampler(DOCUMENT, Random(1), {"name": ["known"]})
    assert sampler.value({"$ref": "#/schemas/Name"}) == {"name": "known"}
    assert sampler.value({"enum": ["only"]}) == "only"
    assert 3 <= sampler.value({"type": "integer", "minimum": 3, "maximum": 4}) <= 4


def test_a_frame_has_the_length_that_its_payload_needs():
    assert frame(PING) == b"\x89\x80\0\0\0\0"
    assert frame(TEXT, b"x" * 126)[:4] == b"\x81\xfe\x00\x7e"
    assert frame(TEXT, b"x" * 70_000)[:10] == b"\x81\xff" + (70_000).to_bytes(8)
    assert frame(TEXT, b"x", is_masked=False, reserved=4, last=False) == b"\x41\x01x"


def test_upgrades_have_too_many_headers_and_bodies():
    upgrades = [request for request in headers.requests() if b"Upgrade: websocket" in request]
    assert max(request.count(b"\r\n") for request in upgrades) > 1000
    assert any(b"Transfer-Encoding: chunked" in request for request in upgrades)
    assert max(map(len, upgrades)) > 300_000


def test_the_wait_of_a_share_is_that_of_its_slowest():
    assert quantile([0.001 * number for number in range(1, 101)], 0.99) == pytest.approx(99)
    assert quantile([], 0.99) == 0
