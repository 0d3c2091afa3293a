"""`python -m bench.live`: measure, print the table, and write it with its chart into README.md and results/."""

import argparse
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from bench import report
from bench.live import summary
from bench.live.clients import CLIENTS_PER_ADDRESS
from bench.live.comments import content, event_message
from bench.live.measurement import DRAIN_SECONDS, Round, measured_room
from bench.live.servers import MeasuredServer, PlainLoopServer, ZatakuServer
from bench.live.summary import Measured
from bench.server_process import allow_sockets, print_progress
from zataku.realtime.sockets.connection import text_frame

RATES = (1, 10, 50, 200)
SOCKETS = 5000
MIN_COMMENTS = 20
"""A slow rate is measured for longer, until there are this many comments for a median."""


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.live", description=__doc__)
    parser.add_argument("--sockets", type=int, default=SOCKETS, help="clients in the room (default %(default)s)")
    parser.add_argument("--rates", type=int, nargs="+", default=RATES, help="comments a second (default 1 10 50 200)")
    parser.add_argument("--seconds", type=float, default=10, help="time of one measurement (default %(default)s)")
    # /tmp is memory on many machines; a durable write needs a disk.
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp"), help="where the store is (%(default)s)")
    parser.add_argument("--save", action=argparse.BooleanOptionalAction, default=None, help="write README and results")
    arguments = parser.parse_args()
    if report.file_system(arguments.folder) == "tmpfs":
        parser.error(f"{arguments.folder} is memory, where a durable write means nothing. Give a disk with --folder.")
    if arguments.sockets < max(arguments.rates):
        parser.error(
            "A guest may comment once a second, so there must be at least as many sockets as comments a second."
        )
    return arguments


def measure(make: Callable[[], MeasuredServer], arguments: argparse.Namespace) -> Measured:
    """Measure a round for each rate. A server that has fallen behind is replaced by a new one for the next rate."""
    rounds: list[Round] = []
    rates = list(arguments.rates)
    posted = deliveries = memory = 0
    per_socket = 0.0
    while rates:
        with measured_room(make(), arguments.sockets) as room:
            fell_behind = False
            while rates and not fell_behind:
                rate = rates.pop(0)
                measured = room.round(rate, max(arguments.seconds, MIN_COMMENTS / rate))
                print_progress(f"{room.server.name}: {measured.summary}")
                rounds.append(measured)
                fell_behind = measured.fell_behind
            if not fell_behind:
                room.warm_up()
            posted += room.posted * arguments.sockets
            deliveries += room.audience.deliveries
            memory = max(memory, room.server.memory())
            per_socket = per_socket or room.per_socket
    return Measured(rounds=rounds, posted=posted, deliveries=deliveries, per_socket=per_socket, memory=memory)


def facts(arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """Facts that the figures depend on."""
    names = ("uvicorn", "uvloop", "websockets", "starlette", "apsw")
    addresses = f"{CLIENTS_PER_ADDRESS} per loopback address"
    drain = f"then at most {DRAIN_SECONDS:g} s until every client has every comment"
    return [
        *report.machine(arguments.folder),
        ("versions", ", ".join(f"{name} {version(name)}" for name in names)),
        ("room", f"{arguments.sockets:,} sockets of as many guests, {addresses}; comments by all of them in turn"),
        (
            "comment",
            f"{len(content(1))} characters; a frame of {len(text_frame(event_message(1)))} bytes when sent alone",
        ),
        ("measurement", f"{arguments.seconds:g} s and at least {MIN_COMMENTS} comments at each rate, {drain}"),
    ]


def main() -> None:
    """Run the benchmark and report it."""
    arguments = options()
    allow_sockets(arguments.sockets)
    began = time.perf_counter()
    run_facts = facts(arguments)
    with tempfile.TemporaryDirectory(prefix="zataku-bench-", dir=arguments.folder) as folder:
        ours = measure(lambda: ZatakuServer(Path(tempfile.mkdtemp(dir=folder))), arguments)
    peer = measure(PlainLoopServer, arguments)
    run_facts += summary.facts(ours, peer)
    run_facts.append(("length of the run", f"{time.perf_counter() - began:.0f} s"))
    is_full_run = arguments.sockets == SOCKETS and tuple(arguments.rates) == RATES
    save = is_full_run if arguments.save is None else arguments.save
    if save:
        (report.HERE / "results" / "live.svg").write_text(
            summary.chart_of(ours, peer, arguments.sockets), encoding="utf-8"
        )
    report.publish("live", summary.rows(ours, peer), run_facts, save=save)


if __name__ == "__main__":
    main()
