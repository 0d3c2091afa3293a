"""What the lint finds in the rankings and is meant, why, and up to which figure."""

from zataku.table import Waiver

# The four indexes by day. Each takes the writes of a day under one partition key; what that means is a figure.
_OF_A_DAY = {
    "GSI_Official_Level_Rank": "The ranks of one day, 100 and some ties, are written once and read in one query.",
    "GSI_Official_Power_Rank": "The ranks of one day, 100 and some ties, are written once and read in one query.",
    "GSI_Internal_Level": "One partition key a day gives every page and range of the ranking by one query.",
    "GSI_Internal_Power": "One partition key a day gives every page and range of the ranking by one query.",
}
_WRITE_TIME = (
    "1,000,000 players are written in 1,000 s (16 min 40 s) at 1,000 units a second; reads share 3,000 units a second, "
    "which is 3,000 pages of 50 players"
)
_FEW_RANKS = "100 entries a day plus ties at rank 100, and 3,000 units or 2,000 readings of the whole a second"

WAIVERS: tuple[Waiver, ...] = (
    *(
        Waiver("hot-partition", f"Snapshot.{index}", reason, _FEW_RANKS if "Official" in index else _WRITE_TIME)
        for index, reason in _OF_A_DAY.items()
    ),
    Waiver(
        "hot-partition",
        "Day.PK",
        "Days lie side by side so that the newest published one is one query of one item.",
        "1 write a day, 36,525 items of some 100 bytes in a century; read by each process once a minute",
    ),
)
