"""The settings of the platform's table, its indexes and its item sizes."""

from collections import Counter

import pytest

from zataku.platform import writes
from zataku.platform.design import DEPARTURES, Account, Job, dead, due, platform
from zataku.platform.limits import JOB_SHARDS
from zataku.table.export.document.writes import sample_plan
from zataku.table.lint import lint
from zataku.table.schema.analysis.item_size import max_item_size
from zataku.table.schema.analysis.sample_values import sample_item
from zataku.table.schema.table import required_capabilities


def test_the_table_has_its_plain_name_in_prod_and_a_suffix_elsewhere():
    assert platform.schema("prod").name == "Zataku-Platform"
    assert platform.schema("staging").name == "Zataku-Platform-staging"


def test_the_table_is_protected_recoverable_and_expires_items():
    schema = platform.schema("prod")
    assert (schema.recovery, schema.protected, schema.ttl, schema.stream) == (True, True, "expiresAt", None)
    assert not platform.schema("dev").protected
    assert required_capabilities(platform) == {"transactions", "ttl"}


def test_the_table_is_on_demand_with_maximum_throughput_and_alarms():
    assert (platform.capacity.max_reads, platform.capacity.max_writes) == (2000, 1000)
    assert [type(alarm).__name__ for alarm in platform.alarms] == [
        "CapacityAlarm",
        "CapacityAlarm",
        "ThrottleAlarm",
        "ErrorRateAlarm",
    ]


def test_the_design_has_no_lint_finding_no_waiver_and_no_departure():
    report = lint(platform)
    assert (report.findings, report.waived, DEPARTURES) == ((), (), ())


def test_only_jobs_are_indexed():
    indexed = {binding.entity for binding in platform.bindings if binding.index}
    assert indexed == {Job}
    assert (due.schema.name, dead.schema.name) == ("GSI1", "GSI2")


def test_every_item_but_a_job_fits_one_write_unit():
    sizes = {binding.entity.__name__: max_item_size(binding).bytes for binding in platform.bindings}
    assert {name for name, size in sizes.items() if size is None or size > 1024} == {"Job"}
    assert sizes["Job"] is not None
    assert sizes["Job"] < 8 * 1024


def test_jobs_spread_evenly_over_the_shards():
    shards = Counter(
        Job(system="othello", kind="close_turn", subject=f"game-{n}#1", scheduled_for=1, due_at=1, run=1).shard
        for n in range(4000)
    )
    assert set(shards) == set(range(JOB_SHARDS))
    assert min(shards.values()) > 900


def test_every_entity_has_an_example_in_the_document():
    assert [binding.entity.__name__ for binding in platform.bindings if sample_item(binding) is None] == []
    assert Account.__doc__


@pytest.mark.parametrize("name", writes.__all__)
def test_every_write_has_a_sample_plan_and_a_budget(name: str):
    pattern = platform.writes[name]
    assert sample_plan(pattern) is not None
    assert pattern.metadata.budget is not None
    assert pattern.metadata.budget.writes > 0


def test_the_writes_module_exports_every_declared_write():
    assert sorted(platform.writes) == sorted(writes.__all__)
