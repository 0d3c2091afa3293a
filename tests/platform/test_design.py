"""The settings of the table, and what its shape promises."""

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


def test_the_table_is_kept_recoverable_and_expires_items():
    schema = platform.schema("prod")
    assert (schema.recovery, schema.protected, schema.ttl, schema.stream) == (True, True, "expiresAt", None)
    assert not platform.schema("dev").protected
    assert required_capabilities(platform) == {"transactions", "ttl"}


def test_the_table_is_paid_by_the_call_up_to_a_ceiling_that_alarms_watch():
    assert (platform.capacity.max_reads, platform.capacity.max_writes) == (2000, 1000)
    assert [type(alarm).__name__ for alarm in platform.alarms] == [
        "CapacityAlarm",
        "CapacityAlarm",
        "ThrottleAlarm",
        "ErrorRateAlarm",
    ]


def test_the_design_is_clean_without_a_waiver_and_departs_from_nothing():
    report = lint(platform)
    assert (report.findings, report.waived, DEPARTURES) == ((), (), ())


def test_no_index_holds_anything_of_an_account():
    fed = {binding.entity for binding in platform.bindings if binding.index}
    assert fed == {Job}
    assert (due.schema.name, dead.schema.name) == ("GSI1", "GSI2")


def test_every_item_fits_one_write_unit_but_a_job_with_a_large_payload():
    sizes = {binding.entity.__name__: max_item_size(binding).bytes for binding in platform.bindings}
    assert {name for name, size in sizes.items() if size is None or size > 1024} == {"Job"}
    assert sizes["Job"] is not None
    assert sizes["Job"] < 8 * 1024


def test_jobs_spread_evenly_over_the_shards():
    made = Counter(
        Job(system="othello", kind="close_turn", subject=f"game-{n}#1", scheduled_for=1, due_at=1, run=1).shard
        for n in range(4000)
    )
    assert set(made) == set(range(JOB_SHARDS))
    assert min(made.values()) > 900


def test_every_entity_has_an_example_in_the_document():
    assert [binding.entity.__name__ for binding in platform.bindings if sample_item(binding) is None] == []
    assert Account.__doc__


@pytest.mark.parametrize("name", writes.__all__)
def test_every_write_shows_its_steps_and_states_its_price(name: str):
    pattern = platform.writes[name]
    assert sample_plan(pattern) is not None
    assert pattern.metadata.budget is not None
    assert pattern.metadata.budget.writes > 0


def test_all_declared_writes_are_found_in_one_place():
    assert sorted(platform.writes) == sorted(writes.__all__)
