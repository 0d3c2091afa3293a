"""Writes about the positions that records reached."""

from collections.abc import Iterable, Sequence

from zataku.kifu.claims import claim_key, still_stands
from zataku.kifu.design import kifu_table
from zataku.kifu.errors import TooManyAtOnce
from zataku.kifu.items import Position, PositionList, SlugClaim
from zataku.kifu.limits import PART_POSITIONS, KifuId, PositionKey, UserName
from zataku.table import Budget, Plan, check, delete, put

A_LIST = PositionList(username=UserName("h-akira"), kifu_id=KifuId("fdsaj9d9s0"), part=0, positions=bytes(8))


def position_parts(positions: Iterable[PositionKey]) -> list[list[PositionKey]]:
    """The positions of a game, each once, in parts that `keep_positions` takes one by one."""
    once = list(dict.fromkeys(positions))
    return [once[at : at + PART_POSITIONS] for at in range(0, len(once), PART_POSITIONS)]


@kifu_table.write(budget=Budget(writes=299, of="98 positions"), example={"part": 0, "positions": ["0123456789abcdef"]})
def keep_positions(claim: SlugClaim, part: int, positions: Sequence[PositionKey]) -> Plan[PositionList]:
    """Up to 98 positions of a record can be searched for, if the record is still there. A longer game has more parts.

    A part that is there is refused: take it away first with `forget_positions`. A game whose parts are not all written
    is found by those that are, and can be written again from the beginning.
    """
    if len(positions) > PART_POSITIONS:
        raise TooManyAtOnce(f"A part has at most {PART_POSITIONS} positions. Split them with position_parts.")
    packed = bytes.fromhex("".join(positions))
    listed = PositionList(username=claim.username, kifu_id=claim.kifu_id, part=part, positions=packed)
    reached = [Position(username=claim.username, position=at, kifu_id=claim.kifu_id) for at in positions]
    return Plan(put(listed, if_absent=True), check(claim_key(claim), still_stands(claim)), *map(put, reached))


@kifu_table.write(budget=Budget(writes=297, of="98 positions"), example={"listed": A_LIST})
def forget_positions(listed: PositionList) -> Plan[PositionList]:
    """A part of a record's positions goes. To take it away twice is no error."""
    username, kifu_id = listed.username, listed.kifu_id
    gone = [delete(Position.key(username=username, position=at, kifu_id=kifu_id)) for at in listed.hashes]
    return Plan(delete(PositionList.key(username=username, kifu_id=kifu_id, part=listed.part)), *gone)
