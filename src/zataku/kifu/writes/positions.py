"""Writes of the positions that records reach."""

from collections.abc import Iterable, Sequence

from zataku.kifu.design import kifu_table
from zataku.kifu.entities import Position, PositionList, SlugClaim
from zataku.kifu.errors import TooManyItems
from zataku.kifu.limits import MAX_PART_POSITIONS, KifuId, PositionHash, PositionKey, UserName
from zataku.kifu.writes.records import claim_key, text_unchanged
from zataku.table import Budget, Plan, check, delete, put

A_LIST = PositionList(username=UserName("h-akira"), kifu_id=KifuId("fdsaj9d9s0"), text=0, part=0, positions=bytes(8))


def position_parts(positions: Iterable[PositionKey]) -> list[list[PositionKey]]:
    """The distinct positions of a game, in parts for `keep_positions`."""
    distinct = list(dict.fromkeys(positions))
    return [distinct[start : start + MAX_PART_POSITIONS] for start in range(0, len(distinct), MAX_PART_POSITIONS)]


def _position(listed: PositionList, position: PositionHash) -> Position:
    return Position(username=listed.username, position=position, kifu_id=listed.kifu_id, text=listed.text)


@kifu_table.write(budget=Budget(writes=299, of="98 positions"), example={"part": 0, "positions": ["0123456789abcdef"]})
def keep_positions(claim: SlugClaim, part: int, positions: Sequence[PositionKey]) -> Plan[PositionList]:
    """Add up to 98 positions of a record to the search, if the record exists with the same moves.

    Read the claim first, strongly, and then the moves: a job whose moves have changed since is refused. A longer game
    has several parts, and no position is in two of them: a part that exists, or that has a position of another part, is
    refused. An interrupted job is repeated, skipping the parts that exist. Positions of earlier texts stay until
    `cleanup` deletes them.
    """
    if len(positions) > MAX_PART_POSITIONS:
        raise TooManyItems(f"A part has at most {MAX_PART_POSITIONS} positions. Split them with position_parts.")
    packed = bytes.fromhex("".join(positions))
    listed = PositionList(username=claim.username, kifu_id=claim.kifu_id, text=claim.text, part=part, positions=packed)
    reached = [put(_position(listed, position), if_absent=True) for position in listed.hashes]
    return Plan(put(listed, if_absent=True), check(claim_key(claim), text_unchanged(claim)), *reached)


@kifu_table.write(budget=Budget(writes=297, of="98 positions"), example={"listed": A_LIST})
def delete_positions(listed: PositionList) -> Plan[PositionList]:
    """Delete a part of a record's positions. Deleting it twice is not an error."""
    username, kifu_id, text = listed.username, listed.kifu_id, listed.text
    deletions = [
        delete(Position.key(username=username, position=position, kifu_id=kifu_id, text=text))
        for position in listed.hashes
    ]
    return Plan(delete(PositionList.key(username=username, kifu_id=kifu_id, text=text, part=listed.part)), *deletions)
