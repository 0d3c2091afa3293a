"""What an account has done in Othello by vote, without the account.

A move that was played, the counts of a turn and the candidates that others voted for stay. A vote stays as well, so
that counts go on being equal to votes, but is nobody's: it lies under an id made up for it alone, and so does what the
account proposed.
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
    """Takes the account out of everything it did; its profile goes last."""

    async def remove(account_id: AccountId) -> None:
        user_id = UserId(account_id)
        async for vote in context.store.each(votes_by(user_id)):
            await _settled(context.store, _nobodys_vote(vote, context.random), context.random)
        async for candidate in context.store.each(candidates_by(user_id)):
            await _settled(context.store, _nobodys_candidate(candidate, context.random), context.random)
        await context.store.delete(User.key(user_id=user_id))

    return remove


def _nobodys_vote(vote: Vote, random: Random) -> Plan[Vote]:
    """The same vote in the same turn, under an id that belongs to nobody. The counts are not touched."""
    mine = Vote.key(game_id=vote.game_id, turn_number=vote.turn_number, user_id=vote.user_id)
    return Plan(put(replace(vote, user_id=_nobody(random)), if_absent=True), delete(mine, when=_voter.exists()))


def _nobodys_candidate(candidate: Candidate, random: Random) -> Plan[Candidate]:
    """The same proposal, by nobody. Votes that come in meanwhile are not touched: only what differs is written."""
    return Plan(save(replace(candidate, created_by=f"USER#{_nobody(random)}"), was=candidate))


async def _settled(store: Store, plan: Plan[E], random: Random) -> None:
    """Carry it out once, lost replies or not."""
    try:
        await store.write(plan, token=f"{random.getrandbits(128):032x}")
    except TransactionCancelled as refused:
        # An index that is late shows what was done already: that is refused, and well.
        if refused.conflict:
            raise


def _nobody(random: Random) -> UserId:
    return UserId(str(UUID(int=random.getrandbits(128), version=4)))
