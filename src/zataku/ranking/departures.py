"""Differences between the rankings and their design document, and waived lint findings, each with reason and figure."""

from zataku.table import Departure, Waiver

DEPARTURES: tuple[Departure, ...] = (
    Departure(
        "The table's name can be set by the variable `ZATAKU_RANKING_TABLE`; outside `prod` it ends in `-<env>`.",
        "The name in the document contains the name of one environment. It is the default.",
        "3 to 200 characters, which leaves 54 of the 255 that a table may have for the environment",
    ),
    Departure(
        "`GSI_Find_User_By_Name` projects `Name`.",
        "The document says Keys Only and then reads `Name` from the index.",
        "97 bytes an entry instead of 78 (UUID of 36 characters, name of 5 Hangul); a lookup stays at 0.5 read units",
    ),
    Departure(
        "`Name_Lower` is the NFKC casefold of the name's visible characters, not the name in lower case.",
        "Full-width letters, composed and decomposed Hangul, ß and ss are found as the same name, and a joiner or a "
        "variation selector does not make a second name that looks the same.",
        "at most 18 characters or 33 bytes for one character, so 995 bytes of the 2,048 that a key may have",
    ),
    Departure(
        "A name has 1 to 30 visible characters, without space at either end.",
        "The document sets no limit. With invisible characters, a name could imitate another.",
        "30 characters; 120 bytes at most",
    ),
    Departure(
        "`<UUID>` in keys is any identifier of 1 to 64 letters, digits, `_` and `-`. Upper and lower case differ.",
        "The document says UUID, but its example is `A101`: identifiers are those of the ranked game.",
        "64 characters",
    ),
    Departure(
        "Levels are 0 to 1,000,000 and powers 0 to 10^15, with at most 4 decimals.",
        "The document sets no limit. With a fixed step, ranges are counted exactly, and a value fits in 8 bytes while "
        "ranking.",
        "20 digits of the 38 that a number may have",
    ),
    Departure(
        "A `NAME#<lower>` item, `CLAIM`, stores which player holds a name.",
        "An index cannot prevent two players from holding one name, and a name can pass to another player: a claim is "
        "written in the transaction that renames, which also removes the old holder's `Name_Lower`.",
        "4 more write units for a new name (claim deleted, claim put), 8 in all; 54 bytes a player (`a`, `A101`), "
        "100 (5 Hangul, UUID of 36 characters), 175 (30 Hangul)",
    ),
    Departure(
        "A player who left, or whose name was taken over, has no `Name_Lower` and is not ranked until a new name is "
        "known. A player who held a name at the end of a day is ranked on that day.",
        "The daily job reads the index of names and the last roster, never the whole table.",
        "0 days missed when the same import has the new name; otherwise each day until it is imported",
    ),
    Departure(
        "`METADATA` also has `FirstDay`, `CurrentDay`, `ValuesAt`, `ClosingDay`, `ClosingName`, `ClosingLevel` and "
        "`ClosingPower`.",
        "The state at the end of a day must stay known while values of the next day are already imported, and older "
        "values must not replace newer ones.",
        "271 bytes instead of 128, still 1 write unit; 1 day is known after its end, and an earlier missed day for "
        "players who changed on at most 1 day since",
    ),
    Departure(
        "Values with a time in the future are refused.",
        "Older values never replace newer ones, so a wrong clock would block a player's values until that time.",
        "5 minutes that clocks may differ",
    ),
    Departure(
        "`ROSTER#<date>#<number>` items fix the players and values of a day before anything else of it is written.",
        "A day must be the same however often its job is killed and restarted, while players leave and their values "
        "change. A part is put only if it does not exist, and continues the previous one, so that all runs share one "
        "roster.",
        "84,070 bytes and 83 write units for 1,000 players: 83,000 units for 1,000,000, 2.8 % of their snapshots; read "
        "twice, 42,000 read units",
    ),
    Departure(
        "Snapshots are written in batches, without a condition that their day is not published.",
        "All runs write what the roster contains, so a late snapshot is replaced by an equal one. In transactions that "
        "require an unpublished day, each would cost 4 write units instead of 3.",
        "1,000,000 write units a day saved at 1,000,000 players",
    ),
    Departure(
        "A roster finds players by the index of names and by the roster of the last published day.",
        "A scan of an index is not a consistent snapshot: a player who is renamed during it may be missed, and a "
        "player who left has no entry. The last roster has both, but not players who entered after it.",
        "missed are only players who entered since the last published day and left, lost or changed their name between "
        "the end of the day and the end of the scan of 11,842 read units at 1,000,000 names; 0 of all others",
    ),
    Departure(
        "`DAY#<date>` counts players whose standing of that day is `Missing`.",
        "The standings of a day that was missed long ago are unknown for players who changed on several days since. "
        "The job refuses to publish such a day unless the number that may be missing is given.",
        "0 may be missing by default",
    ),
    Departure(
        "The daily job keeps the UUIDs in memory while it fixes a roster, and the values while it ranks.",
        "The index of names is sorted by name, and a rank depends on all values. Everything else is streamed in parts "
        "of 1,000 players.",
        "peaks at 1,000,000 players: 102 MB for the UUIDs of 36 characters, then 41 MB for the values of both "
        "measures, of which 16 MB remain (measured)",
    ),
    Departure(
        "A `DAY#<date>` item in the partition `DAYS` marks a day as complete.",
        "Writing a day takes minutes; readers show the newest published day, never an incomplete one.",
        "2 write units a day, since it is put with its histograms in one transaction, and 0.5 read units to find the "
        "newest",
    ),
    Departure(
        "Two `HISTOGRAM#<measure>` items a day hold the distribution of the values: buckets of equal count with their "
        "first player.",
        "They give the rank of any player, and the start of any page, without reading the ranking from its top.",
        "78,938 bytes at 1,000,000 players, 156 write units in the transaction that publishes, 314 for all of it, and "
        "10 read units; at most 999 entries to count, about 11 read units, for any rank",
    ),
    Departure(
        "A jump leads to the first of the players who share a value, not into the middle of a tie.",
        "The order of equal values in an index is undefined, so a position inside a tie identifies no player. Paging "
        "continues from there.",
        "1 read unit for 50 skipped players; about 10,600 to the end of a tie of 1,000,000 (87 bytes an entry)",
    ),
    Departure(
        "A displayed rank is a competition rank (1, 2, 2, 4), and ties at rank 100 are all official.",
        "`Page × PageSize + Index + 1` is a position: it gives two players with the same level different ranks.",
        "100 official rows, plus all others that share rank 100",
    ),
    Departure(
        "The table has a stream with both images.",
        "A partition key cannot be searched by prefix. A process that searches by prefix loads all names by a scan of "
        "the index of names, and keeps them current by the stream.",
        "97 MB or 11,842 read units for a scan of 1,000,000 names",
    ),
    Departure(
        "Players from a value downwards or upwards, single profiles, snapshots and claims, and published days are "
        "access patterns too.",
        "They serve jumps into the ranking, players with similar values, comparisons, the writes and a calendar. The "
        "document's indexes support them unchanged.",
        "0 further indexes",
    ),
    Departure(
        "The partition keys of the four indexes by day stay unsharded.",
        "One partition accepts about 1,000 write units a second, which limits the daily job. With 10 shards "
        "(`SNAP#<date>#<n>`) it would take a tenth of the time, but every page, range and count would be 10 queries to "
        "merge, and the history between two days could no longer be one BETWEEN.",
        "3 write units a player: 3,000,000 for 1,000,000 players, 1,000 of them a second in each index: 16 min 40 s; "
        "1 min 40 s with 10 shards",
    ),
)

# The four indexes by day, each of which has all entries of a day under one partition key.
_DAY_INDEXES = {
    "GSI_Official_Level_Rank": "The ranks of one day, 100 and some ties, are written once and read in one query.",
    "GSI_Official_Power_Rank": "The ranks of one day, 100 and some ties, are written once and read in one query.",
    "GSI_Internal_Level": "With one partition key a day, every page and range of the ranking is one query.",
    "GSI_Internal_Power": "With one partition key a day, every page and range of the ranking is one query.",
}
_WRITE_TIME = (
    "1,000,000 players are written in 1,000 s (16 min 40 s) at 1,000 units a second; reads share 3,000 units a second, "
    "which is 3,000 pages of 50 players"
)
_FEW_RANKS = "100 entries a day plus ties at rank 100, and 3,000 units or 2,000 reads of all of them a second"

WAIVERS: tuple[Waiver, ...] = (
    *(
        Waiver("hot-partition", f"Snapshot.{index}", reason, _FEW_RANKS if "Official" in index else _WRITE_TIME)
        for index, reason in _DAY_INDEXES.items()
    ),
    Waiver(
        "hot-partition",
        "Day.PK",
        "All days share a partition so that the newest published one is found by one query of one item.",
        "1 write a day, 36,525 items of about 100 bytes in a century; 6,000 reads of the newest day a second",
    ),
)
