"""The service's errors in our own words."""

from collections.abc import Callable
from typing import Any, cast

from zataku.table.backend.errors import (
    CONFLICT_MESSAGE,
    REPLY_LOST_MESSAGE,
    THROTTLED_MESSAGE,
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
from zataku.table.dynamodb.wire import item_of

_BUSY = {
    "ProvisionedThroughputExceededException",
    "ProvisionedThroughputExceeded",
    "ThrottlingException",
    "Throttling",
    "RequestLimitExceeded",
    "LimitExceededException",
}
_NO_RIGHT = {
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
_CODES = {
    "ConditionalCheckFailed": "condition_failed",
    "TransactionConflict": "conflict",
    "ProvisionedThroughputExceeded": "throttled",
    "ThrottlingError": "throttled",
    "ItemCollectionSizeLimitExceeded": "invalid",
    "ValidationError": "invalid",
}


def refusal(operation: str, response: Any, *, changing: bool) -> TableError:
    """What an error answer means."""
    answer = cast("dict[str, Any]", response)
    code, message = str(answer["Error"].get("Code", "")), str(answer["Error"].get("Message", ""))
    status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    match code:
        case "ConditionalCheckFailedException":
            lies = answer.get("Item")
            current = None if not lies else item_of(lies)
            return ConditionFailed("The item is not as the condition demands. Nothing was written.", current=current)
        case "TransactionCanceledException":
            return cancelled(answer.get("CancellationReasons", []))
        case "TransactionConflictException" | "TransactionInProgressException" | "ReplicatedWriteConflictException":
            return Conflict(CONFLICT_MESSAGE)
        case "IdempotentParameterMismatchException":
            return TokenReused("The token came before with another transaction. Take a new token for new work.")
        case "ItemCollectionSizeLimitExceededException":
            return ItemTooLarge("The items of one partition of a table with local indexes pass 10 GB. Spread them.")
        case "UnknownOperationException":
            return LacksCapability(f"This store does not know {operation}.")
        case "ResourceNotFoundException" | "TableNotFoundException" | "ResourceInUseException":
            return SchemaRefused(f"{operation}: {message}", code=code)
        case _ if code in _BUSY:
            return Throttled(THROTTLED_MESSAGE)
        case _ if code in _NO_RIGHT:
            return NotGranted(f"{operation} was refused: {message or code}")
        case _ if status >= 500 or code in ("InternalServerError", "ServiceUnavailable"):
            return (lost if changing else unreachable)(operation, f"{code} {message}")
        case "ValidationException":
            return invalid(message)
        case _:
            return TableError(f"{operation} was refused: {code} {message}", code=code)


def invalid(message: str) -> TableError:
    """A call that the service does not take: of which kind its words say. Words it has never used are a plain one."""
    for part, made in _INVALID:
        if part in message:
            return made(message)
    return BadInput(f"The service does not take this call: {message.rstrip('.')}. Change it.")


def _kind(error: type[TableError], advice: str) -> Callable[[str], TableError]:
    return lambda message: error(f"{message.rstrip('.')}. {advice}")


# Words of the service's messages, the more telling ones first.
_INVALID: tuple[tuple[str, Callable[[str], TableError]], ...] = (
    ("backfilling", _kind(IndexNotReady, "Try again when the index is filled.")),
    ("specified index", _kind(IndexNotReady, "Try again when the index is there, or start a store that may make it.")),
    ("Item size", _kind(ItemTooLarge, "Split it, or keep the large part elsewhere.")),
    ("item size", _kind(ItemTooLarge, "Split it, or keep the large part elsewhere.")),
    ("Number overflow", _kind(BadNumber, "Scale it first.")),
    ("Number underflow", _kind(BadNumber, "Scale it first.")),
    ("significant digits", _kind(BadNumber, "Round it first.")),
    ("numeric value", _kind(BadNumber, "Scale it first.")),
    ("Type mismatch", _kind(WrongType, "Give it a value of its type.")),
    ("unsupported type", _kind(WrongType, "Give it a value of its type.")),
    ("empty string value", _kind(BadKey, "Give it a value.")),
    ("empty binary value", _kind(BadKey, "Give it a value.")),
    ("hashkey", _kind(BadKey, "Shorten it.")),
    ("rangekey", _kind(BadKey, "Shorten it.")),
    ("key size", _kind(BadKey, "Shorten it.")),
    ("incorrect data type", _kind(BadUpdate, "Give values that go together.")),
    ("does not exist in the item", _kind(BadUpdate, "Set it first.")),
    ("document path", _kind(BadUpdate, "Set the whole of it first.")),
    ("starting key", _kind(BadCursor, "Start from the first page.")),
    ("Exclusive Start Key", _kind(BadCursor, "Start from the first page.")),
    ("Transaction request cannot include multiple operations", _kind(SameItemTwice, "Join the two into one.")),
    ("contains duplicates", _kind(SameItemTwice, "Name it once.")),
    ("4 MB", _kind(TransactionTooLarge, "Split the work.")),
    ("4MB", _kind(TransactionTooLarge, "Split the work.")),
)


def cancelled(given: list[dict[str, Any]]) -> TransactionCancelled:
    """A cancelled transaction with a reason for each item."""
    reasons: list[Reason] = []
    for each in given:
        code = str(each.get("Code") or "None")
        if code == "None":
            reasons.append(Reason())
            continue
        lies = each.get("Item")
        known = _CODES.get(code, "invalid")
        reasons.append(Reason(known, str(each.get("Message") or code), item_of(lies) if lies else None))
    codes = ", ".join(reason.code or "none" for reason in reasons)
    return TransactionCancelled(f"The transaction was cancelled, nothing was written: {codes}.", reasons)


def lost(operation: str, problem: object) -> ResultUnknown:
    """The answer to a write did not arrive."""
    return ResultUnknown(
        REPLY_LOST_MESSAGE,
        operation=operation,
        problem=str(problem),
    )


def unreachable(operation: str, problem: object) -> StoreUnreachable:
    """The service did not answer, and nothing was written."""
    return StoreUnreachable(f"The store did not answer {operation}: {problem}", operation=operation)
