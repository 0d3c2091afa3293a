"""`python -m bench.realtime`: measure, print the table, and write it into README.md and results/realtime.json."""

import argparse
import statistics
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from bench import report
from bench.realtime.load import Contestant, single, steady
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
    """The rows of one run. Who goes first changes from round to round, so that noise hits both alike."""
    ours = Contestant("zataku", "bench.realtime.ours", message=transient_command, joins=True)
    peer = Contestant(PEER, "bench.realtime.plain", message=broadcast, joins=False)
    figures: dict[str, dict[str, list[float]]] = {
        case: {ours.name: [], peer.name: []} for case in (SINGLE, STEADY, EFFORT, MEMORY)
    }
    try:
        for it in (ours, peer):
            it.start()
            figures[MEMORY][it.name].append(it.fill(arguments.sockets) / 1024)
            single(it, 0.3)  # warms up and does not count
        for number in range(arguments.rounds):
            print_progress(f"round {number + 1} of {arguments.rounds}")
            for it in (ours, peer) if number % 2 == 0 else (peer, ours):
                figures[SINGLE][it.name].append(single(it, arguments.seconds))
                deliveries, per_second_of_work = steady(it, RATE, arguments.seconds)
                figures[STEADY][it.name].append(deliveries)
                figures[EFFORT][it.name].append(1e6 / per_second_of_work)
    finally:
        ours.stop()
        peer.stop()

    def row(case: str, unit: str, aim: float | None = None, *, more_is_better: bool = True) -> report.Row:
        found = figures[case]
        mine, theirs = statistics.median(found[ours.name]), statistics.median(found[peer.name])
        return report.row(
            case, ours=mine, peer=theirs, peer_name=PEER, unit=unit, aim=aim, more_is_better=more_is_better
        )

    return [
        row(SINGLE, "deliveries/s", 1.7),
        row(STEADY, "deliveries/s", 5),
        row(EFFORT, "CPU s per million deliveries", 5, more_is_better=False),
        row(MEMORY, "KiB", more_is_better=False),
    ]


def facts(arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """What the figures depend on."""
    names = ("uvicorn", "uvloop", "websockets", "starlette")
    return [
        *[fact for fact in report.machine(Path(tempfile.gettempdir())) if fact[0] != "disk"],
        ("versions", ", ".join(f"{name} {version(name)}" for name in names)),
        ("room", f"{arguments.sockets:,} sockets on loopback, frames of {FRAME_BYTES} bytes"),
        ("measurement", f"median of {arguments.rounds} rounds of {arguments.seconds:g} s, contestants alternating"),
    ]


def main() -> None:
    """Run it."""
    arguments = options()
    allow_sockets(2 * arguments.sockets)
    began = time.perf_counter()
    known = facts(arguments)
    found = measure(arguments)
    known.append(("length of the run", f"{time.perf_counter() - began:.0f} s"))
    whole = arguments.sockets == 2000 and arguments.rounds >= 5
    report.publish("realtime", found, known, save=whole if arguments.save is None else arguments.save)


if __name__ == "__main__":
    main()
