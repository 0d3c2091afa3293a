"""The command that upgrades stored items to the newest revision of their entities."""

import asyncio
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import CommandLine, interruptible_process
from zataku.table import open_embedded
from zataku.table.design_catalogue import load_file

FIRST = '''
"""Tickets of a fair."""

from zataku.table import Entity, Table

fair = Table("TicketsOfAFair", pk="PK")


@fair.entity(pk="TICKET#{number}")
class Ticket(Entity, frozen=True, kw_only=True):
    """Lets one person in."""

    number: int
    holder: str
'''

SECOND = '''
"""Tickets of a fair."""

from zataku.table import Entity, Table

fair = Table("TicketsOfAFair", pk="PK")


def split_names(ticket):
    first, last = ticket.pop("holder").split(" ")
    ticket.update(first=first, last=last)


@fair.entity(pk="TICKET#{number}", revision=2, upgrades={1: split_names})
class Ticket(Entity, frozen=True, kw_only=True):
    """Lets one person in."""

    number: int
    first: str
    last: str
'''


@pytest.fixture
def fair(bare: CommandLine, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store of the first design, and a command line with the second one."""
    for name, text in (("first.py", FIRST), ("second.py", SECOND)):
        (bare.folder / name).write_text(text, encoding="utf-8")
    first: Any = load_file(bare.folder / "first.py")

    async def sell() -> None:
        async with await open_embedded(path, [first.fair]) as store:
            tickets = [first.Ticket(number=number, holder="Ada Lovelace") for number in range(300)]
            await store.write_many(put=tickets)

    path = bare.folder / "fair.db"
    asyncio.run(sell())
    monkeypatch.setenv("ZATAKU_DESIGNS", "second.py")
    monkeypatch.setenv("ZATAKU_STORE", "fair.db")
    return path


def counts(printed: str) -> list[str]:
    return printed.splitlines()[1].split()


def test_a_dry_run_counts_and_changes_nothing(bare: CommandLine, fair: Path) -> None:
    printed = bare.good("store", "migrate", "--dry-run")
    assert "would be upgraded" in printed
    assert counts(printed) == ["Ticket", "300", "0", "0"]
    assert counts(bare.good("store", "migrate", "--dry-run")) == ["Ticket", "300", "0", "0"]


def test_every_old_item_is_upgraded_once(bare: CommandLine, fair: Path) -> None:
    result = bare("store", "migrate")
    assert result.code == 0
    assert counts(result.out) == ["Ticket", "300", "0", "0"]
    assert "Looked at: 300 of 300 items (100 %)" in result.err
    assert counts(bare.good("store", "migrate")) == ["Ticket", "0", "300", "0"]

    async def first_ticket() -> Any:
        second: Any = load_file(bare.folder / "second.py")
        async with await open_embedded(fair, [second.fair], read_only=True) as store:
            return await store.get(second.Ticket.key(number=0))

    ticket = asyncio.run(first_ticket())
    assert (ticket.first, ticket.last) == ("Ada", "Lovelace")


def test_items_that_cannot_be_upgraded_are_left_and_reported(bare: CommandLine, fair: Path) -> None:
    first: Any = load_file(bare.folder / "first.py")

    async def sell() -> None:
        async with await open_embedded(fair, [first.fair]) as store:
            await store.write_many(put=[first.Ticket(number=900 + number, holder="Plato") for number in range(25)])

    asyncio.run(sell())
    result = bare("store", "migrate")
    assert result.code == 1
    assert counts(result.out)[:2] == ["Ticket", "300"]
    reported = re.findall(
        r"^left as it is: Ticket of TicketsOfAFair at PK = 'TICKET#9\d\d': ", result.out, re.MULTILINE
    )
    assert len(reported) == 20
    assert result.out.endswith("and 5 more that were left as they are.\n")


def test_an_interrupted_migration_prints_how_to_continue(bare: CommandLine, fair: Path) -> None:
    first: Any = load_file(bare.folder / "first.py")

    async def sell() -> None:
        async with await open_embedded(fair, [first.fair]) as store:
            tickets = [first.Ticket(number=number, holder="Ada Lovelace") for number in range(2_000)]
            await store.write_many(put=tickets)

    asyncio.run(sell())
    process = interruptible_process("store", "migrate", folder=bare.folder)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("Looked at: ")
    process.send_signal(signal.SIGINT)
    rest = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 130
    assert rest.endswith("Start again, from the beginning or from where it stopped.\n")
    position = re.search(r"add: --resume (\S+)", rest)
    assert position is not None
    done = counts(bare.good("store", "migrate", "--resume", position[1]))
    assert 0 < int(done[1].replace(",", "")) < 2_000
    assert counts(bare.good("store", "migrate", "--dry-run")) == ["Ticket", "0", "2,000", "0"]


def test_an_invalid_position_to_resume_from_is_refused(bare: CommandLine, fair: Path) -> None:
    assert "The resume token is not valid" in bare.refused("store", "migrate", "--resume", "nowhere")
