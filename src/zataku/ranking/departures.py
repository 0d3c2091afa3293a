"""Where the rankings differ from their document, and which findings of the lint are accepted: why, and the figure."""

from zataku.table import Departure, Waiver

DEPARTURES: tuple[Departure, ...] = (
    Departure(
        "The table's name can be chosen by the variable `ZATAKU_RANKING_TABLE`; outside `prod` it ends in `-<env>`.",
        "The document's name holds the name of one environment. It is the default.",
        "3 to 200 characters, which leaves 54 of the 255 that a table may have for the environment",
    ),
    Departure(
        "`GSI_Find_User_By_Name` projects `Name`.",
        "The document says Keys Only and then reads `Name` from the index.",
        "97 bytes an entry instead of 78 (UUID of 36 characters, name of 5 Hangul); a lookup stays at 0.5 read units",
    ),
    Departure(
        "`Name_Lower` is the NFKC casefold of what can be seen of the name, not its small letters.",
        "Full-width letters, composed and decomposed Hangul, ß and ss are one name to whoever searches it, and joiners "
        "or variation selectors make no second name that looks the same.",
        "at most 18 characters or 33 bytes for one, so 995 bytes of the 2,048 that a key may have",
    ),
    Departure(
        "A name has 1 to 30 characters that can be seen, without space at its ends.",
        "The document sets no limit. Invisible characters imitate the names of others.",
        "30 characters; 120 bytes at most",
    ),
    Departure(
        "Levels are 0 to 1,000,000 and powers 0 to 10^15, with at most 4 decimals.",
        "The document sets no limit. A range without gaps is counted exactly, and a value fits 8 bytes while ranking.",
        "20 digits of the 38 that a number may have",
    ),
    Departure(
        "A `NAME#<lower>` item, `CLAIM`, says who holds a name.",
        "An index cannot keep a name from being held twice, and names change hands: a claim is taken in the "
        "transaction that renames, which also removes the old holder's `Name_Lower`.",
        "4 more write units for a new name (claim deleted, claim taken), 8 in all; 54 bytes a player (`a`, `A101`), "
        "100 (5 Hangul, UUID of 36 characters), 175 (30 Hangul)",
    ),
    Departure(
        "A player who left, or whose name was taken over, has no `Name_Lower` and is not ranked until a new name is "
        "known. Whoever held a name when a day ended is ranked on it.",
        "The daily job walks the index of names and the last roster, never the whole table.",
        "0 days missed when the new name comes with the same import; otherwise each day until it comes",
    ),
    Departure(
        "`METADATA` also has `FirstDay`, `CurrentDay`, `ValuesAt`, `ClosingDay`, `ClosingName`, `ClosingLevel` and "
        "`ClosingPower`.",
        "What a player had when the day ended must be known while values of the next day already come in, and older "
        "values must not replace newer ones.",
        "271 bytes instead of 128, still 1 write unit; 1 day can be told after it ended, and one missed longer ago "
        "for whoever changed on no more than 1 day since",
    ),
    Departure(
        "Values of a moment to come are refused.",
        "Older values never replace newer ones, so that a wrong clock would keep a player's values out until then.",
        "5 minutes that clocks may differ",
    ),
    Departure(
        "`ROSTER#<date>#<number>` items fix who is ranked on a day, and with what, before anything of it is written.",
        "A day must be the same however often its job is killed and started again, while players leave and grow. "
        "Each part is put where none lies and goes on behind the one before, so that all runs share one roster.",
        "84,070 bytes and 83 write units for 1,000 players: 83,000 units for 1,000,000, 2.8 % of their snapshots; read "
        "twice, 42,000 read units",
    ),
    Departure(
        "Snapshots are written in batches, without a condition that their day is not published.",
        "All runs write what the roster says, so that one that comes late replaces itself. In transactions that demand "
        "an unpublished day each would cost 4 write units instead of 3.",
        "1,000,000 write units a day saved at 1,000,000 players",
    ),
    Departure(
        "A roster finds players by the index of names and by the roster of the last published day.",
        "An index has no moment: whoever is renamed during the walk may be passed by, and whoever left has no entry. "
        "The last roster finds both, but not who is newer than it.",
        "only players who entered since the last published day and left, lost or changed their name between the end of "
        "the day and the end of the walk of 11,842 read units at 1,000,000 names; 0 of all others",
    ),
    Departure(
        "`DAY#<date>` counts players whose standing of that day is `Missing`.",
        "A day that was missed for long cannot be told for whoever changed on several days since. The job refuses to "
        "publish such a day unless it is told how many may be missing.",
        "0 may be missing unless the host says otherwise",
    ),
    Departure(
        "The daily job keeps the UUIDs in memory while it fixes a roster, and the values while it ranks.",
        "The index of names is in the order of names, and a rank needs all values. All else streams: parts of 1,000 "
        "players.",
        "peaks at 1,000,000 players: 102 MB for the UUIDs of 36 characters, afterwards 41 MB for the values of both "
        "measures, of which 16 MB stay (measured)",
    ),
    Departure(
        "A `DAY#<date>` item in the partition `DAYS` says that a day is complete.",
        "A day is written for minutes; readers show the newest published one, so that nobody sees a mixed one.",
        "2 write units a day, since it comes with its histograms in one transaction, and 0.5 read units to find the "
        "newest",
    ),
    Departure(
        "Two `HISTOGRAM#<measure>` items a day hold where everybody stands: buckets of equal count with their first "
        "player.",
        "The rank of anybody, and the way to any page, without reading the ranking from its top.",
        "78,938 bytes at 1,000,000 players, 156 write units in the transaction that publishes, 314 for all of it, and "
        "10 read units; at most 999 entries to count, about 11 read units, for any rank",
    ),
    Departure(
        "A jump leads to the first of those who share a value, not into the middle of a tie.",
        "Indexes keep an order of their own among equal values, which nobody promises, so that a place among equals "
        "names no player. From there one pages on.",
        "1 read unit for 50 players passed; about 10,600 to the end of a tie of 1,000,000 (87 bytes an entry)",
    ),
    Departure(
        "A displayed rank is a competition rank (1, 2, 2, 4), and ties at rank 100 are all official.",
        "`Page × PageSize + Index + 1` is a position: it gives two players with the same level different ranks.",
        "100 official rows, and as many more as share rank 100",
    ),
    Departure(
        "The table has a stream with both images.",
        "A prefix cannot be searched in a partition key, so each process keeps all names in memory, loaded by a walk "
        "through the index of names and kept current by the stream.",
        "97 MB or 11,842 read units for a walk through 1,000,000 names",
    ),
    Departure(
        "The partition keys of the four indexes by day stay unsharded.",
        "One partition takes about 1,000 write units a second, so that is the pace of the daily job. With 10 shards "
        "(`SNAP#<date>#<n>`) it would take a tenth, but every page, range and count would be 10 queries to merge, and "
        "the history between two days could no longer be one BETWEEN.",
        "3 write units a player: 3,000,000 for 1,000,000 players, 1,000 of them a second in each index: 16 min 40 s; "
        "1 min 40 s with 10 shards",
    ),
)

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
