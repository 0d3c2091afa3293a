"""The codes and sentences of errors that no system words itself."""

from zataku.errors import Conflict, InvalidRequest, OutcomeUnknown, RequestError, Unavailable
from zataku.table import (
    BadCursor,
    BadInput,
    ConditionFailed,
    IndexNotReady,
    ResultUnknown,
    StoreClosed,
    StoreFull,
    StoreUnreachable,
    TableError,
    Throttled,
    TransactionCancelled,
)
from zataku.table import Conflict as TableConflict

CODES = {
    400: ("bad_request", "The request could not be understood. Check its address, headers and body."),
    401: ("unauthorized", "Say who you are first."),
    403: ("forbidden", "You may not do that here."),
    404: ("not_found", "There is nothing at this address. Check the path."),
    405: ("method_not_allowed", "This address exists, but not for this method."),
    413: ("too_large", "The body is too large. Send less."),
    415: ("unsupported_media_type", "Send the body as application/json."),
    429: ("too_many_requests", "Too many requests. Wait a moment and try again."),
    500: ("internal", "Something broke on our side. The server's log has it under the reference in details."),
    503: ("unavailable", "The server cannot take this now. Try again in a moment."),
}
INVALID = ("invalid", "Some values are not as they must be. See details.")


def of_table(problem: TableError) -> RequestError | None:
    """The refusal that a store's error means to a caller; None for one that is a fault of ours.

    What the store says is for the host: it may name tables and keys, which are nobody else's business.
    """
    match problem:
        case BadCursor():
            return InvalidRequest(
                "The cursor does not belong to this list. Start from its beginning.", code="bad_cursor"
            )
        case BadInput():
            return None
        case TransactionCancelled() if not problem.conflict:
            return _overtaken()
        case ConditionFailed():
            return _overtaken()
        case ResultUnknown():
            return OutcomeUnknown("Nobody knows whether it was kept. Look before asking again.")
        case Throttled() | TableConflict() | TransactionCancelled() | StoreUnreachable() | IndexNotReady():
            return Unavailable("The store is busy. Try again in a moment.")
        case StoreFull():
            return Unavailable("The disk of the server is full. Tell whoever runs it.", code="store_full")
        case StoreClosed():
            return Unavailable("The server is stopping. Try again in a moment.")
        case _:
            return None


def _overtaken() -> Conflict:
    return Conflict("It has changed meanwhile. Look again, then try once more.")
