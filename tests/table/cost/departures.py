"""Where DynamoDB implementations report other units than AWS documents, by case or by rule, each with the reason."""

from tests.support.dynamodb_servers import ServerName
from tests.table.cost.case import INDEXED, BatchGet, BatchWrite, Case, Snapshot, Transact
from zataku.table.backend.port import GetItem, QueryItems, ScanItems

_FETCH = "charges nothing for items that are fetched because a local index lacks attributes"

DYNOXIDE = {
    "get one attribute": "counts only the requested attributes",
    "fetch four items": _FETCH,
    "fetch four items eventually": _FETCH,
    "fetch two large items": _FETCH,
    "fetch a part of the items": _FETCH,
    "fetch for a filter": _FETCH,
}


def departure(server: ServerName, case: Case) -> str | None:
    """Why a server departs from the case, or None when it reports the right units."""
    reason = DYNOXIDE.get(case.name) if server == "dynoxide" else _ministack(case)
    return None if reason is None else f"{server} {reason}"


def _ministack(case: Case) -> str | None:
    call = case.call
    if case.refused:
        return None
    if isinstance(call, BatchGet):
        return "reports no units for batch gets"
    if isinstance(call, QueryItems | ScanItems) and call.index is not None:
        return "charges the table for reading an index"
    if isinstance(call, Transact) and call.repeated:
        return "reports a repeated transaction as written again"
    writes = any(units for _, units in case.costs.values())
    if writes and any(table == INDEXED.name for table, _ in case.costs):
        return "charges every global index for every write, and no local one"
    if sum(map(sum, case.costs.values())) > _smallest_cost(case):
        return "ignores sizes: it charges every item and page as a small one"
    return None


def _smallest_cost(case: Case) -> float:
    """The cost of the call if all items were small."""
    call = case.call
    if isinstance(call, GetItem | QueryItems | ScanItems):
        return 1 if call.strong else 0.5
    if isinstance(call, Snapshot):
        return 2 * len(call.reads)
    if isinstance(call, Transact):
        return 2 * len(call.writes)
    return len(call.writes) if isinstance(call, BatchWrite) else 1
