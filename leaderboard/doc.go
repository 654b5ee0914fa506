// Package leaderboard keeps leaderboards in DynamoDB: the best, the latest or the summed score of every player, in
// order, however many scores arrive.
//
// A player's entry on a board is one item of its own, changed by one conditional write without looking first. A
// global index lists the entries of a board in order of score, under a key that is spread over 20 shards, so that the
// board takes twenty times what one key does, and the first n are read as about n items, not as the whole board.
//
//	boards, err := leaderboard.Open(client, leaderboard.Options{Table: "leaderboards"})
//	…
//	board, err := boards.Board("galaxy-race")
//	…
//	_, err = board.Submit(ctx, leaderboard.Submission{Player: "ada", Score: 4200})
//	top, err := board.Top(ctx, 10)
//	near, err := board.Around(ctx, "ada", 5)
//
// The nouns: Boards is a table with boards in it, a Board one of them, in one period if boards are by period. A
// Submission is a score that came in, an Entry what the board has of a player.
//
// # The order
//
// Higher scores come first. Of equal ones the entry that got there earlier does, to the millisecond of the submission's
// time, and of those that got there together the one whose player has the higher hash: no order that means anything,
// but the same on every read, page and process. Scores are int64, all of them, and compared exactly. Where less is
// better, submit the negative; where there are fractions, thousandths.
//
// # What it promises
//
// A score that was acknowledged is on the board until a better or later one replaces it, or it is removed, whatever is
// retried, throttled or raced. In mode Best the outcome does not depend on the order or the number of times in which
// submissions arrive. In mode Latest the time of the submission decides, not its arrival. In mode Sum a submission with
// an ID is counted once, however often it is submitted within Options.EventTTL; one without an ID is not repeated
// when its answer is lost, and the error is a heatsink.UnknownOutcomeError.
//
// Get reads the entry itself, strongly consistent. Everything else reads the index, which follows the table by a
// moment, as every global index does: a score that was just submitted may not be in Top yet. What is read from many
// shards is no snapshot: a player whose score changes while a board is read in pages may be on two of them, or on none.
//
// # What it costs
//
// A submission is one request. Of a new player it is 2 write units: the item and its listing. A change is 3, as an
// index moves an entry by deleting and putting it. One that changes nothing is 1, and the index is not touched. Top is
// one request for each shard, of half a read unit each while n is in the hundreds. An exact Rank counts everybody
// above, at about 60 entries a read unit; RankAbout asks one shard, for a twentieth of that, and says how far it may be
// off. docs/recipes/leaderboard.md has the table.
package leaderboard
