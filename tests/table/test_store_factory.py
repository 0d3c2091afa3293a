"""Opening a store in DynamoDB: probed capabilities, required tables, and what the backend reports about itself."""

import asyncio
import secrets
import subprocess
import sys
import textwrap
from pathlib import Path
from random import Random

import pytest

from tests.support.designs.board import Game, board
from tests.support.designs.connections import Connection, connections
from tests.support.dynamodb_servers import shared_server
from tests.support.manual_clock import ManualClock
from tests.table.dynamodb.fault_proxy import FaultProxy, error_response
from tests.table.dynamodb.server_tables import connected
from tests.table.dynamodb.streams.stream_tables import wait_for_pause
from zataku.table import (
    BadInput,
    LacksCapability,
    SchemaRefused,
    StoreClosed,
    Usage,
    open_dynamodb,
    open_embedded,
    path,
)
from zataku.table.dynamodb.backend import DynamoBackend
from zataku.table.dynamodb.client import Client
from zataku.table.strict.strict_backend import Faults, StrictBackend

UNKNOWN = error_response("UnknownOperationException")


@pytest.fixture
def env() -> str:
    return secrets.token_hex(5)


async def capabilities_behind(proxy: FaultProxy) -> frozenset[str]:
    backend = DynamoBackend(Client(proxy.endpoint))
    await backend.probe()
    await backend.close()
    return backend.capabilities


async def test_probing_finds_the_capabilities_of_the_service():
    async with FaultProxy(shared_server("ministack").endpoint) as proxy:
        everything = frozenset({"transactions", "streams", "ttl", "local-indexes", "backups"})
        assert await capabilities_behind(proxy) == everything
        for operation, capability in (
            ("TransactWriteItems", "transactions"),
            ("ListStreams", "streams"),
            ("DescribeTimeToLive", "ttl"),
            ("ListBackups", "backups"),
        ):
            proxy.always = {operation: UNKNOWN}
            assert await capabilities_behind(proxy) == everything - {capability}


async def test_a_capability_whose_probe_is_denied_counts_as_present():
    async with FaultProxy(shared_server("ministack").endpoint) as proxy:
        proxy.always = {"ListBackups": error_response("AccessDeniedException")}
        assert "backups" in await capabilities_behind(proxy)


async def test_dynoxide_has_no_backups():
    async with FaultProxy(shared_server("dynoxide").endpoint) as proxy:
        assert "backups" not in await capabilities_behind(proxy)


async def test_a_design_that_needs_a_missing_capability_fails_before_any_table_is_changed(env: str):
    """ScyllaDB's Alternator, for example, has no transactions."""
    async with FaultProxy(shared_server("dynoxide").endpoint) as proxy:
        proxy.always = {"TransactWriteItems": UNKNOWN}
        with pytest.raises(LacksCapability, match="transactions"):
            await open_dynamodb([board], endpoint=proxy.endpoint, env=env)
        assert not {"CreateTable", "UpdateTable", "UpdateTimeToLive"} & set(proxy.seen)


async def test_each_environment_has_its_own_metadata_table(env: str):
    endpoint = shared_server("dynoxide").endpoint
    async with await open_dynamodb([connections], endpoint=endpoint, env=env) as store:
        await store.put(Connection(connection_id="c"))
    async with connected(endpoint) as client:
        for name in (f"ZatakuStore-{env}", connections.schema(env).name):
            assert (await client.call("DescribeTable", TableName=name))["Table"]["TableStatus"] == "ACTIVE"


async def test_an_unmanaged_store_requires_existing_tables(env: str):
    async with FaultProxy(shared_server("ministack").endpoint) as proxy:
        with pytest.raises(SchemaRefused, match="missing"):
            await open_dynamodb([board], endpoint=proxy.endpoint, env=env, manage=False)
        assert "CreateTable" not in proxy.seen
        await (await open_dynamodb([board], endpoint=proxy.endpoint, env=env)).close()
        proxy.seen.clear()
        async with await open_dynamodb([board], endpoint=proxy.endpoint, env=env, manage=False) as store:
            await store.put(Game(game_id="g"))
        assert not {"CreateTable", "UpdateTable", "UpdateTimeToLive"} & set(proxy.seen)


async def test_the_store_retries_injected_faults_of_strict_mode(env: str):
    endpoint = shared_server("dynoxide").endpoint
    faults = Faults(conflict=0.3, throttle=0.3, unprocessed=0.5)
    turn = path(Game, lambda game: game.current_turn)
    async with await open_dynamodb([board], endpoint=endpoint, env=env, faults=faults, random=Random(7)) as store:
        await store.write_many(put=[Game(game_id=f"g{at}") for at in range(10)])
        # One after another, so that the seed alone decides which calls fail.
        for _ in range(10):
            await store.update(Game.key(game_id="g1"), turn.add(1))
        game = await store.get(Game.key(game_id="g1"), strong=True)
        assert game is not None
        assert game.current_turn == 10
        assert isinstance(store.backend, StrictBackend)
        assert {"conflict", "throttle", "unprocessed"} <= store.backend.injected.keys()


async def test_closing_the_store_ends_a_waiting_stream_read(env: str):
    clock = ManualClock()
    store = await open_dynamodb([board], endpoint=shared_server("dynoxide").endpoint, env=env, clock=clock)
    reading = asyncio.create_task(store.stream(board, "watcher").read(wait=600))
    await wait_for_pause(clock)
    await asyncio.wait_for(store.close(), 20)
    with pytest.raises(StoreClosed):
        await asyncio.wait_for(reading, 20)


async def test_the_backend_reports_its_facts_and_sizes(env: str):
    endpoint = shared_server("ministack").endpoint
    table = board.schema(env).name
    async with await open_dynamodb([board], endpoint=endpoint, env=env) as store:
        await store.write_many(put=[Game(game_id=name) for name in "abc"])
        facts = await store.backend.facts()
        assert facts["endpoint"] == endpoint
        assert facts["region"] == "us-east-1"
        assert facts["metadata table"] == f"ZatakuStore-{env}"
        assert "active" in facts[table]
        assert "not protected" in facts[table]
        sizes = {(size.table, size.index): size.items for size in await store.backend.sizes()}
        assert sizes[table, None] == 3
        assert {index for _, index in sizes} == {None, *board.indexes}


async def test_usage_is_summed_across_openings(env: str):
    endpoint = shared_server("dynoxide").endpoint
    for _ in range(2):
        async with await open_dynamodb([connections], endpoint=endpoint, env=env) as store:
            with store.measured("greeting") as consumed:
                await store.put(Connection(connection_id="c"))
                await store.get(Connection.key(connection_id="c"), strong=True)
            assert (consumed.reads, consumed.writes) == (1, 1)
            assert {table for table, _ in consumed.by_resource} == {connections.schema(env).name}
    async with await open_dynamodb([connections], endpoint=endpoint, env=env) as store:
        assert await store.backend.usage() == [Usage("greeting", 2, 2.0, 2.0)]


def test_a_missing_library_names_the_extra_that_installs_it():
    program = """
        import asyncio, sys
        sys.modules["aiobotocore"] = None
        from zataku.table import LacksCapability, open_dynamodb
        try:
            asyncio.run(open_dynamodb([]))
        except LacksCapability as problem:
            print(problem.message)
    """
    completed = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True, timeout=60
    )
    assert "pip install 'zataku[aws]'" in completed.stdout


@pytest.mark.parametrize("place", [":memory:", "", "file:store.db"])
async def test_a_store_in_memory_is_refused_with_what_to_use_in_tests(place: str, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match="is no file.*In tests, open one in a temporary folder"):
        await open_embedded(place, [])
    assert list(tmp_path.iterdir()) == []
