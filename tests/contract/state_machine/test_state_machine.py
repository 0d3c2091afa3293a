"""Every store behaves like the reference model under random calls in random order."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.contract.state_machine.model_comparison import ModelComparisonMachine
from tests.contract.stores import STORES, StoreKind
from tests.support.dynamodb_servers import has_fixed_examples


@pytest.mark.parametrize("store", STORES, ids=lambda kind: kind.name)
def test_a_store_agrees_with_the_reference_model(store: StoreKind, tmp_path: Path):
    # Skips the test where the server is not installed, before a machine opens a store.
    store.machine_location(tmp_path)

    class Machine(ModelComparisonMachine):
        kind = store

    profile = settings()
    scaled = settings(
        max_examples=max(1, int(profile.max_examples * store.examples)),
        stateful_step_count=profile.stateful_step_count,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        deadline=None,
        derandomize=store.is_foreign and has_fixed_examples(),
    )
    run_state_machine_as_test(Machine, settings=scaled)
