"""`python -m bench.realtime`: measure, print the table, and write it into README.md and results/realtime.json."""

import argparse
import statistics
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from bench import report
from bench.realtime.load import MeasuredServer, measure_at_rate, measure_one_by_one
from bench.realtime.messages import FRAME_BYTES, broadcast, transient_command
from bench.server_process import allow_sockets, print_progress

PEER = "plain loop"
RATE = 100
SINGLE = "one message after another"
STEADY = f"{RATE} messages a second"
EFFORT = f"{RATE} messages a second, work of the server"
MEMORY = "memory of an idle socket"


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.realtime", description=__doc__)
    parser.add_argument("--sockets", type=int, default=2000, help="readers in the room (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds; the median counts (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=2, help="time of one measurement (default %(default)s)")
    parser.add_argument("--save", action=argparse.BooleanOptionalAction, default=None, help="write README and results")
    return parser.parse_args()


def measure(arguments: argparse.Namespace) -> list[report.Row]:
    """Measure both servers; returns the rows. They take turns to go first, so that noise affects both."""
    ours = MeasuredServer("zataku", "bench.realtime.hub_server", message=transient_command, joins=True)
    peer = MeasuredServer(PEER, "bench.realtime.plain_loop", message=broadcast, joins=False)
    figures: dict[str, dict[str, list[float]]] = {
        case: {ours.name: [], peer.name: []} for case in (SINGLE, STEADY, EFFORT, MEMORY)
    }
    try:
        for server in (ours, peer):
            server.start()
            figures[MEMORY][server.name].append(server.connect_readers(arguments.sockets) / 1024)
            measure_one_by_one(server, 0.3)  # warms up and does not count
        for number in range(arguments.rounds):
            print_progress(f"round {number + 1} of {arguments.rounds}")
            for server in (ours, peer) if number % 2 == 0 else (peer, ours):
                figures[SINGLE][server.name].append(measure_one_by_one(server, arguments.seconds))
                deliveries, per_cpu_second = measure_at_rate(server, RATE, arguments.seconds)
                figures[STEADY][server.name].append(deliveries)
                figures[EFFORT][server.name].append(1e6 / per_cpu_second)
    finally:
        ours.stop()
        peer.stop()

    def row(case: str, unit: str, aim: float | None = None, *, more_is_better: bool = True) -> report.Row:
        by_name = figures[case]
        mine, theirs = statistics.median(by_name[ours.name]), statistics.median(by_name[peer.name])
        return report.row(
            case, ours=mine, peer=theirs, peer_name=PEER, unit=unit, aim=aim, more_is_better=more_is_better
        )

    return [
        row(SINGLE, "deliveries/s", 1.7),
        row(STEADY, "deliveries/s"),
        row(EFFORT, "CPU s per million deliveries", 5, more_is_better=False),
        row(MEMORY, "KiB", more_is_better=False),
    ]


def facts(arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """Facts that the figures depend on."""
    names = ("uvicorn", "uvloop", "websockets", "starlette")
    return [
        *[fact for fact in report.machine(Path(tempfile.gettempdir())) if fact[0] != "disk"],
        ("versions", ", ".join(f"{name} {version(name)}" for name in names)),
        ("room", f"{arguments.sockets:,} sockets on loopback, frames of {FRAME_BYTES} bytes"),
        ("measurement", f"median of {arguments.rounds} rounds of {arguments.seconds:g} s, servers alternating"),
    ]


def main() -> None:
    """Run the benchmark and report it."""
    arguments = options()
    allow_sockets(2 * arguments.sockets)
    began = time.perf_counter()
    run_facts = facts(arguments)
    rows = measure(arguments)
    run_facts.append(("length of the run", f"{time.perf_counter() - began:.0f} s"))
    is_full_run = arguments.sockets == 2000 and arguments.rounds >= 5
    report.publish("realtime", rows, run_facts, save=is_full_run if arguments.save is None else arguments.save)


if __name__ == "__main__":
    main()
