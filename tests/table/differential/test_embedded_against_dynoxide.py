"""The embedded store and dynoxide over HTTP answer every call alike, and charge the same for it."""

from hypothesis import HealthCheck, settings

from tests.support.dynamodb_servers import has_fixed_examples
from tests.table.differential.state_machine import DifferentialMachine

TestEmbeddedAgainstDynoxide = DifferentialMachine.TestCase
TestEmbeddedAgainstDynoxide.settings = settings(
    stateful_step_count=30,
    suppress_health_check=list(HealthCheck),
    deadline=None,
    derandomize=has_fixed_examples(),
)
