"""What went wrong, in one line for the person at the keyboard."""

from zataku.errors import RequestError
from zataku.table import TableError


def told(problem: Exception) -> str | None:
    """The line for an error that a person can do something about; None for one that is a fault of the program."""
    if isinstance(problem, TableError):
        return f"zataku: {problem.message} ({problem.code})"
    if isinstance(problem, RequestError):
        return f"zataku: {problem.message} ({problem.code})"
    if isinstance(problem, OSError) and problem.filename is not None:
        return f"zataku: {problem.filename}: {problem.strerror}. Check the path and your rights. (os_error)"
    return None
