"""Prices of DynamoDB on demand, for the estimated cost of a month.

The setting `prices` replaces them: `us-east-1 2024-11-01 0.125 0.625 0.25` is the region, the
date of the prices, and US dollars for a million read units, a million write units and a gigabyte for a month.
"""

import re
from math import isfinite

from zataku.errors import InvalidRequest
from zataku.server.admin.messages import MonthCost, Prices

PRICES = Prices(
    region="us-east-1",
    as_of="2024-11-01",
    currency="USD",
    million_reads=0.125,
    million_writes=0.625,
    gigabyte_month=0.25,
)
MONTH_SECONDS = 730 * 3600
"""A month as AWS counts it."""

_GIGABYTE = 2**30
_ITEM_OVERHEAD = 100
_REGION = re.compile(r"[a-z]{2,}(?:-[a-z]+)+-\d+")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def read_prices(text: str) -> Prices:
    """The prices in a setting."""
    try:
        region, day, *numbers = text.split()
        reads, writes, storage = (float(number) for number in numbers)
    except ValueError:
        raise _invalid_prices(text) from None
    is_valid = _REGION.fullmatch(region) and _DAY.fullmatch(day)
    if not is_valid or not all(isfinite(price) and price >= 0 for price in (reads, writes, storage)):
        raise _invalid_prices(text)
    return Prices(
        region=region,
        as_of=day,
        currency="USD",
        million_reads=reads,
        million_writes=writes,
        gigabyte_month=storage,
    )


def _invalid_prices(text: str) -> InvalidRequest:
    return InvalidRequest(
        f"{text!r} cannot be read as prices. Write them like this: us-east-1 2024-11-01 0.125 0.625 0.25"
    )


def billed_bytes(items: int, size: int) -> int:
    """The bytes that are billed: every item, and every entry of an index, has an overhead."""
    return size + items * _ITEM_OVERHEAD


def month_cost(prices: Prices, reads: float, writes: float, seconds: float, stored: int) -> MonthCost:
    """The cost of a month at the rate of use in the measured seconds, and of the stored bytes."""
    share = MONTH_SECONDS / max(seconds, 1.0) / 1_000_000
    read_cost, write_cost = reads * share * prices.million_reads, writes * share * prices.million_writes
    storage = stored / _GIGABYTE * prices.gigabyte_month
    return MonthCost(reads=read_cost, writes=write_cost, storage=storage, total=read_cost + write_cost + storage)
