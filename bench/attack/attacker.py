"""`python -m bench.attack.attacker`: the attacks of one process, whose outcomes are printed as JSON."""

import asyncio
import os
import subprocess
import sys
from random import Random

import msgspec

from bench.attack.outcome import Outcome
from bench.attack.plan import ATTACKS, Size
from bench.attack.target import Target
from bench.server_process import allow_sockets

_SOCKETS = 5_000


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """The attacks that a process runs at the same time against a target."""

    target: Target
    names: list[str]
    size: Size
    seed: int


def start(order: Order) -> subprocess.Popen[bytes]:
    """Start a process that runs attacks; its outcomes are read with `outcomes`."""
    command = [sys.executable, "-m", "bench.attack.attacker", msgspec.json.encode(order).decode()]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)


def outcomes(process: subprocess.Popen[bytes]) -> dict[str, Outcome]:
    """The outcomes of an ended process, by the names of the attacks."""
    printed, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"The attackers ended with {process.returncode}.")
    return msgspec.json.decode(printed, type=dict[str, Outcome])


async def run(order: Order) -> dict[str, Outcome]:
    """Run the attacks of an order at the same time, each with randomness of its own."""
    attacks = [attack for attack in ATTACKS if attack.name in order.names]
    runs = [
        attack.run(order.target, attack.bounds(order.size), Random(f"{order.seed} {attack.name}")) for attack in attacks
    ]
    return dict(zip((attack.name for attack in attacks), await asyncio.gather(*runs), strict=True))


def main() -> None:
    """Run the order given as JSON on the command line."""
    # Attackers are other machines: here they only use the processor while neither server nor audience needs it.
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    allow_sockets(_SOCKETS)
    order = msgspec.json.decode(sys.argv[1], type=Order)
    # Thousands of resets are expected, and none of them is worth a line.
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda _loop, _context: None)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        found = runner.run(run(order))
    sys.stdout.buffer.write(msgspec.json.encode(found))


if __name__ == "__main__":
    main()
