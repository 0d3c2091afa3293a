"""Transactions: several writes that happen together or not at all."""

import pytest
from msgspec.structs import replace

from tests.support.designs.board import Candidate, Game, Move, Vote, board
from tests.support.designs.connections import Connection, connections
from tests.support.manual_clock import ManualClock
from tests.support.store_reads import contents, run_transaction
from zataku.table import (
    BadInput,
    SameItemTwice,
    Store,
    TokenReused,
    TooManyItems,
    Transaction,
    TransactionCancelled,
    path,
)

pytestmark = pytest.mark.needs("transactions")

turn = path(Game, lambda it: it.current_turn)
note = path(Game, lambda it: it.note)
votes = path(Candidate, lambda it: it.vote_count)

CANDIDATE = Candidate(game_id="g1", turn_number=1, candidate_id="c1", vote_count=0)
CANDIDATE_KEY = Candidate.key(game_id="g1", turn_number=1, candidate_id="c1")


def key(name: str):
    return Game.key(game_id=name)


def vote_of(user: str) -> Vote:
    return Vote(game_id="g1", turn_number=1, user_id=user, candidate_id="c1")


async def cast(store: Store, user: str) -> None:
    """Store a user's vote and count it, unless the user has voted."""
    async with store.transact() as tx:
        tx.put(vote_of(user), if_absent=True)
        tx.update(CANDIDATE_KEY, votes.add(1))


async def test_a_vote_and_its_count_are_written_together(store: Store):
    await store.put(CANDIDATE)
    await cast(store, "ann")
    await cast(store, "bob")
    assert await store.get(CANDIDATE_KEY, strong=True) == replace(CANDIDATE, vote_count=2)


async def test_a_second_vote_is_refused_and_not_counted(store: Store):
    await store.put(CANDIDATE)
    await cast(store, "ann")
    before = await contents(store)
    with pytest.raises(TransactionCancelled) as refused:
        await cast(store, "ann")
    first, second = refused.value.reasons
    assert (first.code, first.current) == ("condition_failed", vote_of("ann"))
    assert (second.code, second.current) == (None, None)
    assert refused.value.code == "transaction_cancelled"
    assert not refused.value.conflict
    assert await contents(store) == before


async def test_a_transaction_may_contain_every_kind_of_write(store: Store):
    games = {name: Game(game_id=name, note=name) for name in ("saved", "updated", "deleted", "checked", "replaced")}
    await store.write_many(put=games.values())
    async with store.transact() as tx:
        saved = tx.save(replace(games["saved"], current_turn=9), was=games["saved"])
        tx.update(key("updated"), turn.add(2), note.remove(), when=note.equals("updated"))
        tx.delete(key("deleted"), when=note.exists())
        tx.check(key("checked"), note.equals("checked"))
        tx.check_absent(key("absent"))
        tx.put(Game(game_id="new"), if_absent=True)
        tx.put(Game(game_id="replaced", note="again"), when=note.equals("replaced"))
        tx.delete(key("never there"))
    assert saved == replace(games["saved"], current_turn=9, version=1)
    expected = [
        saved,
        Game(game_id="updated", current_turn=2, version=1),
        games["checked"],
        Game(game_id="new"),
        Game(game_id="replaced", note="again"),
    ]
    assert await contents(store) == {repr(game): 1 for game in expected}


async def test_each_step_of_a_cancelled_transaction_has_its_reason_and_current_item(store: Store):
    stored = {name: await store.put(Game(game_id=name, note=name)) for name in ("a", "b", "c", "d", "e")}
    before = await contents(store)
    with pytest.raises(TransactionCancelled) as refused:
        await run_transaction(
            store,
            lambda tx: tx.put(Game(game_id="new")),
            lambda tx: tx.put(Game(game_id="a"), if_absent=True),
            lambda tx: tx.update(key("b"), turn.add(1), when=note.equals("other")),
            lambda tx: tx.update(key("absent"), turn.add(1)),
            lambda tx: tx.delete(key("c"), when=note.equals("other")),
            lambda tx: tx.check(key("d"), note.missing()),
            lambda tx: tx.check(key("missing")),
            lambda tx: tx.check_absent(key("e")),
            lambda tx: tx.delete(key("also absent")),
        )
    reasons = refused.value.reasons
    failed = "condition_failed"
    assert [reason.code for reason in reasons] == [None, failed, failed, failed, failed, failed, failed, failed, None]
    shown = [None, stored["a"], stored["b"], None, stored["c"], stored["d"], None, stored["e"], None]
    assert [reason.current for reason in reasons] == shown
    assert all(bool(reason.message) == bool(reason.code) for reason in reasons)
    assert await contents(store) == before


async def test_conditions_are_evaluated_on_the_state_before_the_transaction(store: Store):
    await store.put(Game(game_id="a"))
    async with store.transact() as tx:
        tx.delete(key("a"), when=note.missing())
        tx.put(Game(game_id="b"), if_absent=True)
    with pytest.raises(TransactionCancelled):
        await run_transaction(
            store, lambda tx: tx.put(Game(game_id="a")), lambda tx: tx.check(Move.key(game_id="a", turn_number=1))
        )
    assert await contents(store) == {repr(Game(game_id="b")): 1}


async def test_a_transaction_may_span_two_tables(open_store):
    store = await open_store(board, connections)
    async with store.transact() as tx:
        tx.put(Game(game_id="g1"))
        tx.put(Connection(connection_id="c1", room_id="g1"))
    with pytest.raises(TransactionCancelled):
        await run_transaction(
            store, lambda tx: tx.delete(key("g1")), lambda tx: tx.put(Connection(connection_id="c1"), if_absent=True)
        )
    assert await store.get(key("g1"), strong=True) == Game(game_id="g1")
    assert await store.get(Connection.key(connection_id="c1"), strong=True)


async def test_an_outdated_save_cancels_the_whole_transaction(store: Store):
    was = await store.put(Game(game_id="a"))
    now = await store.update(key("a"), turn.add(1))
    with pytest.raises(TransactionCancelled) as refused:
        await run_transaction(
            store, lambda tx: tx.put(Game(game_id="b")), lambda tx: tx.save(replace(was, note="late"), was=was)
        )
    assert [reason.current for reason in refused.value.reasons] == [None, now]
    assert await contents(store) == {repr(now): 1}


async def test_a_save_without_changes_still_requires_the_item(store: Store):
    was = Game(game_id="a")
    with pytest.raises(TransactionCancelled):
        await run_transaction(store, lambda tx: tx.save(was, was=was), lambda tx: tx.put(Game(game_id="b")))
    await store.put(was)
    async with store.transact() as tx:
        assert tx.save(was, was=was) == was
        tx.put(Game(game_id="b"))
    assert sum((await contents(store)).values()) == 2


async def test_an_error_inside_the_block_discards_the_transaction(store: Store):
    def fail(_: Transaction) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await run_transaction(store, lambda tx: tx.put(Game(game_id="a")), fail)
    assert not await contents(store)


async def test_an_empty_transaction_does_nothing(store: Store):
    async with store.transact():
        pass
    assert not await contents(store)


async def test_a_transaction_outside_its_block_is_refused(store: Store):
    tx = store.transact()
    with pytest.raises(BadInput, match="async with"):
        tx.put(Game(game_id="a"))
    async with tx:
        tx.put(Game(game_id="a"))
    with pytest.raises(BadInput, match="async with"):
        tx.put(Game(game_id="b"))


async def test_a_transaction_may_contain_a_hundred_items(store: Store):
    async with store.transact() as tx:
        for number in range(100):
            tx.put(Game(game_id=f"g{number}"), if_absent=True)
    assert sum((await contents(store)).values()) == 100


async def test_a_transaction_of_a_hundred_and_one_items_is_refused(store: Store):
    with pytest.raises(TooManyItems, match="100") as refused:
        await run_transaction(store, *[lambda tx, at=at: tx.put(Game(game_id=f"g{at}")) for at in range(101)])
    assert refused.value.code == "too_many_items"
    assert not await contents(store)


async def test_a_transaction_that_names_an_item_twice_is_refused(store: Store):
    await store.put(Game(game_id="a"))
    before = await contents(store)
    for second in (
        lambda tx: tx.update(key("a"), turn.add(1)),
        lambda tx: tx.delete(key("a")),
        lambda tx: tx.check(key("a")),
        lambda tx: tx.put(Game(game_id="a")),
    ):
        with pytest.raises(SameItemTwice) as refused:
            await run_transaction(
                store, lambda tx: tx.put(Game(game_id="b")), lambda tx: tx.put(Game(game_id="a", note="first")), second
            )
        assert refused.value.code == "same_item_twice"
    assert await contents(store) == before


async def test_a_transaction_with_a_repeated_token_is_carried_out_once(store: Store):
    await store.put(Game(game_id="a"))
    for _ in range(3):
        async with store.transact(token="t-1") as tx:
            tx.update(key("a"), turn.add(1))
            tx.put(Game(game_id="b"), if_absent=True)
    stored = await store.get(key("a"), strong=True)
    assert stored is not None
    assert stored.current_turn == 1
    async with store.transact(token="t-2") as tx:
        tx.update(key("a"), turn.add(1))
    stored = await store.get(key("a"), strong=True)
    assert stored is not None
    assert stored.current_turn == 2


async def test_a_token_reused_for_another_transaction_is_refused(store: Store):
    await store.put(Game(game_id="a"))
    async with store.transact(token="t-1") as tx:
        tx.update(key("a"), turn.add(1))
    before = await contents(store)
    for change in (turn.add(2), note.set("x")):
        with pytest.raises(TokenReused) as refused:
            await run_transaction(store, lambda tx, change=change: tx.update(key("a"), change), token="t-1")
        assert refused.value.code == "token_reused"
    with pytest.raises(TokenReused):
        await run_transaction(
            store, lambda tx: tx.update(key("a"), turn.add(1)), lambda tx: tx.put(Game(game_id="b")), token="t-1"
        )
    assert await contents(store) == before


async def test_the_token_of_a_cancelled_transaction_can_be_used_again(store: Store):
    async def increment() -> None:
        async with store.transact(token="t-1") as tx:
            tx.update(key("a"), turn.add(1))

    with pytest.raises(TransactionCancelled):
        await increment()
    await store.put(Game(game_id="a"))
    await increment()
    stored = await store.get(key("a"), strong=True)
    assert stored is not None
    assert stored.current_turn == 1


async def test_a_token_survives_closing_and_opening(open_store):
    store = await open_store(board)
    await store.put(Game(game_id="a"))
    for _ in range(2):
        async with store.transact(token="t-1") as tx:
            tx.update(key("a"), turn.add(1))
        await store.close()
        store = await open_store(board)
    stored = await store.get(key("a"), strong=True)
    assert stored is not None
    assert stored.current_turn == 1


async def test_a_token_is_remembered_for_ten_minutes(open_store, clock: ManualClock):
    store = await open_store(connections)
    room = path(Connection, lambda it: it.room_id)
    connection_key = Connection.key(connection_id="c1")
    await store.put(Connection(connection_id="c1", room_id="r1"))
    for seconds, expected in ((0, "r2"), (1, "r1"), (590, "r1")):
        await clock.advance(seconds)
        await run_transaction(store, lambda tx: tx.update(connection_key, room.set("r2")), token="t-1")
        moved = await store.get(connection_key, strong=True)
        assert moved is not None
        assert moved.room_id == expected
        await store.put(Connection(connection_id="c1", room_id="r1"))


@pytest.mark.parametrize("token", ["", "x" * 37])
async def test_a_token_that_is_empty_or_too_long_is_refused(store: Store, token: str):
    with pytest.raises(BadInput, match="36"):
        store.transact(token)


async def test_a_token_of_36_characters_is_accepted(store: Store):
    async with store.transact(token="x" * 36) as tx:
        tx.put(Game(game_id="a"))
    assert await contents(store) == {repr(Game(game_id="a")): 1}


async def test_a_transaction_repeated_with_the_time_of_its_first_attempt_is_carried_out_once(
    store: Store, clock: ManualClock
):
    await store.put(Game(game_id="a"))
    started = clock.now()
    for _ in range(3):
        async with store.transact(token="t-1", at=started) as tx:
            tx.update(key("a"), turn.add(1))
        await clock.advance(100)
    stored = await store.get(key("a"), strong=True)
    assert stored is not None
    assert stored.current_turn == 1


async def test_a_cancelled_transaction_names_each_item_and_the_condition_that_failed(store: Store):
    await store.put(CANDIDATE)
    await cast(store, "ann")
    with pytest.raises(TransactionCancelled) as refused:
        async with store.transact() as tx:
            tx.put(vote_of("ann"), if_absent=True)
            tx.update(CANDIDATE_KEY, votes.add(1), when=votes.above(5))
            tx.check(key("g9"))
            tx.put(Game(game_id="g2"))
    vote, candidate, game, other = refused.value.reasons
    assert (vote.entity, vote.condition) == ("Vote", "the item does not exist")
    assert vote.key == dict(zip(("PK", "SK"), _key_of(vote_of("ann")), strict=True))
    assert (candidate.entity, candidate.condition) == ("Candidate", "voteCount > 5")
    assert (game.entity, game.condition, game.current) == ("Game", "the item exists", None)
    assert (other.code, other.entity, other.condition) == (None, "Game", None)
    assert f"Vote (PK = {vote.key['PK']!r}, SK = {vote.key['SK']!r}) does not meet: the item does not exist;" in str(
        refused.value
    )
    assert "does not meet: voteCount > 5" in str(refused.value)


def _key_of(vote: Vote) -> tuple[object, object]:
    made = Vote.key(game_id=vote.game_id, turn_number=vote.turn_number, user_id=vote.user_id)
    return made.pk, made.sk
