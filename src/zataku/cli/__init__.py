"""The command line of Zataku."""

import os
import sys
from collections.abc import Sequence

from cyclopts import App

from zataku.cli.serve_command import serve
from zataku.cli.settings_command import settings

INTERRUPTED = 130


def _version() -> str:
    from zataku import __version__

    return __version__


app = App(
    name="zataku",
    help="One table for a community: five systems, one server.",
    version=_version,
    help_format="plaintext",
    suppress_keyboard_interrupt=False,
)
app.command(serve)
app.command(settings)
# By name: --help and --version do not load the table layer.
app.command(
    "zataku.cli.design_commands:app", name="design", help="Look at the designs of tables: list, check, show, export."
)
app.command(
    "zataku.cli.store.commands:app",
    name="store",
    help="Look after the store: state, backups, transfers, upkeep.",
)
app.command(
    "zataku.cli.account_commands:app", name="accounts", help="Look after accounts: passwords, admins, sessions."
)
app.command(
    "zataku.cli.job_commands:app", name="jobs", help="Look at the jobs in the background, try one again or cancel it."
)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0 for success, 1 for an error, 2 for invalid arguments."""
    try:
        code = _exit_code(arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has closed the pipe; Python would complain when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as problem:
        line = _explain(problem)
        if line is None:
            raise
        print(line, file=sys.stderr)
        return 1


def _exit_code(arguments: Sequence[str] | None) -> int:
    try:
        app(arguments)
    except SystemExit as exited:
        return exited.code if isinstance(exited.code, int) else int(exited.code is not None)
    return 0


def _explain(problem: Exception) -> str | None:
    """The line for an error that the operator can act on; None for a fault of the program."""
    from zataku.errors import RequestError
    from zataku.table import TableError

    if isinstance(problem, TableError | RequestError):
        return f"zataku: {problem.message} ({problem.code})"
    if isinstance(problem, OSError) and problem.filename is not None:
        return f"zataku: {problem.filename}: {problem.strerror}. Check the path and your rights. (os_error)"
    return None


def main() -> None:
    """Run the command of this process's arguments."""
    sys.exit(run())
