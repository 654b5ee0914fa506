package leaderboard

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

// An entry's place is the number that the index orders a board by:
//
//	place = score × 10¹⁹ + tie
//	tie   = (10¹³ - 1 - milliseconds since 1970) × 10⁶ + hash of the player, below 10⁶
//
// So a higher score has the higher place, and of equal scores the earlier one. An int64 has 19 digits and a number in
// DynamoDB 38, so the place is exact. It is a number and not a text because a sum's place has to be found by adding:
// DynamoDB can add what it does not know to what comes with the request, and nothing else.
//
// A tie is at least 10⁶ and less than 10¹⁹, which fits a uint64.
const (
	tieScale  = 10_000_000_000_000_000_000
	tieDigits = 19
	hashes    = 1_000_000
	maxMillis = 10_000_000_000_000 - 2 // in the year 2286
)

// tie returns what decides between equal scores.
func tie(at time.Time, player string) uint64 {
	return uint64(maxMillis+1-at.UnixMilli())*hashes + uint64(layout.XXHash.Shard(player, hashes))
}

// place returns the place of a score, as a number's text.
func place(score int64, tie uint64) string {
	switch {
	case score > 0:
		return fmt.Sprintf("%d%019d", score, tie)
	case score == 0:
		return strconv.FormatUint(tie, 10)
	case score == -1:
		return "-" + strconv.FormatUint(tieScale-tie, 10)
	}
	return fmt.Sprintf("-%d%019d", -(score + 1), tieScale-tie)
}

// samePlace reports whether two texts are the same number, however it is written.
func samePlace(a, b string) bool {
	m, okM := new(big.Rat).SetString(a)
	n, okN := new(big.Rat).SetString(b)
	return okM && okN && m.Cmp(n) == 0
}

// scaled returns a score × 10¹⁹, as a number's text.
func scaled(score int64) string {
	if score == 0 {
		return "0"
	}
	return strconv.FormatInt(score, 10) + strings.Repeat("0", tieDigits)
}

// checkTime refuses a time that has no place.
func checkTime(at time.Time) error {
	if millis := at.UnixMilli(); millis < 0 || millis > maxMillis {
		return fmt.Errorf("%w: the time is %v, want a year from 1970 to 2285", ErrInput, at)
	}
	return nil
}
