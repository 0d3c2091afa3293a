"""Where the design differs from the document it follows."""

from zataku.table import Departure

DEPARTURES: tuple[Departure, ...] = (
    Departure(
        "`hostId-index` (hostId, createdAt) on Rooms exists from the start; nothing scans for a host's rooms.",
        "The document recommends it for large environments and scans until then.",
        "A page of 50 rooms costs 1.5 read units; a scan of 10,000 rooms of 250 bytes would cost 306 for every look.",
    ),
    Departure(
        "Comments have `seq`, twelve digits of text that strictly increase in a room, and the local index `seq-index`.",
        "UUIDs have no order in time and `createdAt` has ties, so that neither can tell a reader where it stopped.",
        "1 more write unit for each comment below 1 KB. Numbers last for 999,999,999,999 comments; with a local index "
        "a room's comments stay below 10 GB, about 10 million of 400 bytes in table and index.",
    ),
    Departure(
        "Comments of one tick are written together, in one transaction with a check that the room is open.",
        "A check before the write would let comments into a room that is closed meanwhile. One transaction for all "
        "comments keeps a busy room from conflicting with itself.",
        "At most 99 comments at once. A comment below 1 KB costs 3 write units and each tick 2 more; a plain PutItem "
        "costs 1. One room takes some 330 comments a second, by the 1,000 write units of a partition.",
    ),
    Departure(
        "Rooms have `epoch`, absent until a process first owns the room.",
        "A process that was taken for dead may still be writing: its comments are refused by their epoch, so that no "
        "number is given twice.",
        "2 write units whenever a room changes hands.",
    ),
    Departure(
        "Rooms have `paused` and `slowModeSeconds`, absent when not in use.",
        "Host tools that every process must know of.",
        "At most 43 bytes more in an item of at most 727, which stays below 1 KB; a change costs 5 write units with "
        "its log entry.",
    ),
    Departure(
        "Comments have `senderId`, the session that posted them.",
        "A host blocks a sender, and people take back what they wrote within 60 seconds.",
        "At most 136 bytes.",
    ),
    Departure(
        "A fourth table `LiveComment-Moderation-{env}` holds the host's log, marks, blocks and upvotes.",
        "All comments of a room stay what they are, and all of a room's moderation is one query.",
        "An act of the host costs 5 to 11 write units with its log entry, an upvote 6.",
    ),
    Departure(
        "Connections have `ttl`, 24 hours after they were made.",
        "A connection whose process crashed would be delivered to for ever.",
        "86,400 seconds; deletion by time to live costs nothing.",
    ),
    Departure(
        "Connections have `owner` and the index `owner-index` (owner, timestamp), keys only.",
        "A process that starts again takes away what it held before; the key of the table cannot be searched by owner.",
        "1 write unit more for a join and for a leave. 1,000 connections left behind are found for 10 read units.",
    ),
    Departure(
        "Joining is a transaction with a check that the room is open.",
        "A closed or unknown room takes no join.",
        "6 write units instead of 2.",
    ),
    Departure(
        "Texts have limits: names of rooms 100 characters, comments 500, nicknames 30, each one visible line without "
        "control characters or marks that turn the direction of writing around.",
        "The document gives none; a comment flies over slides in one line, and must not reach into the one beside it.",
        "The largest comment has 2,406 bytes, so that it costs at most 9 write units.",
    ),
    Departure(
        "Times are ISO 8601 in UTC and always in milliseconds, such as `2026-02-21T10:30:00.000Z`.",
        "They are sort keys and are compared, which needs one width.",
        "24 characters.",
    ),
    Departure(
        "`PostCommentFunction` has the right to a condition check on Rooms.",
        "It writes on condition that the room is open.",
        "1 action: ConditionCheckItem.",
    ),
    Departure(
        "`PostCommentFunction` has the right to delete on Connections.",
        "It takes away the connections that a delivery finds gone.",
        "1 action: DeleteItem.",
    ),
    Departure(
        "`CloseRoomFunction` has the right to read Connections.",
        "It tells everybody in the room that it closed.",
        "5 actions, none of which writes.",
    ),
    Departure(
        "`OwnRoomFunction`, `SweepConnectionsFunction`, `ModerateRoomFunction`, `RemoveCommentFunction`, "
        "`UpvoteFunction` and `GetRoomModerationFunction` have rows of their own.",
        "What the document has no function for; each has no more rights than it uses.",
        "6 rows, 13 grants.",
    ),
)
