// Package leaderboard keeps leaderboards in DynamoDB. A board holds the best, the latest or the summed score of every
// player, in order, at any rate of submissions.
//
// A player's entry on a board is one item. A submission changes it with one conditional write and no read. A global
// index lists the entries of a board by score. The index key is spread over 20 shards, so a board accepts twenty times
// the writes of one key. Reading the first n entries reads about n items, not the whole board.
//
//	boards, err := leaderboard.Open(client, leaderboard.Options{Table: "leaderboards"})
//	…
//	board, err := boards.Board("galaxy-race")
//	…
//	_, err = board.Submit(ctx, leaderboard.Submission{Player: "ada", Score: 4200})
//	top, err := board.Top(ctx, 10)
//	near, err := board.Around(ctx, "ada", 5)
//
// Boards are the boards of one kind in a table. A Board is one of them or, with periods, one of them in one period. A
// Submission is a new score. An Entry is the score of a player on a board.
//
// # The order
//
// Higher scores come first. Among equal scores, the earlier submission comes first, compared by the millisecond. Among
// equal times, the player with the higher hash comes first. That last order has no meaning, but it is the same for
// every read, page and process. A score can be any int64, and scores are compared exactly. If a lower score is better,
// submit the negative score. If scores have fractions, submit thousandths.
//
// # What it promises
//
// An acknowledged score stays on the board until a better or later one replaces it, or until it is removed. Retries,
// throttles and concurrent submissions do not change that. In mode Best, the result does not depend on the order in
// which submissions arrive, or how often. In mode Latest, the time of the submission decides, not its arrival. In mode
// Sum, a submission with an ID is counted once, however often it is submitted within Options.EventTTL. A submission
// without an ID is not repeated if its answer is lost; the error is then a heatsink.UnknownOutcomeError.
//
// Get reads the entry itself, with strong consistency. All other reads use the index, which is eventually consistent: a
// score that was just submitted may not be in Top yet. A read of many shards is not a snapshot. If a player's score
// changes while a board is read in pages, the player may be on two pages or on none.
//
// # How many shards
//
// With Options.Adaptive, a board has one index key until its load needs more, and then grows within seconds, in all
// processes. Small boards then cost one request to read instead of twenty. The next submission of a player lists the
// entry where the width then puts it. A read knows the width for up to Adaptive.Keep: until then it may miss entries that
// another process has listed under a new key. RankAbout needs a fixed number of Shards. Submissions with an ID are
// transactions, whose load is not measured: a board that gets nothing else grows by Boards.Ledgers only.
//
// # What it costs
//
// A submission is one request. It costs 2 write units for a new player: the item and its index entry. A change costs 3,
// because an index moves an entry by deleting and putting it. A submission that changes nothing costs 1. Top sends one
// request per shard, of half a read unit each while n is in the hundreds. An exact Rank counts all players above, at
// about 60 entries per read unit. RankAbout queries one shard at a twentieth of that cost, and returns its standard
// deviation. The file docs/recipes/leaderboard.md lists all costs.
package leaderboard
