"""Error responses of the service as errors of a store."""

from collections.abc import Callable
from typing import Any

from zataku.table.backend.errors import (
    CONDITION_FAILED_MESSAGE,
    CONFLICT_MESSAGE,
    REPLY_LOST_MESSAGE,
    THROTTLED_MESSAGE,
    TOKEN_REUSED_MESSAGE,
    BadCursor,
    BadInput,
    BadKey,
    BadNumber,
    BadUpdate,
    ConditionFailed,
    Conflict,
    IndexNotReady,
    ItemTooLarge,
    LacksCapability,
    NotGranted,
    Reason,
    ResultUnknown,
    SameItemTwice,
    SchemaRefused,
    StoreUnreachable,
    TableError,
    Throttled,
    TokenReused,
    TransactionCancelled,
    TransactionTooLarge,
    WrongType,
)
from zataku.table.backend.wire import item_of

_THROTTLING_CODES = {
    "ProvisionedThroughputExceededException",
    "ProvisionedThroughputExceeded",
    "ThrottlingException",
    "Throttling",
    "RequestLimitExceeded",
    "LimitExceededException",
}
_NOT_GRANTED_CODES = {
    "AccessDeniedException",
    "AccessDenied",
    "UnrecognizedClientException",
    "InvalidSignatureException",
    "IncompleteSignatureException",
    "MissingAuthenticationTokenException",
    "MissingAuthenticationToken",
    "ExpiredTokenException",
    "ExpiredToken",
    "OptInRequired",
}
_REASON_CODES = {
    "ConditionalCheckFailed": "condition_failed",
    "TransactionConflict": "conflict",
    "ProvisionedThroughputExceeded": "throttled",
    "ThrottlingError": "throttled",
    "ItemCollectionSizeLimitExceeded": "invalid",
    "ValidationError": "invalid",
}


def error_from_response(operation: str, response: dict[str, Any], *, is_write: bool) -> TableError:
    """The error of an error response."""
    code, message = str(response["Error"].get("Code", "")), str(response["Error"].get("Message", ""))
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    match code:
        case "ConditionalCheckFailedException":
            stored = response.get("Item")
            current = None if not stored else item_of(stored)
            return ConditionFailed(CONDITION_FAILED_MESSAGE, current=current)
        case "TransactionCanceledException":
            return transaction_cancelled(response.get("CancellationReasons", []))
        case "TransactionConflictException" | "TransactionInProgressException" | "ReplicatedWriteConflictException":
            return Conflict(CONFLICT_MESSAGE)
        case "IdempotentParameterMismatchException":
            return TokenReused(TOKEN_REUSED_MESSAGE)
        case "ItemCollectionSizeLimitExceededException":
            return ItemTooLarge("The items of one partition of a table with local indexes pass 10 GB. Spread them.")
        case "UnknownOperationException":
            return LacksCapability(f"The service has no operation {operation}. Use a service that has it.")
        case "ResourceNotFoundException" | "TableNotFoundException" | "ResourceInUseException":
            return SchemaRefused(f"{operation}: {message}", code=code)
        case _ if code in _THROTTLING_CODES:
            return Throttled(THROTTLED_MESSAGE)
        case _ if code in _NOT_GRANTED_CODES:
            return NotGranted(f"{operation} was refused: {message or code}")
        case _ if status >= 500 or code in ("InternalServerError", "ServiceUnavailable"):
            return (result_unknown if is_write else unreachable)(operation, f"{code} {message}")
        case "ValidationException":
            return validation_error(message)
        case _:
            return TableError(f"{operation} was refused: {code} {message}", code=code)


def validation_error(message: str) -> TableError:
    """The error of a refused request, by the wording of the service's message; `BadInput` for an unknown wording."""
    for part, make_error in _VALIDATION_ERRORS:
        if part in message:
            return make_error(message)
    return BadInput(f"The service refused the call: {message.rstrip('.')}. Change it.")


def _with_advice(error: type[TableError], advice: str) -> Callable[[str], TableError]:
    return lambda message: error(f"{message.rstrip('.')}. {advice}")


# Parts of the service's messages, the more specific ones first.
_VALIDATION_ERRORS: tuple[tuple[str, Callable[[str], TableError]], ...] = (
    ("backfilling", _with_advice(IndexNotReady, "Try again when the index is filled.")),
    (
        "specified index",
        _with_advice(IndexNotReady, "Try again when the index is there, or start a store that may make it."),
    ),
    ("Item size", _with_advice(ItemTooLarge, "Split it, or keep the large part elsewhere.")),
    ("item size", _with_advice(ItemTooLarge, "Split it, or keep the large part elsewhere.")),
    ("Number overflow", _with_advice(BadNumber, "Scale it first.")),
    ("Number underflow", _with_advice(BadNumber, "Scale it first.")),
    ("significant digits", _with_advice(BadNumber, "Round it first.")),
    ("numeric value", _with_advice(BadNumber, "Scale it first.")),
    ("Type mismatch", _with_advice(WrongType, "Give it a value of its type.")),
    ("unsupported type", _with_advice(WrongType, "Give it a value of its type.")),
    ("empty string value", _with_advice(BadKey, "Give it a value.")),
    ("empty binary value", _with_advice(BadKey, "Give it a value.")),
    ("hashkey", _with_advice(BadKey, "Shorten it.")),
    ("rangekey", _with_advice(BadKey, "Shorten it.")),
    ("key size", _with_advice(BadKey, "Shorten it.")),
    ("incorrect data type", _with_advice(BadUpdate, "Give values that go together.")),
    ("does not exist in the item", _with_advice(BadUpdate, "Set it first.")),
    ("document path", _with_advice(BadUpdate, "Set the whole of it first.")),
    ("starting key", _with_advice(BadCursor, "Start from the first page.")),
    ("Exclusive Start Key", _with_advice(BadCursor, "Start from the first page.")),
    ("Transaction request cannot include multiple operations", _with_advice(SameItemTwice, "Join the two into one.")),
    ("contains duplicates", _with_advice(SameItemTwice, "Name it once.")),
    ("4 MB", _with_advice(TransactionTooLarge, "Split the work.")),
    ("4MB", _with_advice(TransactionTooLarge, "Split the work.")),
)


def transaction_cancelled(wire_reasons: list[dict[str, Any]]) -> TransactionCancelled:
    """The error of a cancelled transaction, with a reason for each item."""
    reasons: list[Reason] = []
    for reason in wire_reasons:
        code = str(reason.get("Code") or "None")
        if code == "None":
            reasons.append(Reason())
            continue
        stored = reason.get("Item")
        message = str(reason.get("Message") or code)
        reasons.append(Reason(_REASON_CODES.get(code, "invalid"), message, item_of(stored) if stored else None))
    codes = ", ".join(reason.code or "none" for reason in reasons)
    return TransactionCancelled(f"The transaction was cancelled, nothing was written: {codes}.", reasons)


def result_unknown(operation: str, problem: object) -> ResultUnknown:
    """The error of a write without a response."""
    return ResultUnknown(REPLY_LOST_MESSAGE, operation=operation, problem=str(problem))


def unreachable(operation: str, problem: object) -> StoreUnreachable:
    """The error of a call without a response that wrote nothing."""
    return StoreUnreachable(
        f"The store did not answer {operation} ({problem}). Nothing was written; try again.", operation=operation
    )
