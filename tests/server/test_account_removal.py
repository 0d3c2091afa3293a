"""After the removal of an account its id is in no attribute of any table, whatever part it took in any system."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.app_context import app_context
from tests.support.manual_clock import ManualClock
from tests.support.raw_items import raw_items
from tests.support.stores import temporary_store
from zataku.accounts.removal import AccountRemoval
from zataku.clock import now_ms
from zataku.errors import Conflict
from zataku.kifu.ids import library_of_account
from zataku.platform import writes
from zataku.platform.design import Account, Job, job, platform
from zataku.platform.limits import AccountId
from zataku.server.systems import SYSTEMS
from zataku.table import Entity, Store
from zataku.table.design_catalogue import Design, find_designs, load_examples
from zataku.table.schema.entity import binding_of

ACCOUNT = AccountId("5eed0000-0000-4000-a000-00000000c0de")
# What the examples show has not expired yet.
EXAMPLES_AT = 1_771_669_900
DESIGNS = {design.name: design for design in find_designs((), {})}
# The fields that name a person, in each design. A ranked player is nobody's account.
PERSON_FIELDS: dict[str, set[str]] = {
    "drawing": {"player_id", "drawer_id", "host_id"},
    "kifu": {"username", "owner"},
    "live": {"host_id", "sender_id", "blocked_sender"},
    "othello": {"user_id"},
    "platform": {"account_id"},
    "ranking": set(),
}


class NoRunningRooms:
    """The room registry of a process in which no room runs."""

    def running(self, _kind: str) -> dict[str, int]:
        return {}

    async def execute(self, _topic: str, _sender: object, _body: object) -> None:
        raise Conflict("The room is closed.")


def parts(design: Design) -> Iterator[tuple[str, str, str]]:
    """For each kind of item and field that names a person: the first person that the examples have in it."""
    seen: set[tuple[str, str]] = set()
    for example in load_examples(design):
        for field in sorted(PERSON_FIELDS[design.name]):
            person, part = getattr(example, field, None), (type(example).__name__, field)
            if isinstance(person, str) and part not in seen:
                seen.add(part)
                yield (*part, person)


PARTS = {
    f"{design.name} {kind}.{field}": (design, person)
    for design in DESIGNS.values()
    for kind, field, person in parts(design)
}


def test_every_system_names_the_fields_of_its_people() -> None:
    assert PERSON_FIELDS.keys() == DESIGNS.keys() == {"platform", *(system.name for system in SYSTEMS)}
    assert {design.name for design, _ in PARTS.values()} == {name for name, fields in PERSON_FIELDS.items() if fields}


@pytest.mark.parametrize("part", PARTS)
async def test_the_id_of_a_removed_account_is_in_no_item(part: str, tmp_path: Path) -> None:
    design, person = PARTS[part]
    clock = ManualClock(EXAMPLES_AT)
    mine = str(library_of_account(ACCOUNT) if design.name == "kifu" else ACCOUNT)
    tables = tuple(dict.fromkeys((platform, *(table for system in SYSTEMS for table in system.tables))))
    async with temporary_store("embedded", tmp_path, tables, clock) as store:
        await store.write_many(put=[with_id(example, person, mine) for example in load_examples(design)])
        assert any(mine in item for item in await raw_items(store))
        await remove_account(store, clock)
        ids = (str(ACCOUNT), str(library_of_account(ACCOUNT)))
        left = [item for item in await raw_items(store) if any(each in item for each in ids)]
        # The account itself stays for 90 days as a deleted guest, so that no old cookie revives the id.
        assert len(left) == 1
        tombstone = await store.get(Account.key(account_id=ACCOUNT))
        assert tombstone is not None
        assert (tombstone.role, tombstone.name, tombstone.password) == ("guest", None, None)


def with_id(example: Entity, person: str, account_id: str) -> Entity:
    """The example with one person's id replaced by the account's, in every attribute."""
    binding = binding_of(type(example))
    return binding.decode(_replaced(binding.encode(example), person, account_id))


def _replaced(value: Any, old: str, new: str) -> Any:
    match value:
        case str():
            return value.replace(old, new)
        case dict():
            return {name: _replaced(each, old, new) for name, each in value.items()}
        case list() | tuple() | set() | frozenset():
            return type(value)(_replaced(each, old, new) for each in value)
        case _:
            return value


async def remove_account(store: Store, clock: ManualClock) -> None:
    """Mark the account as deleted and run the job that is due for it."""
    context = app_context(store, clock, NoRunningRooms())
    removal = AccountRemoval(store, clock, [system.plug(context).remove for system in SYSTEMS])
    if await store.get(Account.key(account_id=ACCOUNT)) is None:
        await store.write(writes.create_guest(ACCOUNT, "en", now_ms(clock)))
    await store.write(writes.mark_deleted(ACCOUNT, now_ms(clock)))
    due = await store.get(job("platform", "remove_account", ACCOUNT))
    assert due is not None
    await removal.run(due)
    await store.delete(Job.key(system="platform", kind="remove_account", subject=ACCOUNT))
