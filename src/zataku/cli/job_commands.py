"""Commands about jobs: what the server has to do at some time, does now, or has given up."""

from datetime import UTC, datetime
from typing import Annotated

from cyclopts import App, Parameter

from zataku.cli import job_operations
from zataku.cli.account_commands import HERE, Where
from zataku.cli.execution import finished
from zataku.cli.output import columns
from zataku.platform.limits import JobKind, Subject, System

app = App(name="jobs", help_format="plaintext")

# Off unless it is given; there is nothing to take back.
Flag = Annotated[bool, Parameter(negative="")]
_LOOK = "Look with `zataku jobs`, then try again."


@app.default
def list_(*, where: Where = HERE, most: int = 100, json: Flag = False) -> int:
    """List jobs: dead ones first, then those that run or wait, by their due time. It works beside a running server.

    Parameters
    ----------
    most
        How many to list at most.
    json
        Print them for a program.
    """
    found = finished(job_operations.listed(where.house(), most), "Nothing was changed.")
    if json:
        print(job_operations.as_json(found))
        return 0
    if not found.jobs:
        print("There are no jobs.")
        return 0
    rows = [
        (it.state, _moment(it.at), it.system, it.kind, it.subject, str(it.attempts), it.owner or "", it.error or "")
        for it in found.jobs
    ]
    columns(("state", "due", "system", "kind", "subject", "attempts", "by", "last error"), rows, right=("attempts",))
    if found.more:
        print(f"\nThere are more than {len(rows):,}. See them with --most.")
    return 0


@app.command
def retry(system: System, kind: JobKind, subject: Subject, /, *, where: Where = HERE) -> int:
    """Have a job run now: one that is dead, or that waits for its time. A running one is left alone.

    Parameters
    ----------
    system
        Whose job it is, as `zataku jobs` shows it.
    kind
        What it does.
    subject
        What it is about.
    """
    print(finished(job_operations.retried(where.house(), (system, kind, subject)), _LOOK))
    return 0


@app.command
def cancel(system: System, kind: JobKind, subject: Subject, /, *, where: Where = HERE) -> int:
    """Take a job away. What it was to do is not done, unless it runs already.

    Parameters
    ----------
    system
        Whose job it is, as `zataku jobs` shows it.
    kind
        What it does.
    subject
        What it is about.
    """
    print(finished(job_operations.cancelled(where.house(), (system, kind, subject)), _LOOK))
    return 0


def _moment(millis: int) -> str:
    return datetime.fromtimestamp(millis / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
