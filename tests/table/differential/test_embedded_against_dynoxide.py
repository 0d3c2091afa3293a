"""The embedded store and dynoxide over HTTP answer every call alike, and charge the same for it."""

from hypothesis import HealthCheck, settings

from tests.table.differential.state_machine import DifferentialMachine

TestTwins = DifferentialMachine.TestCase
_USUAL = settings()
# A step is two calls, one of them over HTTP: a few examples in every run, many more with the thorough profile.
TestTwins.settings = settings(
    max_examples=_USUAL.max_examples // 4,
    stateful_step_count=30,
    suppress_health_check=list(HealthCheck),
    deadline=None,
)
