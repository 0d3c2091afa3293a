"""Differences between the table of Othello by vote and its design document, each with reason and figure."""

from zataku.table import Departure

DEPARTURES: tuple[Departure, ...] = (
    Departure(
        "The turn in the sort keys `MOVE#<turnNumber>` and `COMMENTARY#<turnNumber>` is padded to three digits.",
        "Sort keys are ordered as text. Unpadded, move 10 would come before move 2, and a range of turns could not be "
        "queried. The turn in partition keys is unpadded, as in the document.",
        "A game has up to 120 turns; of the first 60 unpadded, 58 are out of order.",
    ),
    Departure(
        "A GAME item also has `votingDeadline`, `closedTurn` and `openedTurn`.",
        "A vote and a proposal are checked against the deadline and the end of voting in their own transaction. If "
        "only the candidates held them, they could not be changed for all candidates at once. `openedTurn` marks that "
        "the engine has opened its candidates, so that two runs of its job do not open six.",
        "The three attributes add at most 60 bytes to a game. 2 write units of each vote are for the check of the one "
        "GAME item, which limits a game to 500 votes a second at 1,000 units of a partition; the turn's partition "
        "takes 4 more, which is 250 votes a second. Simultaneous votes conflict there and are retried.",
    ),
    Departure(
        "A turn is played only when every legal square that is not among the candidates has none: `advance` and "
        "`reopen_turn` check each by its key.",
        "The document reads the candidates and counts. An incomplete list, as a page or an eventually consistent read "
        "may return, would adopt the wrong move. The key of a candidate follows from its square, so the game needs no "
        "count of candidates, which every proposal would have to write.",
        "2 write units for each legal square without a candidate: with 10 legal squares and 4 candidates, 12 a turn.",
    ),
    Departure(
        "A GAME item can have `cadence`, `timeZone`, `aiLevel` and `language`.",
        "Games have any cadence and time zone, ten strengths of the AI and three languages; the document describes "
        "only a daily game.",
        "At most 134 bytes; a game with all of them stays below 1 KB, so it costs no more.",
    ),
    Departure(
        "`candidateId` is the UUIDv5 of game, turn and square, in a namespace of its own.",
        "A square can be proposed once in a turn, which becomes one conditional put. With random IDs, two users at "
        "once could propose the same square.",
        "No further item: a separate lock on the square would add 2 write units to the 8 of a proposal.",
    ),
    Departure(
        "`position` of a MOVE can be `PASS`, and its `candidateId` is absent for passes and for moves of the AI.",
        "A side without a move passes, which is a turn; passes and moves of the AI are not voted on.",
        "Half of the 60 moves of a game are the AI's and have no candidate.",
    ),
    Departure(
        "Candidates can have `descriptionI18n`, commentary `contentI18n`: the text in Japanese, Korean and English.",
        "Template texts are shown to readers of three languages. `description` and `content` hold the text in the "
        "language of the game, as in the document.",
        "Three texts of 40 characters are at most 480 bytes, at 4 bytes a character: a candidate of the AI with them "
        "has at most 1,010 bytes during the vote and stays below 1 KB, so a vote for it costs 7 units.",
    ),
    Departure(
        "`email` and `iconUrl` of a USER can be absent.",
        "Signing in needs no mail address, and a new user has no picture yet.",
        "0 bytes for each that is absent.",
    ),
    Departure(
        "`iconUrl` is an `https://` address or a path on this server, of at most 2,048 characters.",
        "The document says URL. A page would run or show other schemes, such as `javascript:` and `data:`.",
        "2 forms",
    ),
    Departure(
        "Times are ISO 8601 in UTC to the second, such as `2025-02-19T10:00:00Z`.",
        "The document says only ISO 8601. Texts of equal width sort by time in GSI1 and GSI2, and conditions compare "
        "the deadline as text.",
        "20 characters",
    ),
    Departure(
        "IDs are UUIDs of any version, in lower case with hyphens.",
        "The document says UUID. With one spelling, a user cannot have two keys; its own examples are of version 1.",
        "36 characters",
    ),
    Departure(
        "Commentary has at most 500 characters, a reason at least 1, a user name 1 to 30 in one line, and `email` at "
        "most 254 with one @; texts without a visible character or with control and direction characters are rejected. "
        "Turns are 0 to 120, and `boardState` has at most 1,000 ASCII characters.",
        "The document limits only the reason of a candidate, to 200 characters. Without limits an item could reach "
        "400 KB, and a name could be invisible.",
        "The largest item, a commentary in all languages at 4 bytes a character, has 8,222 bytes.",
    ),
    Departure(
        "Every kind of item can have `expiresAt`. It is set on all items of a finished game, the game last.",
        "The document deletes the data of a finished game, which is in one partition for the game and one for each "
        "turn; time to live deletes items one by one.",
        "3 write units a vote in transactions of 99: a game of 60 moves with as many comments, and of 30 voted turns "
        "with 3 candidates of the AI, one of a user and 100 votes each takes 34 calls and 9,578 units, once.",
    ),
    Departure(
        "Commentary is written while its game is `ACTIVE`, also that on the last move, and only on a played turn.",
        "Nothing is added to a finished game, so that no item is left without an expiry.",
        "2 write units for the check of the game, and twice the units of the item for the transaction: 4 instead of 1 "
        "below 1 KB.",
    ),
    Departure(
        "One user, one game and one vote are read with GetItem, where the document writes Query with both keys.",
        "Both find the same item; GetItem is simpler and can be part of a batch or of a snapshot.",
        "0.5 read units either way.",
    ),
    Departure(
        "Candidates that a user proposed, moves up to a turn, all votes of a turn, and its candidates with strong "
        "consistency are access patterns too.",
        "They serve the page of a user, the replay of a past turn, the comparison of counts with votes, and the "
        "decision of a turn. The document's keys support them unchanged.",
        "0 further indexes, 0 further attributes.",
    ),
    Departure(
        "GSI1 and GSI2 hold all attributes.",
        "The document names no projection. Lists show most attributes of an item, and reading the rest item by item "
        "would cost more than the index entries.",
        "A page of 50 games costs 3.5 read units from the index; 50 GetItem would cost 25.",
    ),
    Departure(
        "Outside `prod` the table's name ends in the name of the environment.",
        "Several environments share one account.",
        "1 table for each environment.",
    ),
)
