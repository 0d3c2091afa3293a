"""Where the rankings differ from their document, why, and the figure behind it."""

from zataku.table import Departure

DEPARTURES: tuple[Departure, ...] = (
    Departure(
        "The table's name can be chosen by the variable `ZATAKU_RANKING_TABLE`; outside `prod` it ends in `-<env>`.",
        "The document's name holds the name of one environment. It is the default.",
        "1 name for each environment, 3 to 255 characters",
    ),
    Departure(
        "`GSI_Find_User_By_Name` projects `Name`.",
        "The document says Keys Only and then reads `Name` from the index.",
        "97 bytes an entry instead of 78 (UUID of 36 characters, name of 5 Hangul); a lookup stays at 0.5 read units",
    ),
    Departure(
        "`Name_Lower` is the NFKC casefold of the name, not its small letters.",
        "Full-width letters, composed and decomposed Hangul, ß and ss are one name to whoever searches it.",
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
        "4 more write units for a new name (claim deleted, claim taken), 8 in all; 65 to 100 bytes a player",
    ),
    Departure(
        "A player whose name was taken over has no `Name_Lower` and is not ranked until a new name is known.",
        "The daily job walks the index of names and never the whole table.",
        "0 days missed when the new name comes with the same import; otherwise each day until it comes",
    ),
    Departure(
        "`METADATA` also has `CurrentDay`, `ValuesAt`, `ClosingDay`, `ClosingName`, `ClosingLevel` and `ClosingPower`.",
        "What a player had when the day ended must be known while values of the next day already come in, and older "
        "values must not replace newer ones.",
        "253 bytes instead of 128, still 1 write unit; 1 day can be told after it ended, and one missed longer ago "
        "for whoever changed on no more than 1 day since",
    ),
    Departure(
        "A `DAY#<date>` item in the partition `DAYS` says that a day is complete.",
        "A day is written for minutes; readers show the newest published one, so that nobody sees a mixed one.",
        "1 write unit a day, and 0.5 read units to find the newest",
    ),
    Departure(
        "Two `HISTOGRAM#<measure>` items a day hold where everybody stands: buckets of equal count with their first "
        "player.",
        "The rank of anybody, and the way to any page, without reading the ranking from its top.",
        "78,938 bytes at 1,000,000 players, 78 write units and 10 read units; at most 999 entries to count, about 11 "
        "read units, for any rank",
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
