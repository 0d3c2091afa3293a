"""Where the design differs from the document it follows."""

from zataku.table import Departure

DEPARTURES: tuple[Departure, ...] = (
    Departure(
        "`hostId-index` (hostId, createdAt) on Rooms exists from the start, and nothing scans for a host's rooms.",
        "The document recommends it for large environments, and scans until then.",
        "A page of 50 rooms costs 1.5 read units; a scan of 10,000 rooms of 250 bytes would cost 306 for every look. "
        "Each change of a room costs 1 write unit more.",
    ),
    Departure(
        "Rooms have `code`, six digits, while they are open, and the index `code-index` (code), keys only.",
        "Somebody without a camera types a number off a slide; a UUID cannot be typed.",
        "900,000 codes. A number that an open room has is not given again, but for rooms opened at the same moment: "
        "then both are found. 1 write unit more to open a room and to close it.",
    ),
    Departure(
        "Comments have `seq`, twelve digits of text that strictly increase in a room, and the local index `seq-index`. "
        "The first five are the epoch of the room's owner that gave it, the others the owner's own count from 1.",
        "UUIDs have no order in time and `createdAt` has ties, so that neither can tell a reader where it stopped. "
        "Numbers that went on from the comments that are there would come again once the newest is deleted, and a "
        "reader that had seen it would miss the next one; the epoch lets a new owner begin without reading any.",
        "1 more write unit for each comment below 1 KB. 9,999,999 comments of one owner, and 99,999 owners of a room; "
        "with a local index a room's comments stay below 10 GB, about 10 million of 400 bytes in table and index.",
    ),
    Departure(
        "Comments of one tick are written together, in one transaction with the condition that the room is open.",
        "A check before the write would let comments into a room that is closed meanwhile. One transaction for all "
        "comments keeps a busy room from conflicting with itself.",
        "At most 99 comments at once. A comment below 1 KB costs 3 write units and each tick 2 more; a plain PutItem "
        "costs 1. One room takes some 330 comments a second, by the 1,000 write units of a partition.",
    ),
    Departure(
        "Rooms have `epoch`, absent until a process first owns the room.",
        "A process that was taken for dead may still be writing: its comments and the acts it passes on are refused "
        "by their epoch, so that blocks and slow mode are kept by the one process that knows them.",
        "2 write units whenever a room changes hands, at most 99,999 times.",
    ),
    Departure(
        "Rooms have `paused` and `slowModeSeconds`, absent when not in use.",
        "Host tools that every process must know of.",
        "At most 25 bytes more in an item of at most 737, which stays below 1 KB; a change costs 5 write units with "
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
        "An act of the host costs 5 to 8 write units with its log entry. Deleting a comment costs 17, since its marks "
        "and its count go with it, and taking back one's own 15.",
    ),
    Departure(
        "A blocked sender is noted with the comment that was the reason, and the log names that comment.",
        "A host knows people by what they wrote, and no id of anybody's session is told to another.",
        "At most 45 bytes in a block.",
    ),
    Departure(
        "Reactions are counted minute by minute in the fourth table, and not stored one by one.",
        "The timeline shows when people clapped; thousands of claps are a few items.",
        "An item of at most 154 bytes for each minute in which somebody reacted, written at most twice a second for 4 "
        "write units. The last half second is lost in a crash.",
    ),
    Departure(
        "Whoever writes a comment may give it its `commentId`, a UUIDv4.",
        "Sent again after a lost answer, it is still one comment. An id that another's comment has is refused.",
        "36 characters. Sent again it costs the 4 write units of a refused transaction, and 1 read unit.",
    ),
    Departure(
        "Upvotes of one question and tick are written together by the room's owner, as are the joins of one tick by "
        "the process that holds their sockets.",
        "Each asks for the room, which is one item, and a question's count is another: one by one they would conflict "
        "with the comments and with each other.",
        "At most 97 upvotes, or 99 joins. A first upvote alone costs 8 write units, a later one alone 6, each further "
        "one of a tick 2. A room's item takes 500 transactions a second, 2 of its 1,000 write units each; the "
        "partition of its moderation some 490 upvotes a second.",
    ),
    Departure(
        "Connections have `ttl`, 24 hours after they were made.",
        "A connection whose process crashed would be delivered to for ever.",
        "86,400 seconds; deletion by time to live costs nothing.",
    ),
    Departure(
        "Connections have `owner` and the index `owner-index` (owner, timestamp), keys only.",
        "A process that starts again takes away what it held before; the key of the table cannot be searched by owner. "
        "Whoever starts processes gives a name to one running process at a time.",
        "1 write unit more for a join and for a leave. 1,000 connections left behind are found for 10 read units.",
    ),
    Departure(
        "Joining is a transaction with a check that the room is open.",
        "A closed or unknown room takes no join.",
        "6 write units instead of 2, and 4 for each further join of a tick.",
    ),
    Departure(
        "Texts have limits: names of rooms 100 characters, comments 500, nicknames 30, each one visible line without "
        "control characters or marks that turn the direction of writing around.",
        "The document gives none; a comment flies over slides in one line, and must not reach into the one beside it.",
        "The largest comment has 2,406 bytes, so that it costs at most 9 write units.",
    ),
    Departure(
        "`hostId`, `connectionId`, `owner` and `senderId` have 1 to 128 characters, letters of ASCII, digits and "
        "`._:@=+/-`.",
        "The document gives no form. They stand in keys and in the host's log, and none of the places they come from, "
        "accounts, sessions, API Gateway and hosts, needs more.",
        "128 bytes at most.",
    ),
    Departure(
        "UUIDs are written in small letters.",
        "Keys are compared byte by byte: one id in two spellings would be two rooms.",
        "36 characters.",
    ),
    Departure(
        "A comment that is stored without `nickname` is read as one by `Anonymous`.",
        "The document's rule for whoever gives none, kept for items that others wrote; every write stores the name.",
        "17 bytes that are there with every anonymous comment.",
    ),
    Departure(
        "Times are ISO 8601 in UTC and always in milliseconds, such as `2026-02-21T10:30:00.000Z`.",
        "They are sort keys and are compared, which needs one width.",
        "24 characters.",
    ),
    Departure(
        "`PostCommentFunction` has the right to a condition check on Rooms.",
        "It writes comments on condition that the room is open. It cannot change the room.",
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
        "`UpvoteFunction`, `ReactFunction` and `GetRoomModerationFunction` have rows of their own.",
        "What the document has no function for; each has no more rights than it uses.",
        "7 rows, 15 grants.",
    ),
)
