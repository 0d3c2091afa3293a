"""Prometheus counters of the calls and units of a store."""

from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from tests.table.store.test_capacity_meter import LUNCH, Count, election
from zataku.table.store.metrics import StoreCollector
from zataku.table.store_factory import open_embedded


def sums(registry: CollectorRegistry) -> dict[tuple[str, str], float]:
    families = text_string_to_metric_families(generate_latest(registry).decode())
    return {(sample.name, sample.labels["pattern"]): sample.value for family in families for sample in family.samples}


async def test_calls_and_units_are_counted_per_access_pattern(tmp_path: Path) -> None:
    registry = CollectorRegistry()
    async with await open_embedded(tmp_path / "store.db", [election]) as store:
        registry.register(StoreCollector(store))
        assert sums(registry) == {}
        await store.put(Count(topic="lunch"))
        await store.get(LUNCH)
        await store.get(LUNCH)
        assert sums(registry) == {
            ("zataku_table_calls_total", "Election.put Count"): 1,
            ("zataku_table_read_units_total", "Election.put Count"): 0,
            ("zataku_table_write_units_total", "Election.put Count"): 1,
            ("zataku_table_calls_total", "Election.get Count"): 2,
            ("zataku_table_read_units_total", "Election.get Count"): 1,
            ("zataku_table_write_units_total", "Election.get Count"): 0,
        }


async def test_every_metric_is_a_counter_with_a_help_text(tmp_path: Path) -> None:
    registry = CollectorRegistry()
    async with await open_embedded(tmp_path / "store.db", [election]) as store:
        registry.register(StoreCollector(store))
        families = list(text_string_to_metric_families(generate_latest(registry).decode()))
    assert {family.type for family in families} == {"counter"}
    assert all(family.documentation for family in families)


def test_only_the_collector_imports_prometheus() -> None:
    source = Path(__file__).parents[3] / "src/zataku/table"
    users = [file.name for file in source.rglob("*.py") if "prometheus_client" in file.read_text()]
    assert users == ["metrics.py"]
