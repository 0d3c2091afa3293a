"""Players, days and instants for the tests of the rankings."""

from datetime import date
from decimal import Decimal
from itertools import count

from zataku.ranking.design import Day, Histogram, NameClaim, Profile, Snapshot, Standing, name_claim, profile
from zataku.ranking.limits import UserId, fold_name
from zataku.ranking.writes import publish_day
from zataku.table import ConditionFailed, Plan, ResultUnknown, Store, TransactionCancelled

DAY = date(2026, 2, 21)
NEXT = date(2026, 2, 22)
NOON = "2026-02-21T03:00:00Z"
EVENING = "2026-02-21T12:00:00Z"
TOMORROW = "2026-02-22T03:00:00Z"
_tokens = count()


def player(user_id: str, name: str, level: str = "57.25", power: str = "12000", **fields: object) -> Profile:
    """A player who holds the name."""
    return Profile(
        user_id=UserId(user_id),
        name=name,
        name_lower=fold_name(name),
        current_level=Decimal(level),
        current_power=Decimal(power),
        **fields,
    )


def a_snapshot(user_id: str, level: str, power: str = "0", day: date = DAY, **fields: object) -> Snapshot:
    """A player's snapshot of a day."""
    name = str(fields.pop("name", f"이름{user_id}"))
    return Snapshot(user_id=UserId(user_id), date=day, name=name, level=Decimal(level), power=Decimal(power), **fields)


def standing(user_id: str, level: str, power: str = "0") -> Standing:
    """A player's standing."""
    return Standing(UserId(user_id), f"이름{user_id}", Decimal(level), Decimal(power))


def publish_plan(day: Day) -> Plan[Day]:
    """The plan that publishes a day with empty histograms."""
    levels = Histogram(date=day.date, measure="LEVEL", players=0, size=50, starts=())
    powers = Histogram(date=day.date, measure="POWER", players=0, size=50, starts=())
    return publish_day(day, levels, powers)


def claim_of(holder: Profile) -> NameClaim:
    """The claim of the player's name."""
    assert holder.name_lower is not None
    return NameClaim(name_lower=holder.name_lower, holder=holder.user_id, claimed_at=NOON)


async def load_profile(store: Store, user_id: str) -> Profile:
    """Read the profile of an existing player."""
    stored = await store.get(profile(UserId(user_id)))
    assert stored is not None
    return stored


async def holder_of(store: Store, name: str) -> str | None:
    """The UUID of the player who holds a name, or None."""
    claim = await store.get(name_claim(name))
    return None if claim is None else claim.holder


async def write_until_known(store: Store, make_plan) -> bool:
    """Plan and write until the write succeeds; False when there is nothing left to do.

    `make_plan` reads the current state and returns None when there is nothing left to do. Every attempt has a token of
    its own: two callers who want the same may have made other plans for it.
    """
    for _ in range(50):
        plan: Plan | None = await make_plan()
        if plan is None:
            return False
        try:
            await store.write(plan, token=f"race-{next(_tokens)}" if len(plan.steps) > 1 else None)
        except (ConditionFailed, TransactionCancelled, ResultUnknown):
            continue
        return True
    raise AssertionError("the write did not succeed in 50 attempts")


async def assert_name_claims_match(store: Store) -> None:
    """Every folded name of a profile has a claim by its player, and every claim has such a profile."""
    entities = [entity async for entity in store.scan(store.tables[0])]
    claims = {claim.name_lower: claim.holder for claim in entities if isinstance(claim, NameClaim)}
    holders = {
        entity.name_lower: entity.user_id
        for entity in entities
        if isinstance(entity, Profile) and entity.name_lower is not None
    }
    named = [entity for entity in entities if isinstance(entity, Profile) and entity.name_lower is not None]
    assert claims == holders
    assert len(named) == len(holders)
    assert all(holder.name_lower == fold_name(holder.name) for holder in named)
