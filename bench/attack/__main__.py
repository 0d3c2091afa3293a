"""`python -m bench.attack`: attack a fresh server, print the tables, and write them into README.md and results/."""

import argparse
import secrets
import sys
import tempfile
import time
from pathlib import Path

from bench import report
from bench.attack import summary
from bench.attack.audience import RATE
from bench.attack.campaign import Campaign, Result
from bench.attack.plan import ATTACKS, Attack, Size
from bench.attack.target import AttackedServer
from bench.server_process import allow_sockets, print_progress

PEOPLE = 200
COMMENTS = 20_000
QUIET_SECONDS = 12.0
_SLOW = ("unread-exports", "idle-connections", "slow-requests")
WARM_UP: list[tuple[list[Attack], Size]] = [
    ([attack for attack in ATTACKS if attack.name not in _SLOW], "short"),
    ([attack for attack in ATTACKS if attack.name == "full-subscriptions"], "full"),
]
"""The attacks that end soon, and the largest crowd."""
_NAMES = tuple(attack.name for attack in ATTACKS)


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.attack", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=_NAMES, default=_NAMES, metavar="ATTACK", help=", ".join(_NAMES))
    parser.add_argument("--seed", type=int, help="randomness of the attackers; printed, so that a run can be repeated")
    parser.add_argument("--size", choices=("full", "short"), default="full", help="bounds of the attacks (%(default)s)")
    parser.add_argument("--people", type=int, default=PEOPLE, help="people in the audience (default %(default)s)")
    parser.add_argument("--quiet", type=float, default=QUIET_SECONDS, help="seconds of each quiet phase (%(default)s)")
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp"), help="where the store is (%(default)s)")
    parser.add_argument("--save", action=argparse.BooleanOptionalAction, default=None, help="write README and results")
    return parser.parse_args()


def attack(arguments: argparse.Namespace, seed: int) -> Result:
    """Attack a fresh server with each of the chosen attacks in turn."""
    groups = [[each] for each in ATTACKS if each.name in arguments.only]
    with tempfile.TemporaryDirectory(prefix="zataku-attack-", dir=arguments.folder) as folder:
        server = AttackedServer(Path(folder), seed, COMMENTS)
        server.start()
        try:
            return Campaign(server, arguments.people, arguments.size, seed).run(
                groups, arguments.quiet, warm_up=WARM_UP
            )
        finally:
            server.stop()


def main() -> None:
    """Attack, report, and end with 1 when a goal is missed."""
    arguments = options()
    allow_sockets(arguments.people)
    seed = secrets.randbits(32) if arguments.seed is None else arguments.seed
    print_progress(f"seed {seed}")
    began, facts = time.perf_counter(), report.machine(arguments.folder)
    result = attack(arguments, seed)
    facts += [
        ("audience", f"{arguments.people} people behind one address, {RATE} comments a second by all of them in turn"),
        ("seed", str(seed)),
        *summary.facts(result),
        ("length of the run", f"{time.perf_counter() - began:.0f} s"),
    ]
    is_full_run = tuple(arguments.only) == _NAMES and arguments.size == "full" and arguments.people == PEOPLE
    save = is_full_run if arguments.save is None else arguments.save
    rows = summary.rows(result, is_full_run=is_full_run)
    phases = summary.attack_table(result)
    print(phases + "\n")
    if save:
        report.write_between(report.HERE / "README.md", "attack-phases", phases)
    report.publish("attack", rows, facts, save=save)
    found = report.HERE / "results" / "attack-exchanges.json"
    if any(outcome.faults or outcome.unanswered for outcome in result.outcomes.values()) or result.errors:
        found.write_bytes(summary.exchanges(result))
        print_progress(f"Faults and unanswered requests are in {found}")
    is_sound = result.is_ready and not result.errors
    sys.exit(0 if is_sound and all(row.met is not False for row in rows) else 1)


if __name__ == "__main__":
    main()
