"""The sample community: reproducible, and valid in a store."""

from random import Random

from tests.platform.conftest import NOW
from zataku.platform import samples
from zataku.platform.design import Account, ApiKey, NameClaim, Session, due_jobs
from zataku.platform.limits import JOB_SHARDS
from zataku.table import Store
from zataku.table.schema.entity import binding_of


def test_the_same_random_source_and_time_give_the_same_community():
    first, second = (list(samples.community(Random(7), NOW)) for _ in range(2))
    assert first == second
    assert first != list(samples.community(Random(8), NOW))


def test_every_user_of_the_community_has_claimed_their_name():
    items = list(samples.people(Random(7), NOW))
    users = [item for item in items if isinstance(item, Account) and item.role != "guest"]
    claims = {item.folded_name: item.account_id for item in items if isinstance(item, NameClaim)}
    assert len(users) == len(claims) == 27
    assert {samples.claim(user).folded_name: user.account_id for user in users} == claims
    assert [user.name for user in users if user.role == "admin"] == ["はなこ"]


def test_sessions_and_keys_are_used_between_the_sign_up_and_the_last_visit_of_their_user():
    items = list(samples.people(Random(7), NOW))
    users = {item.account_id: item for item in items if isinstance(item, Account)}
    credentials = [item for item in items if isinstance(item, Session | ApiKey)]
    assert {type(item) for item in credentials} == {Session, ApiKey}
    for item in credentials:
        user = users[item.account_id]
        assert user.created_at <= item.created_at <= (item.last_used_at or NOW) <= user.last_seen_at


async def test_the_community_is_read_as_it_was_written(store: Store):
    items = list(samples.community(Random(7), NOW))
    await store.write_many(put=items)
    stored = await store.get_many([binding_of(type(item)).key_of(item) for item in items], strong=True)
    assert stored == items


async def test_some_jobs_of_the_community_are_due_at_its_time(priced: Store):
    items = list(samples.jobs(Random(7), NOW))
    await priced.write_many(put=items)
    due = {job.subject for shard in range(JOB_SHARDS) for job in (await priced.page(due_jobs(shard, NOW))).items}
    assert due == {job.subject for job in items if job.due_at is not None and job.due_at <= NOW}
    assert 0 < len(due) < 24
