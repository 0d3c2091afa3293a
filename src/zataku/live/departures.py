"""Departures of the design from the document it follows: what differs, why, and what it costs."""

from zataku.table import Departure

DEPARTURES: tuple[Departure, ...] = (
    # Rooms
    Departure(
        "`hostId-index` (hostId, createdAt) on Rooms exists from the start, and nothing scans for a host's rooms.",
        "The document recommends it for large environments, and scans until then.",
        "A page of 50 rooms costs 1.5 read units; a scan of 10,000 rooms of 195 bytes costs 238.5 each time. Each "
        "change of a room costs 1 write unit more.",
    ),
    Departure(
        "Rooms have `code`, six digits, and the index `code-index` (code), keys only.",
        "A visitor without a camera types a number off a slide; a UUID cannot be typed. After the talk the number "
        "leads to the archive of the room, until it is given to another.",
        "900,000 codes. The code of an open room is not given again, except to a room opened at the same moment: then "
        "both are found. When 8 random codes are taken, a ninth is given that has no open room, and taken from ended "
        "ones for 3 write units each; without one the room is entered by its link. 1 write unit more to open a room.",
    ),
    Departure(
        "Rooms have `hostName`, the account name of the host when the room was opened, absent for a guest.",
        "Nobody else may comment under it there, or under a name that looks like it.",
        "At most 128 bytes in an item of at most 865, which stays below 1 KB.",
    ),
    Departure(
        "Rooms have `epoch`, absent until a process first owns the room.",
        "A process that was believed dead may still be writing: its writes fail on the epoch, so that blocks and slow "
        "mode are checked by the one process that knows them.",
        "2 write units whenever a room changes its owner, at most 99,999 times.",
    ),
    Departure(
        "Rooms have `paused` and `slowModeSeconds`, absent when not in use.",
        "The next owner of the room must know them.",
        "At most 25 bytes more in the item of a room; a change costs 5 write units with its log entry.",
    ),
    Departure(
        "`updatedAt` of a room is the time of the host's last change. A new owner changes `epoch` and leaves it alone.",
        "It is shown as the time when the room was closed, and a restart of a server does not change a room.",
        "24 bytes that are not written with each change of the owner.",
    ),
    # Comments
    Departure(
        "Comments have `seq`, twelve digits of text that strictly increase in a room, and the local index `seq-index`. "
        "The first five are the epoch of the room's owner that gave it, the others the owner's own count from 1.",
        "UUIDs have no order in time and `createdAt` has ties, so that neither can tell a reader where it stopped. "
        "Numbers that continue from the stored comments would repeat once the newest is deleted, and a reader that had "
        "seen it would miss the next one; with the epoch a new owner starts without reading any.",
        "1 more write unit for each comment below 1 KB. 9,999,999 comments of one owner, and 99,999 owners of a room; "
        "with a local index a room's comments stay below 10 GB, some 13 million of 400 bytes in table and index.",
    ),
    Departure(
        "The comments of a room are read by `seq`. A comment without one, of another writer, is returned by the query "
        "of all comments of the room and shown nowhere.",
        "The pages show comments in one order and resume at any of them, for which each needs a position.",
        "0 of our own comments: each has a `seq`.",
    ),
    Departure(
        "The comments of a batch are written together, in one transaction with the condition that the room is open.",
        "A check before the write would let comments into a room that is closed in between. One transaction for all "
        "comments keeps a busy room from conflicting with itself.",
        "At most 99 comments at once. A comment below 1 KB costs 4 write units and each batch 2 more; a plain PutItem "
        "costs 1. One room accepts some 330 comments a second, by the 1,000 write units of a partition: 3 for each.",
    ),
    Departure(
        "A client may give its comment the `commentId`, a UUIDv4; without one the server generates it.",
        "Sent again after a lost reply, it is still one comment. The id of another sender's comment, and of a deleted "
        "one, is refused.",
        "36 characters. Sent again it costs the 4 write units of a failed transaction, and 1 read unit.",
    ),
    Departure(
        "Comments have `senderId`, the session that posted them.",
        "A host blocks a sender, and senders take back their own comments within 60 seconds.",
        "At most 136 bytes.",
    ),
    Departure(
        "Comments have the index `senderId-index` (senderId), keys only, and Moderation has one of the same name over "
        "its upvotes, numbered senders and blocked senders.",
        "The removal of an account finds what it wrote in the rooms of others. A scan would read every comment ever "
        "posted, once for each account that is removed.",
        "1 write unit more for a comment, an upvote and a block, and for the deletion of each. 500 comments and 500 "
        "upvotes are found for 6.5 and 9 read units; scans cost 131,000 for each gigabyte of both tables.",
    ),
    Departure(
        "Comments without a nickname have `anonymousNumber`, the number of their sender in the room. A sender's number "
        "is an item of the fourth table, stored with the first such comment; so are the names of the host.",
        "Readers tell people without a name apart. The owner counts from 1 in each room, so that a number says nothing "
        "about its sender elsewhere, and no two senders share one, as they could with a hash.",
        "3 write units for the first such comment of a sender, and 2 when the host comments under a new name. A new "
        "owner loads 100 numbers for 4 read units.",
    ),
    Departure(
        "Comments can be deleted, by the host at any time and by their sender within 60 seconds.",
        "The document has no deletion. A `DELETED` mark in the fourth table tells readers that resume.",
        "18 write units by the host with the log entry, 16 by the sender: marks and upvote count are deleted, too.",
    ),
    Departure(
        "The removal of an account deletes its rooms. On its comments in other rooms `nickname` becomes `Anonymous` "
        "and `senderId` is removed, its upvotes get a random id, and blocks of it are deleted.",
        "The document has no accounts.",
        "3 write units for a comment, 6 for an upvote and 2 for a block.",
    ),
    Departure(
        "A comment that is stored without `nickname` is read as one by `Anonymous`.",
        "The document's default, applied to items of other writers, too; every write of ours stores the name.",
        "17 bytes that are there with every anonymous comment.",
    ),
    # Connections
    Departure(
        "Comments are delivered to the sockets that each process holds; the Connections table is not read for it.",
        "A query of `roomId-index` for each comment would cost more than the comment, and the index lags behind.",
        "0 read units instead of 16 for each comment in a room of 1,000 connections.",
    ),
    Departure(
        "`connectionId` is generated by the process that holds the socket, one for each room that the socket joins.",
        "There is no API Gateway, and one socket may be in several rooms: each join is an item of its own.",
        "1 item for each room of a socket.",
    ),
    Departure(
        "Connections are written half a second behind, those of one room together; ended ones are deleted together, "
        "with BatchWriteItem. `timestamp` and `ttl` count from the write.",
        "A client receives events at once, and a crowd that joins does not delay comments. Other programs read the "
        "table.",
        "0.5 seconds for up to 990 joins and 1,000 leaves; after a failure of the store 5 seconds. At most 20,000 "
        "changes wait for a failing store; a connection whose deletion is dropped expires.",
    ),
    Departure(
        "Joining is a transaction with a check that the room is open.",
        "A closed or unknown room accepts no join.",
        "6 write units instead of 2, and 4 for each further join of a write.",
    ),
    Departure(
        "Connections have `ttl`, 24 hours after they were written.",
        "A connection whose process crashed would stay forever.",
        "86,400 seconds, after which a connection that is still open is no longer listed either; deletion by time to "
        "live costs nothing.",
    ),
    Departure(
        "Connections have `owner` and the index `owner-index` (owner, timestamp), keys only.",
        "A process that starts again deletes the connections it held before; the key of the table cannot be searched "
        "by owner. The operator gives a name to one running process at a time.",
        "1 write unit more for a join and for a leave. 1,000 connections left behind are found for 10 read units.",
    ),
    # Moderation
    Departure(
        "A fourth table `LiveComment-Moderation-{env}` holds the host's log, marks, blocks and upvotes.",
        "A query of all comments of a room returns comments only, and the moderation of a room is one query.",
        "An action of the host costs 5 to 8 write units with its log entry. Deleting a comment costs 18, since its "
        "marks and its count are deleted with it, and taking back one's own 16.",
    ),
    Departure(
        "A block of a sender names the comment that was the reason, and so does the log.",
        "A host knows senders by their comments, and the id of a session is shown to no other client.",
        "At most 45 bytes in a block.",
    ),
    Departure(
        "Reactions are counted minute by minute in the fourth table, and not stored one by one.",
        "The timeline shows when people clapped; thousands of claps are a few items.",
        "An item of at most 154 bytes for each minute with a reaction, written at most twice a second for 4 write "
        "units. The last half second is lost in a crash.",
    ),
    Departure(
        "The upvotes of a batch on one comment are written together by the room's owner, as are the joins of a flush "
        "by the process that holds their sockets.",
        "Each checks the room, which is one item, and the count of a comment is another: one by one they would "
        "conflict with the comments and with each other.",
        "At most 97 upvotes, or 99 joins. A first upvote alone costs 9 write units, a later one alone 7, each further "
        "one of a write 3; one that is taken back 7. A room's item accepts 500 transactions a second, 2 of its 1,000 "
        "write units each; the partition of its moderation some 490 upvotes a second.",
    ),
    # Forms of values
    Departure(
        "Texts have limits: names of rooms 100 characters, comments 500, nicknames 30, each one visible line without "
        "control characters or marks that change the direction of writing.",
        "The document gives none; a comment flies over slides in one line, and must not reach into the one beside it.",
        "The largest comment has 2,442 bytes, so that it costs at most 10 write units.",
    ),
    Departure(
        "`hostId`, `connectionId`, `owner` and `senderId` have 1 to 128 characters: ASCII letters, digits and "
        "`._:@=+/-`.",
        "The document gives no form. They are parts of keys, and none of their sources, accounts, sessions, API "
        "Gateway and host names, needs more.",
        "128 bytes at most.",
    ),
    Departure(
        "UUIDs are of version 4 and in lower case. An item with another form is refused, on reading too.",
        "The document generates UUIDv4 and does not say how they are written. Keys are compared byte by byte: one id "
        "in two spellings would be two rooms.",
        "36 characters.",
    ),
    Departure(
        "Times are ISO 8601 in UTC and always in milliseconds, such as `2026-02-21T10:30:00.000Z`. An item with "
        "another form of ISO 8601, without milliseconds or with an offset, is refused, on reading too.",
        "The document allows every ISO 8601 form. These are sort keys and are compared, which needs one width.",
        "24 characters.",
    ),
    # Permissions
    Departure(
        "`PostCommentFunction` has the right to a condition check on Rooms, and to put items into Moderation.",
        "It writes comments on condition that the room is open, with the numbers of their senders. It cannot change "
        "the room.",
        "2 actions: ConditionCheckItem, PutItem.",
    ),
    Departure(
        "`PostCommentFunction` does not use the right to read Connections that the document gives it.",
        "Comments are delivered without the table. The row stays as it is written.",
        "5 actions, none of which writes.",
    ),
    Departure(
        "`OwnRoomFunction`, `SweepConnectionsFunction`, `ModerateRoomFunction`, `RemoveCommentFunction`, "
        "`UpvoteFunction`, `ReactFunction` and `GetRoomModerationFunction` have rows of their own.",
        "The document has no function for their work. Each has the actions that it uses and no others.",
        "7 rows, 15 grants.",
    ),
    Departure(
        "The removal of an account has no row: it uses the server's own rights.",
        "It reads and deletes in all tables, as the backups and transfers of an operator do. No row grants that much.",
        "4 tables, 0 rows.",
    ),
)
