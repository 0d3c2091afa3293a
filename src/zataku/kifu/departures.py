"""Where the library differs from its design document: what, why, and the figure behind it.

Units are those of `tests/kifu/test_costs.py`, for a record of 300 KB where nothing else is said.
"""

from zataku.table import Departure

DEPARTURES: tuple[Departure, ...] = (
    Departure(
        "The table is called ShogiProject, with a suffix for the environment outside prod.",
        "The document names no table.",
        "1 table, 6 indexes, 16 kinds of items, 8 of them the document's",
    ),
    Departure(
        "`users#<username>` and `analysis#<id>` are partition keys, not `users` and `analysis`.",
        "The document's list of keys says so, its entities do not: all users and all analyses would share a partition.",
        "1,000 write units a second for everybody together: 50 results of 20 KB",
    ),
    Departure(
        "A share code is looked up in CommonGSI, not in SwapIndex; then the record is read strongly.",
        "The code is stored in `cgsi_pk`, which SwapIndex does not have as a key. An index is late, so that a link "
        "that was switched off would still open; the record itself knows.",
        "38 read units for the index and 76 for the record, 0 views after switching off",
    ),
    Departure(
        "Slugs and tag names take a claim item each: `pk = uniq#uname#<user>`, `sk = slug#…` or `tname#…`.",
        "The document has CommonLSI for the check of duplicates, but no index can refuse a second one.",
        "3 write units for each new record or tag",
    ),
    Departure(
        "The claim of a slug holds the record's id and the number of its text; other writes check it in place of the "
        "record.",
        "A check in a transaction costs as much as a write of the item, and a record is large.",
        "2 write units in place of 602",
    ),
    Departure(
        "`result` may also be jishogi or none.",
        "Games end by impasse, and records of others' games have no result for the owner.",
        "6 values in place of 4",
    ),
    Departure(
        "`kifu_max` and `tag_max` are caps, optional for a user; `kifu_count` and `tag_count` stand beside them.",
        "Ids are random, so there is no largest one. A count in the same transaction is what a cap can be checked by.",
        "2,000 records (0.6 GB) and 50 tags by default; at most 25,000 (8.8 GB of the 10 GB of a partition) and 100 "
        "(one batch has all tags of a record)",
    ),
    Departure(
        "`latest_access` is written for the owner only, at most once an hour for each record and tag.",
        "Every write copies the whole item into both global indexes.",
        "905 write units for a look at a shared record and 604 at another, beside 76 read units for the look itself; 4 "
        "for a tag",
    ),
    Departure(
        "Sizes: slug 255 characters and 1,019 bytes, tag name 127 characters, record 307,200 bytes, memo 10,000 "
        "characters, result 65,536 bytes.",
        "The document gives none. A sort key takes 1,024 bytes, which 255 characters of four bytes pass with their "
        "prefix by one; an item takes 400 KB.",
        "348,526 bytes for the largest record; 913 write units to add one of 300 KB: 602 for the table, 301 for "
        "SwapIndex, 4 for the local indexes, 6 for claim and count; 301 more for CommonGSI while it is shared; 911 to "
        "change its moves, 916 to remove it",
    ),
    Departure(
        "Slugs and tag names are in normal form C, without control characters or space at their ends; a slug has no "
        "empty segment, `.` or `..`.",
        "Two names that look the same must not be two.",
        "0 bytes",
    ),
    Departure(
        "Analyses have ids that sort by time, 26 signs, and optional attributes `kifu_id` and `request`.",
        "CommonGSI sorts by `sk`, so the ids decide the order of the list. A job must know what it is about.",
        "10 signs of time to the millisecond, 80 bits of chance",
    ),
    Departure(
        "A result that the owner keeps is an item of its own: `pk = kept#kid#<kifu_id>`, `sk = aid#<analysis_id>`.",
        "Inside the record it would be written and read with the moves every time, and would not fit the largest.",
        "62 write units for a result of 20 KB in place of 963 for a shared record with it inside",
    ),
    Departure(
        "Positions: `pk = pos#uname#<user>`, `sk = at#<hash>#<kifu_id>#<text>`, and lists of them under "
        "`of#<kifu_id>#<text>#<part>`.",
        "Search by position needs them. The number of the text keeps a job that is late from mixing positions of old "
        "moves with those of new ones. Their sort keys have no `kid#`, so that a record's partition of SwapIndex stays "
        "small; still every item with `pk` and `sk` lies in SwapIndex.",
        "121 positions of a game of 120 moves: 373 write units, 123 of them for SwapIndex, which also keeps a second "
        "copy of 9 KB; at most 98,000 positions a record, where 300 KB of KI2 have about 25,600 moves; at most 999,999 "
        "changes of its moves",
    ),
    Departure(
        "The table has a stream (`NEW_AND_OLD_IMAGES`), read by a consumer named unlinking.",
        "A tag may have a link to each of 2,000 records and a transaction takes 100 items. The consumer reads the "
        "table and its local indexes strongly, not SwapIndex, which may be late: nothing is missed, and doing it twice "
        "changes nothing.",
        "2,051 read units and 4,002 write units for a tag on all of 2,000 records",
    ),
    Departure(
        "What is removed, and a text that is replaced, leaves a note: `pk = gone#uname#<user>`, `sk = kid#…`, `tid#…` "
        "or `text#…`, until all that hung on it is taken away.",
        "A stream keeps changes for 24 hours, so that it cannot be the only one to know. After a longer outage of the "
        "consumer, the service tidies each user by the notes.",
        "3 write units for the note and 2 for its end; 1 read unit for a user who has none",
    ),
    Departure(
        "User names have 1 to 32 small letters, digits, `-` and `_`; ids of records 10 to 32 letters and digits, of "
        "tags 7 to 32, share codes 13 to 43.",
        "The document has examples only. The ids and the code of its items fit; the code `ABC123` of its query example "
        "does not, since six signs can be guessed. New ids have 16 signs and codes 22.",
        "95 bits of chance in an id, 130 in a code",
    ),
    Departure(
        "Analyses expire 24 hours after they were asked for or finished; a request has at most 2,000 characters.",
        "The document has `expired` without a span, and no request. What the owner keeps does not expire.",
        "86,400 seconds; 8,000 bytes at most for a request",
    ),
    Departure(
        "Nothing in the table limits how many users may see a record or a library, and how many results are kept with "
        "a record.",
        "Each is an item of its own in a partition apart from the records, listed in pages and taken away in batches, "
        "so that many of them slow nothing else down. A count would make it an error to allow somebody twice. How many "
        "are sensible is for the service to say.",
        "46 bytes and 5 write units for a permission; 163,000 results of 64 KB until the partition of one record has "
        "its 10 GB",
    ),
    Departure(
        "Claims lie in SwapIndex too, those of all users for one slug or tag name in one of its partitions.",
        "SwapIndex has every item with `pk` and `sk`. Nobody reads these partitions; a popular name such as 四間飛車 "
        "only meets the limit on writes, which then holds up the table.",
        "1 write unit for each claim that comes or goes: 1,000 users a second for the same name",
    ),
    Departure(
        "Times are ISO 8601 in UTC to the second, such as `2025-12-31T11:11:31Z`.",
        "The document names ISO 8601 alone. Texts of equal width sort by time in the local indexes, and conditions "
        "compare them; fractions of a second and other zones would not sort.",
        "20 characters",
    ),
    Departure(
        "A record is shared exactly when it has a share code, and always has a slug.",
        "The document leaves both open; `share` with no code could not be found, and a folder shows records by slug.",
        "at most 1 code for each record",
    ),
)
