"""Hypothesis strategies for tables with every setting that a template can express."""

from hypothesis import strategies as st

from zataku.table import ALL, KEYS_ONLY, OnDemand, Provisioned, Table, capacity_alarm, error_rate_alarm, include
from zataku.table.backend.table_schema import Capacity, KeyAttribute, StreamView
from zataku.table.schema.alarm import Alarm, throttle_alarm

NAMES = st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.", min_size=11, max_size=40)
STREAMS: list[StreamView | None] = [None, "KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]
UNITS = st.integers(1, 40_000)


def keys(name: str) -> st.SearchStrategy[KeyAttribute]:
    """A key of any type. A name has one type only, as DynamoDB requires."""
    return st.sampled_from("SNB").map(lambda kind: KeyAttribute(f"{name}{kind}", kind))


@st.composite
def capacities(draw: st.DrawFn) -> Capacity:
    """On demand or provisioned, with and without maxima."""
    if draw(st.booleans()):
        return OnDemand(draw(st.none() | UNITS), draw(st.none() | UNITS))
    reads, writes = draw(st.integers(1, 1000)), draw(st.integers(1, 1000))
    maximum = st.none() | st.integers(1000, 40_000)
    return Provisioned(reads, writes, draw(maximum), draw(maximum), draw(st.integers(20, 90)))


@st.composite
def alarms(draw: st.DrawFn, capacity: Capacity) -> list[Alarm]:
    """Alarms that are valid for the capacity."""
    declared: list[Alarm] = []
    for of, maximum in (("read", capacity.max_reads), ("write", capacity.max_writes)):
        if (maximum is not None or isinstance(capacity, Provisioned)) and draw(st.booleans()):
            declared.append(capacity_alarm(of, percent=draw(st.integers(1, 100)), evaluations=draw(st.integers(1, 5))))
        if draw(st.booleans()):
            declared.append(
                throttle_alarm(of, events=draw(st.integers(0, 100)), period=draw(st.sampled_from([60, 300])))
            )
    if draw(st.booleans()):
        declared.append(error_rate_alarm(percent=draw(st.integers(1, 100))))
    return declared


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """A table without entities."""
    capacity = draw(capacities())
    table = Table(
        draw(NAMES) + draw(st.sampled_from(["", "-{env}"])),
        pk=draw(keys("hash")),
        sk=draw(st.none() | keys("range")),
        ttl=draw(st.sampled_from([None, "expires"])),
        stream=draw(st.sampled_from(STREAMS)),
        capacity=capacity,
        recovery=draw(st.booleans()),
        encryption=draw(st.sampled_from(["owned", "managed"])),
        deletion=draw(st.sampled_from([{"prod": "Retain"}, {}, {"dev": "Retain"}])),
        alarms=draw(alarms(capacity)),
    )
    projections = st.sampled_from([ALL, KEYS_ONLY, include("colour", "weight")])
    for at in range(draw(st.integers(0, 3))):
        table.index(
            f"Global-{at}", pk=draw(keys("other")), sk=draw(st.none() | keys("range")), projection=draw(projections)
        )
    if table.sk is not None and draw(st.booleans()):
        table.local_index("Local_1", sk=draw(keys("local")), projection=draw(projections))
    return table
