"""Removal of an account from Othello by vote.

Moves, vote counts and candidates stay. Votes stay as well, so that counts remain equal to votes, but each is stored
under a random id of its own, and so is the author of each candidate.
"""

from random import Random
from typing import TypeVar
from uuid import UUID

from msgspec.structs import replace

from zataku.othello.design import Candidate, User, Vote, candidates_by, votes_by
from zataku.othello.limits import UserId
from zataku.platform.limits import AccountId
from zataku.system import AppContext, Remove
from zataku.table import (
    Entity,
    Plan,
    Store,
    TransactionCancelled,
    delete,
    path,
    put,
    save,
)

E = TypeVar("E", bound=Entity)

_voter = path(Vote, lambda vote: vote.user_id)


def removal(context: AppContext) -> Remove:
    """The function that anonymizes the account's votes and candidates, then deletes its profile."""

    async def remove(account_id: AccountId) -> None:
        user_id = UserId(account_id)
        async for vote in context.store.each(votes_by(user_id)):
            await _write_once(context.store, _anonymous_vote(vote, context.random), context.random)
        async for candidate in context.store.each(candidates_by(user_id)):
            await _write_once(context.store, _anonymous_candidate(candidate, context.random), context.random)
        await context.store.delete(User.key(user_id=user_id))

    return remove


def _anonymous_vote(vote: Vote, random: Random) -> Plan[Vote]:
    """The plan that stores a vote under a random user id. The counts are unchanged."""
    key = Vote.key(game_id=vote.game_id, turn_number=vote.turn_number, user_id=vote.user_id)
    return Plan(put(replace(vote, user_id=_random_user_id(random)), if_absent=True), delete(key, when=_voter.exists()))


def _anonymous_candidate(candidate: Candidate, random: Random) -> Plan[Candidate]:
    """The plan that replaces the author of a candidate. No other attribute is written, so concurrent votes stay."""
    return Plan(save(replace(candidate, created_by=f"USER#{_random_user_id(random)}"), was=candidate))


async def _write_once(store: Store, plan: Plan[E], random: Random) -> None:
    """Carry out a plan once, even when a reply is lost."""
    try:
        await store.write(plan, token=f"{random.getrandbits(128):032x}")
    except TransactionCancelled as error:
        # A stale index read may return an item that is anonymized already; its plan fails its condition.
        if error.conflict:
            raise


def _random_user_id(random: Random) -> UserId:
    return UserId(str(UUID(int=random.getrandbits(128), version=4)))
