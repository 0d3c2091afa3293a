"""Times to live and defaults are checked when they are declared."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec import field

from tests.table.lint.findings import findings_of
from zataku.table import DesignError, Entity, Nullable, Table, open_embedded
from zataku.table.schema.entity import binding_of


def table_with(annotation: Any, ttl: str = "expiresAt") -> Table:
    table = Table("Sessions", sk="SK", ttl=ttl)

    class Session(Entity, frozen=True, kw_only=True, rename="camel"):
        """A session."""

        session_id: str
        expires_at: annotation

    table.entity(pk="SESSION#{session_id}", sk="META")(Session)
    return table


@pytest.mark.parametrize("annotation", [str, datetime, bool, list[int], bytes], ids=str)
def test_a_time_to_live_that_is_no_number_is_refused(annotation: Any):
    with pytest.raises(DesignError, match="Session.expires_at is stored as expiresAt, the time to live of Sessions"):
        table_with(annotation)


@pytest.mark.parametrize("annotation", [int, float], ids=str)
def test_a_time_to_live_is_a_number_of_seconds(annotation: Any):
    assert ("missing-ttl", "expiresAt") not in findings_of(table_with(annotation))


def test_a_time_to_live_that_no_entity_stores_is_a_finding():
    assert ("missing-ttl", "expires_at") in findings_of(table_with(int, ttl="expires_at"))


async def test_a_store_refuses_a_time_to_live_that_no_entity_stores(tmp_path: Path):
    table = table_with(int, ttl="expires_at")
    with pytest.raises(DesignError, match="The time to live of Sessions is expires_at, which no entity stores"):
        await open_embedded(tmp_path / "store.db", [table])


def order_with(annotation: Any, default: Any) -> type[Any]:
    class Order(Entity, frozen=True, kw_only=True):
        """An order."""

        number: str
        status: annotation = default

    return Table("Orders").entity(pk="ORDER#{number}")(Order)


@pytest.mark.parametrize("default", ["open", field(default_factory=str)], ids=["value", "factory"])
def test_an_optional_field_that_would_be_read_as_its_default_is_refused(default: Any):
    with pytest.raises(DesignError, match="Order.status is left out when it is None, and would be read as"):
        order_with(str | None, default)


def test_a_nullable_field_may_have_any_default():
    order = order_with(Nullable[str | None], "open")
    stored = binding_of(order)
    assert stored.decode(stored.encode(order(number="1", status=None))) == order(number="1", status=None)
