"""Differences between the library and its design document, each with reason and figure.

Units are those of `tests/kifu/test_costs.py`, for a record of 300 KB unless stated otherwise.
"""

from zataku.table import Departure

DEPARTURES: tuple[Departure, ...] = (
    Departure(
        "The table is called ShogiProject, with a suffix for the environment outside prod.",
        "The document names no table.",
        "1 table, 6 indexes, 16 entities, 8 of them from the document",
    ),
    Departure(
        "`users#<username>` and `analysis#<id>` are partition keys, not `users` and `analysis`.",
        "The document has them in its list of keys, but not in its entities, with which all users and all analyses "
        "would share a partition.",
        "1,000 write units a second for all users together: 50 results of 20 KB",
    ),
    Departure(
        "A share code is looked up in CommonGSI, not in SwapIndex; then the record is read strongly.",
        "The code is stored in `cgsi_pk`, which is not a key of SwapIndex. An index is eventually consistent, so a "
        "disabled link could still open; the record itself is current.",
        "38 read units for the index and 76 for the record, 0 views after the link is disabled",
    ),
    Departure(
        "Each slug and tag name has a claim item: `pk = uniq#uname#<user>`, `sk = slug#…` or `tname#…`.",
        "The document checks for duplicates in CommonLSI and SwapIndex, but an index cannot enforce uniqueness.",
        "3 write units for each new record or tag",
    ),
    Departure(
        "The claim of a slug holds the record's id and the number of its text; other writes check it in place of the "
        "record.",
        "A condition check in a transaction costs as much as a write of the item, and a record is large.",
        "2 write units instead of 602",
    ),
    Departure(
        "`result` may also be jishogi or none.",
        "Games can end by impasse, and a game that the owner did not play has no result for the owner.",
        "6 values instead of 4",
    ),
    Departure(
        "`kifu_max` and `tag_max` are caps, optional for a user; `kifu_count` and `tag_count` are added.",
        "Ids are random, so there is no largest one. A cap is checked with a count in the same transaction.",
        "2,000 records (0.6 GB) and 50 tags by default; at most 25,000 (8.8 GB of the 10 GB of a partition) and 100 "
        "(all tags of a record fit in one batch)",
    ),
    Departure(
        "`latest_access` is written for the owner only, at most once an hour for each record and tag.",
        "Every write copies the whole item into both global indexes.",
        "905 write units for a view of a shared record and 604 for another one, in addition to 76 read units for the "
        "view itself; 4 for a tag",
    ),
    Departure(
        "Sizes: slug 255 characters and 1,019 bytes, tag name 127 characters, record 307,200 bytes, memo 10,000 "
        "characters, result 65,536 bytes.",
        "The document gives none. A sort key has at most 1,024 bytes, one less than 255 characters of four bytes with "
        "their prefix; an item has at most 400 KB.",
        "348,526 bytes for the largest record; 913 write units to add one of 300 KB: 602 for the table, 301 for "
        "SwapIndex, 4 for the local indexes, 6 for claim and count; 301 more for CommonGSI while it is shared; 911 to "
        "change its moves, 916 to remove it",
    ),
    Departure(
        "Slugs and tag names are in normal form C, without control characters or space at either end; a slug has no "
        "empty segment, `.` or `..`.",
        "Two different names must not look the same.",
        "0 bytes",
    ),
    Departure(
        "Analyses have ids that sort by time, 26 characters, and optional attributes `kifu_id` and `request`.",
        "CommonGSI sorts by `sk`, so the ids determine the order of the list. A job needs the record and the request.",
        "10 characters of time to the millisecond, 80 random bits",
    ),
    Departure(
        "A result that the owner keeps is an item of its own: `pk = kept#kid#<kifu_id>`, `sk = aid#<analysis_id>`.",
        "Inside the record it would be written and read with the moves every time, and would not fit in the largest "
        "one.",
        "62 write units for a result of 20 KB instead of 963 for a shared record that contains it",
    ),
    Departure(
        "Positions: `pk = pos#uname#<user>`, `sk = at#<hash>#<kifu_id>#<text>`, and lists of them under "
        "`of#<kifu_id>#<text>#<part>`.",
        "Search by position needs them. The number of the text prevents a late job from mixing positions of old moves "
        "with those of new ones. Their sort keys have no `kid#`, so that a record's partition of SwapIndex stays "
        "small; still every item with `pk` and `sk` is in SwapIndex.",
        "121 positions of a game of 120 moves: 373 write units, 123 of them for SwapIndex, which also keeps a second "
        "copy of 9 KB; at most 98,000 positions a record, where 300 KB of KI2 have about 25,600 moves; at most 999,999 "
        "changes of its moves",
    ),
    Departure(
        "The table has a stream (`NEW_AND_OLD_IMAGES`), read by a consumer named unlinking.",
        "A tag may have a link to each of 2,000 records, and a transaction has at most 100 items. The consumer reads "
        "the table and its local indexes strongly, not SwapIndex, which is eventually consistent: nothing is missed, "
        "and cleaning up twice changes nothing.",
        "2,051 read units and 4,002 write units for a tag on all of 2,000 records",
    ),
    Departure(
        "A removed record or tag and a replaced text leave a marker: `pk = gone#uname#<user>`, `sk = kid#…`, `tid#…` "
        "or `text#…`, until everything that depended on them is deleted.",
        "A stream keeps changes for 24 hours, so it cannot be the only source. What a longer outage of the consumer "
        "left is found by the markers, user by user.",
        "3 write units to put the marker and 2 to delete it; 1 read unit for a user who has none",
    ),
    Departure(
        "User names have 1 to 32 lower-case letters, digits, `-` and `_`; ids of records 10 to 32 letters and digits, "
        "of tags 7 to 32, share codes 13 to 43.",
        "The document has examples only. The ids and the code of its items are valid; the code `ABC123` of its query "
        "example is not, since six characters can be guessed. New ids have 16 characters and codes 22.",
        "95 random bits in an id, 130 in a code",
    ),
    Departure(
        "The user name in the keys of an account is the account's id without hyphens.",
        "The document has a name, which may change, and may have characters that a key does not allow.",
        "32 characters",
    ),
    Departure(
        "`response` is absent while an analysis waits, and can be compressed: `zlib:` and base64.",
        "The document shows JSON. The result of a long game with several lines a move would not fit in its limit.",
        "65,536 bytes at most in the item, 4,194,304 before compression",
    ),
    Departure(
        "Analyses expire 24 hours after they were requested or finished; a request has at most 2,000 characters.",
        "The document has `expired` without a duration, and no request. Results that the owner keeps do not expire.",
        "86,400 seconds; 8,000 bytes at most for a request",
    ),
    Departure(
        "The table does not limit the number of users who may see a record or a library, or of results kept with a "
        "record.",
        "Each is an item of its own in a partition apart from the records, listed in pages and deleted in batches, so "
        "that many of them slow nothing else down. With a count, allowing a user twice would be an error. The service "
        "may set a limit.",
        "46 bytes and 5 write units for a permission; 163,000 results of 64 KB until the partition of one record has "
        "10 GB",
    ),
    Departure(
        "Claims are in SwapIndex too, those of all users for one slug or tag name in one of its partitions.",
        "SwapIndex has every item with `pk` and `sk`. These partitions are never read; a popular name such as 四間飛車 "
        "can only reach the limit on writes, which then throttles the table.",
        "1 write unit for each claim that is put or deleted: 1,000 users a second for the same name",
    ),
    Departure(
        "Times are ISO 8601 in UTC to the second, such as `2025-12-31T11:11:31Z`.",
        "The document only says ISO 8601. Texts of equal length sort by time in the local indexes, and conditions "
        "compare them; fractions of a second and other zones would not sort.",
        "20 characters",
    ),
    Departure(
        "Settings, claims, single records, tags, permissions and analyses, folders, positions and markers have access "
        "patterns too.",
        "The document gives only its main queries. The writes and the authorisation need the others.",
        "29 access patterns instead of 4, with 0 further indexes",
    ),
    Departure(
        "A record is shared exactly when it has a share code, and always has a slug.",
        "The document leaves both open; a shared record without a code could not be found, and folders list records by "
        "slug.",
        "at most 1 code for each record",
    ),
)
