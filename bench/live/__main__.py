"""`python -m bench.live`: measure, print the table, and write it with its picture into README.md and results/."""

import argparse
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from bench import report
from bench.live import summary
from bench.live.clients import PER_ADDRESS
from bench.live.comments import content, told
from bench.live.measurement import PATIENCE, Round, room_of
from bench.live.servers import Contestant, Ours, Plain
from bench.live.summary import Measured
from bench.server_process import allow_sockets, print_progress
from zataku.realtime.sockets import frames

RATES = (1, 10, 50, 200)
PEOPLE = 5000
LEAST_SAID = 20
"""A slow rate goes on for longer, until there are so many comments to take a median of."""


def options() -> argparse.Namespace:
    """What may be asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.live", description=__doc__)
    parser.add_argument("--sockets", type=int, default=PEOPLE, help="people in the room (default %(default)s)")
    parser.add_argument("--rates", type=int, nargs="+", default=RATES, help="comments a second (default 1 10 50 200)")
    parser.add_argument("--seconds", type=float, default=10, help="time of one measurement (default %(default)s)")
    # /tmp is memory on many machines; a durable write must meet a disk.
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp"), help="where the store lies (%(default)s)")
    parser.add_argument("--save", action=argparse.BooleanOptionalAction, default=None, help="write README and results")
    asked = parser.parse_args()
    if report.file_system(asked.folder) == "tmpfs":
        parser.error(f"{asked.folder} is memory, where a durable write means nothing. Give a disk with --folder.")
    if asked.sockets < max(asked.rates):
        parser.error("Nobody may comment more than once a second: there must be as many sockets as comments a second.")
    return asked


def measure(make: Callable[[], Contestant], asked: argparse.Namespace) -> Measured:
    """A round for each rate. A server that has fallen behind is left, and the next rate begins with a fresh one."""
    rounds: list[Round] = []
    rates = list(asked.rates)
    said = deliveries = memory = 0
    per_socket = 0.0
    while rates:
        with room_of(make(), asked.sockets) as room:
            behind = False
            while rates and not behind:
                rate = rates.pop(0)
                found = room.round(rate, max(asked.seconds, LEAST_SAID / rate))
                print_progress(f"{room.contestant.name}: {found.summary}")
                rounds.append(found)
                behind = found.fell_behind
            if not behind:
                room.warm_up()
            said += room.said * asked.sockets
            deliveries += room.audience.deliveries
            memory = max(memory, room.contestant.memory())
            per_socket = per_socket or room.per_socket
    return Measured(rounds=rounds, said=said, deliveries=deliveries, per_socket=per_socket, memory=memory)


def facts(asked: argparse.Namespace) -> list[tuple[str, str]]:
    """What the figures depend on."""
    names = ("uvicorn", "uvloop", "websockets", "starlette", "apsw")
    spread = f"{PER_ADDRESS} to an address of loopback"
    patience = f"then at most {PATIENCE:g} s until everybody has got everything"
    return [
        *report.machine(asked.folder),
        ("versions", ", ".join(f"{name} {version(name)}" for name in names)),
        ("room", f"{asked.sockets:,} sockets of as many guests, {spread}; comments by all of them in turn"),
        ("comment", f"{len(content(1))} characters; a frame of {len(frames.text(told(1)))} bytes when it comes alone"),
        ("measurement", f"{asked.seconds:g} s and at least {LEAST_SAID} comments at each rate, {patience}"),
    ]


def main() -> None:
    """Run it."""
    asked = options()
    allow_sockets(asked.sockets)
    began = time.perf_counter()
    known = facts(asked)
    with tempfile.TemporaryDirectory(prefix="zataku-bench-", dir=asked.folder) as folder:
        ours = measure(lambda: Ours(Path(tempfile.mkdtemp(dir=folder))), asked)
    peer = measure(Plain, asked)
    known += summary.facts(ours, peer)
    known.append(("length of the run", f"{time.perf_counter() - began:.0f} s"))
    whole = asked.sockets == PEOPLE and tuple(asked.rates) == RATES
    save = whole if asked.save is None else asked.save
    if save:
        (report.HERE / "results" / "live.svg").write_text(summary.picture(ours, peer, asked.sockets), encoding="utf-8")
    report.publish("live", summary.rows(ours, peer), known, save=save)


if __name__ == "__main__":
    main()
