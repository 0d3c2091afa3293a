"""The summary of a run: a table of the attacks, the rows with their aims, and the exchanges behind every fault."""

from collections.abc import Callable, Sequence
from statistics import median_low

import msgspec

from bench import report
from bench.attack.audience import Phase, quantile
from bench.attack.campaign import QUIET, Result
from bench.attack.outcome import Outcome, combined

SLOWDOWN = 3
"""How many times longer the audience may wait during an attack than in the quieter of the quiet phases beside it."""
WHOLE = "all attacks"
"""The row for what the audience waited in all of them together, beside the median of the quiet phases."""
MIN_MESSAGES = 100_000
"""What all attacks send together at least; a part of them has no such goal."""
MEMORY_RATIO = 0.75
"""Memory before the attacks divided by that after them; the allocator keeps some of what was freed."""
_MIB = 1024 * 1024
_SHOWN_ANSWERS = 4


def rows(result: Result, *, is_full_run: bool = True) -> list[report.Row]:
    """A row for every goal."""
    total = combined(result.outcomes.values())
    posted = sum(phase.posted for phase in result.phases)
    visits = sum(len(phase.visits.home) for phase in result.phases)
    failed = sum(len(phase.visits.failures) for phase in result.phases)
    answers, unanswered = total.answer_count, total.unanswered_count
    return [
        *_wait_rows(result, "comments", lambda phase: phase.waits),
        *_wait_rows(result, "/api/home", lambda phase: phase.visits.home),
        _share("comments that reached everyone", posted - _lost(result.phases), posted, "comments"),
        _share("newcomers who got in", visits, visits + failed, "visits"),
        _share("answers without a fault of the server", answers - total.fault_count, answers, "answers"),
        _share("hostile requests answered or closed in time", answers, answers + unanswered, "requests"),
        report.row(
            "memory after the attacks",
            ours=result.after.memory / _MIB,
            peer=result.before.memory / _MIB,
            peer_name="before",
            unit="MiB",
            aim=MEMORY_RATIO,
            more_is_better=False,
        ),
        report.row(
            "hostile messages",
            ours=total.messages,
            peer=MIN_MESSAGES,
            peer_name="at least",
            unit="messages",
            aim=1 if is_full_run else None,
        ),
    ]


def attack_table(result: Result) -> str:
    """A Markdown table with a line for each attack: what was sent, what came back, and what the audience noticed."""
    names = ("seconds", "messages", "connections", "faults", "unanswered", "most frequent answers")
    measured = ("comments p50, p99, max ms", "home p99 ms", "server", "memory before, peak, after MiB")
    lines = ["| " + " | ".join(("phase", *names, *measured)) + " |"]
    lines.append("| --- | ---: | ---: | ---: | ---: | ---: | --- | --- | ---: | ---: | --- |")
    for phase in result.phases:
        if phase.name == QUIET:
            continue
        outcome = combined(result.outcomes[name] for name in phase.name.split() if name in result.outcomes)
        waits = ", ".join(report.figure(quantile(phase.waits, share)) for share in (0.5, 0.99, 1))
        memory = ", ".join(str(of // _MIB) for of in (phase.memory_before, phase.memory_peak, phase.memory_after))
        lines.append(
            f"| {phase.name} | {phase.seconds:.0f} | {outcome.messages:,} | {outcome.connections:,} "
            f"| {outcome.fault_count} | {outcome.unanswered_count} | {_answers(outcome)} "
            f"| {waits} | {report.figure(quantile(phase.visits.home, 0.99))} "
            f"| {phase.server_share:.0%} | {memory} |"
        )
    return "\n".join(lines)


def facts(result: Result) -> list[tuple[str, str]]:
    """Facts of the run beside its rows."""
    lines = [
        ("open files of the server", f"{result.before.open_files} before, {result.after.open_files} after"),
        ("faults in the log", str(len(result.errors))),
    ]
    lines += [(f"audience during {phase.name}", phase.broken) for phase in result.phases if phase.broken]
    lines += [
        (
            f"newcomers during {phase.name}",
            f"{len(phase.visits.failures)} failed, the first: {phase.visits.failures[0]}",
        )
        for phase in result.phases
        if phase.visits.failures
    ]
    return lines


def exchanges(result: Result) -> bytes:
    """The faults and the unanswered requests of each attack as JSON, with the bytes that repeat them."""
    found = {
        name: {"faults": outcome.faults, "unanswered": outcome.unanswered}
        for name, outcome in result.outcomes.items()
        if outcome.faults or outcome.unanswered
    }
    content = msgspec.json.encode({"exchanges": found, "log": result.errors[:100]})
    return msgspec.json.format(content, indent=2) + b"\n"


def _wait_rows(result: Result, name: str, waits: Callable[[Phase], list[float]]) -> list[report.Row]:
    def slowest(phase: Phase) -> float:
        return quantile(waits(phase), 0.99)

    whole = [wait for phase, _ in result.attacks for wait in waits(phase)]
    figures = [(WHOLE, quantile(whole, 0.99), median_low(map(slowest, result.quiet)))]
    # Of a quiet phase that still suffers from the attack before it nothing may be measured.
    figures += [(phase.name, slowest(phase), min(map(slowest, quiet))) for phase, quiet in result.attacks]
    return [
        report.row(
            f"{attack}: p99 of {name}",
            ours=ours,
            peer=quiet,
            peer_name=QUIET,
            unit="ms",
            aim=round(1 / SLOWDOWN, 3),
            more_is_better=False,
        )
        for attack, ours, quiet in figures
    ]


def _share(case: str, good: int, of: int, unit: str) -> report.Row:
    return report.row(case, ours=good, peer=of, peer_name="all", unit=unit, aim=1)


def _lost(phases: Sequence[Phase]) -> int:
    """Comments that did not reach everyone; of a phase that broke the audience, all of them, and at least one."""
    return sum(max(phase.posted, 1) if phase.broken else phase.undelivered for phase in phases)


def _answers(outcome: Outcome) -> str:
    ordered = sorted(outcome.answers.items(), key=lambda item: -item[1])
    return ", ".join(f"{kind} {count:,}" for kind, count in ordered[:_SHOWN_ANSWERS])
