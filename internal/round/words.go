package round

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Safe returns a text that can be shown: as it is, or quoted if it holds anything that a terminal might obey, or whose width
// terminals do not agree on. Both are control characters, escape sequences, marks of direction, and selectors of variants.
func Safe(text string) string {
	odd := func(c rune) bool { return !unicode.IsPrint(c) || unicode.Is(unicode.Variation_Selector, c) }
	if utf8.ValidString(text) && !strings.ContainsFunc(text, odd) {
		return text
	}
	if strings.ContainsFunc(text, func(c rune) bool { return unicode.Is(unicode.Variation_Selector, c) }) {
		return strconv.QuoteToASCII(text)
	}
	return strconv.Quote(text)
}

// ReasonWords says in words why DynamoDB throttled a key.
func ReasonWords(reason string) string {
	of, rest, ok := "table", "", false
	if rest, ok = strings.CutPrefix(reason, "Table"); !ok {
		of = "index"
		rest, ok = strings.CutPrefix(reason, "Index")
	}
	what := "reads"
	if after, write := strings.CutPrefix(rest, "Write"); write {
		what, rest = "writes", after
	} else {
		rest = strings.TrimPrefix(rest, "Read")
	}
	switch {
	case reason == "":
		return "throttled for a reason that the server does not give"
	case ok && rest == "KeyRangeThroughputExceeded":
		return "throttled: its partition serves no more " + what
	case ok && rest == "ProvisionedThroughputExceeded":
		return "throttled: the " + of + " has used up its provisioned " + what
	case ok && rest == "AccountLimitExceeded":
		return "throttled: the account has used up its quota of " + what
	case ok && rest == "MaxOnDemandThroughputExceeded":
		return "throttled: the " + of + " is at its on-demand maximum of " + what
	}
	return "throttled: " + Safe(reason)
}

// ObstacleWords says why a partition that is hot does not split.
func ObstacleWords(obstacle string) string {
	switch obstacle {
	case "":
		return ""
	case "too few requests":
		return "no split yet: too few requests to choose a border"
	case "single item":
		return "cannot split: one item takes the load"
	case "moving load":
		return "cannot split: the load moves on along the sort key"
	case "local index":
		return "cannot split: a local index holds the collection together"
	}
	return "cannot split: " + Safe(obstacle)
}
