"""Differences between the drawing game's table and its design document, each with reason and figure."""

from zataku.table import Departure

DEPARTURES: tuple[Departure, ...] = (
    Departure(
        "Pictures are items of their own: parts under `DRAWING#<round>#<turn>#<n>` during a turn, the finished picture "
        "under `DRAWING#<round>#<turn>`. `currentDrawing.data` and `finalDrawing` hold that sort key, and "
        "`currentDrawing` is written once, when the word is chosen.",
        "A round with ten pictures would exceed DynamoDB's limit of 400 KB, and rewriting the game for every stroke "
        "would cost its whole size each time.",
        "10 pictures of 100 KB are 1,024,000 bytes; a part costs 1 write unit, rewriting a fresh game of 4 with "
        "its picture 102 (1,181 + 102,400 bytes).",
    ),
    Departure(
        "A part of a picture has the `epoch` of the owner that wrote it. A part with a number in use is rejected, and "
        "its writer reads the parts again.",
        "Writing a part does not check META, which would cost more than the part. The numbers keep two owners from "
        "losing or duplicating each other's parts.",
        "1 write unit for a part; with a check of META of 1,181 bytes it would be 6, of the largest sample's 50.",
    ),
    Departure(
        "Every seat has an item, `SK = PLAYER#<playerId>`, which carries GSI1PK and GSI1SK.",
        "The document does not say which item carries these keys. META is one item and cannot carry those of ten "
        "players.",
        "1 item of at most 400 bytes a seat; a list of 50 games costs 2 read units.",
    ),
    Departure(
        "META keeps the points of the current round only, and each player's total; a finished round's entries move to "
        "`scoreHistories` of its ROUND item. Finished turns wait in `currentRound.turns` for that item.",
        "META is rewritten with every correct guess, so it must not grow with the game.",
        "1,000 entries of about 123 bytes would make META 123 KB. At the end of a round it is 23,590 bytes in the "
        "largest sample (33,601 if every field were at its limit), 4,608 with 4 players; 3,801 after the last round of "
        "the largest sample.",
    ),
    Departure(
        "Numbers in sort keys are padded: `ROUND#03`, `DRAWING#03#02#0001`, `CHAT#<13 digits>`, `CREATED#<13 digits>`.",
        "Sort keys are ordered as text: ROUND#10 would come before ROUND#2.",
        "10 rounds and 10 turns take 2 digits, 601 parts of a picture (9,999 at most) 4; 13 digits of milliseconds "
        "last until 2286.",
    ),
    Departure(
        "Times are in milliseconds, only `ttl` is in seconds.",
        "The document says Unix timestamp without a unit. Its TTL has to be in seconds; messages need a finer unit.",
        "Several messages in 1 second keep their order.",
    ),
    Departure(
        "A game is created in one transaction with its host's seat, its GSI2 keys included.",
        "The document puts META and adds the keys by a second write: a crash in between leaves a room that no query "
        "finds.",
        "1 write of META in place of 2.",
    ),
    Departure(
        "A waiting room that is private or empty has no GSI2 keys.",
        "Private rooms are reached by their link alone, and empty rooms are not worth listing.",
        "0 entries in the index for such rooms; a list of 50 rooms costs 1 read unit.",
    ),
    Departure(
        "META has `hostId`, `nextKana`, `epoch`, `version` and `ttl`; settings have `public`, `mode` and `hints`; a "
        "turn has `deadline`, `suggestions` and `revealed`; a round has `passed`; a player has `awaySince`, `leftAt` "
        "and `total`.",
        "The rules of the game need them, and so do timers that survive a restart. Version and epoch guard every "
        "change of META and what is written with it; messages and parts of pictures written alone do not check META.",
        "106 of the 1,181 bytes of META in a fresh game of 4, and 9 bytes for each player's total.",
    ),
    Departure(
        "The last message, the parts of a picture and the oldest messages are read strongly too.",
        "The document reads strongly only to update the state of a game. A new owner of a room continues the numbers "
        "of messages and parts, and the cap deletes messages; stale reads would repeat numbers or miss messages.",
        "1 read unit instead of 0.5 for the last message, 27 instead of 13.5 for 60 seconds of drawing",
    ),
    Departure(
        "A player who leaves is removed from the game first; their connection is deleted by a second write.",
        "The connection may belong to another game by then, which must not prevent the player from leaving.",
        "1 write unit; a connection can name a game that its player has left for at most 24 h.",
    ),
    Departure(
        "`currentRound` is absent while a game waits.",
        "No round has begun, and the document's required fields would have no true values.",
        "0 bytes until the game begins.",
    ),
    Departure(
        "A chat message has its `number` in the game; a stream consumer deletes messages more than 1,000 numbers old.",
        "The document keeps 1,000 messages. Counting them for every post would read them all. A server that has lost "
        "the room without noticing may assign numbers twice: that many extra messages stay until 1,000 numbers later.",
        "1 read unit and 1 write unit for a message beyond the cap (2 write units for 500 kana), 0 before it; counting "
        "1,000 messages of 500 kana would cost 224 read units.",
    ),
    Departure(
        "A message is one line with at least one visible character.",
        "The document limits only the length, which would allow control characters, line breaks and direction "
        "overrides. Emoji keep their joiners.",
        "1 to 500 code points, without those of the categories Cc, Cf (but 2 joiners), Cs, Zl and Zp.",
    ),
    Departure(
        "IDs are UUIDs of any version, in lower case with hyphens.",
        "The document says UUID. With one spelling, a player cannot have two keys.",
        "36 characters",
    ),
    Departure(
        "`connectionId` has 1 to 128 characters: letters, digits and `_=+/-`.",
        "The document sets no limit. IDs of this server and of API Gateway have this form, and META holds one for each "
        "player.",
        "128 characters",
    ),
    Departure(
        "A message of type `system` names the player it is about, who may have left the game.",
        "The document requires `playerId` and `playerName` in every message and does not say whose they are in a "
        "message of the system.",
        "0 messages without a player",
    ),
    Departure(
        "timeLimit is 30 to 300 seconds everywhere.",
        "The document says 1-300 in one place and 30-300 in its validation.",
        "30 seconds at least.",
    ),
    Departure(
        "An answer is made of U+3041 to U+3096 and ー.",
        "The document's pattern `^[ひらがな]+$` accepts only words of the four kana ひ, ら, が and な.",
        "87 characters in place of 4.",
    ),
    Departure(
        "A player's name is one line with at least one visible letter or number, of at most 10 code points.",
        "The document's `\\s` allows line breaks and tabs, and names of only spaces, marks or fillers.",
        "4 letters that are fillers count as invisible; 17 spaces are accepted (category Zs, including U+3000).",
    ),
    Departure(
        "Points of one entry are 1 to the seconds of its turn, of a penalty at most half of them; sums of a round or a "
        "game may be negative. The drawer's points for the first correct guess have the reason `correct_answer` too.",
        "A penalty is a positive number of points that is subtracted in totals. The document has no other reason for "
        "points that a drawer wins.",
        "A guess is worth 1 to 300 points, a penalty 1 to 150, a round -150 to 3,000, a game -1,500 to 30,000.",
    ),
    Departure(
        "Every item gets its `ttl` when it is written: children after the longest possible wait and game and seven "
        "days, a waiting room a day after it was opened, a finished game seven days after its end, a kept one never.",
        "The document gives a ttl to finished games only; their rounds, messages and pictures would never expire, and "
        "rewriting them at the end would cost as much as writing them.",
        "24 h of waiting + 10 h of play (100 turns of 45 + 300 + 15 s) + 168 h = 727,200 s. Rewriting the children of "
        "the largest game would cost 13,330 write units.",
    ),
    Departure(
        "Keeping a game removes its ttl item by item, the game last, not in a transaction. Messages posted during "
        "that time or later, and parts of pictures, expire.",
        "A transaction is limited to 4 MB and costs twice as much; keeping is idempotent and can be repeated.",
        "100 pictures of 100 KB are 10 MB: 10,100 write units singly, 20,200 in transactions.",
    ),
    Departure(
        "Games in play, rounds, seats, connections, pictures and their parts, and the last and the oldest messages are "
        "access patterns too.",
        "They resume games after a restart, show a finished game, and serve the writes. The document's keys support "
        "them unchanged.",
        "0 further indexes",
    ),
    Departure(
        "Outside `prod` the table's name ends in the name of the environment.",
        "Several environments share one account.",
        "1 table for each environment",
    ),
    Departure(
        "On-demand capacity has a maximum of 500 read and 1,000 write units a second.",
        "An alarm at 80 % of the capacity needs a capacity, and a maximum bounds the cost of a mistake.",
        "A busy game of 4 writes about 5 units a second (2 parts of a picture, a message, an occasional guess): "
        "capacity for 200 games at once. The read alarm triggers at 400 units a second.",
    ),
    Departure(
        "Two alarms of the document, on read capacity and on errors, become several in CloudWatch: for the table and "
        "each index, and for reads, writes and transactions.",
        "CloudWatch counts consumed capacity by index and errors by operation.",
        "3 alarms for capacity and 3 for errors.",
    ),
)
