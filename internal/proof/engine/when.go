package main

import (
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/proof/engine/answer"
)

// onlyKeysMore says that the peer has what the engine has, and items with nothing but a key beside that.
func onlyKeysMore(f finding) bool {
	ours, _ := f.ours.Body.(map[string]any)
	theirs, _ := f.theirs.Body.(map[string]any)
	mine, other := storedItems(ours), storedItems(theirs) // by a text with one spelling of numbers
	for text := range mine {
		if _, ok := other[text]; !ok {
			return false
		}
	}
	more := 0
	for text, item := range other {
		if _, ok := mine[text]; !ok {
			more++
			if !onlyKey(item) {
				return false
			}
		}
	}
	return more > 0
}

// storedItems are the items that were looked up after a request, by their text.
func storedItems(body map[string]any) map[string]map[string]any {
	all := map[string]map[string]any{}
	stored, _ := body["stored"].(map[string]any)
	tables, _ := stored["Responses"].(map[string]any)
	for _, list := range tables {
		items, _ := list.([]any)
		for _, item := range items {
			all[numbers.ReplaceAllStringFunc(answer.JSON(item), spell)], _ = item.(map[string]any)
		}
	}
	return all
}

func onlyKey(item map[string]any) bool {
	for name := range item {
		if name != "p" && name != "s" {
			return false
		}
	}
	return true
}

// bareSize finds the attribute size without a placeholder, which is not the function.
var bareSize = regexp.MustCompile(`[( ]size\b[^(]|:"size\b`)

// sameNumber says that two answers differ in the spelling of numbers only.
func sameNumber(f finding) bool {
	return numbers.ReplaceAllStringFunc(answer.JSON(f.ours.Body), spell) == numbers.ReplaceAllStringFunc(answer.JSON(f.theirs.Body), spell) || onlyKeysMore(f)
}

var numbers = regexp.MustCompile(`"N":"[^"]*"`)

// spell writes a number in one way.
func spell(field string) string {
	n, ok := new(big.Rat).SetString(strings.Trim(field[len(`"N":`):], `"`))
	if !ok {
		return field
	}
	return n.RatString()
}

func readsNothing(f finding) bool {
	fields, _ := f.ours.Body.(map[string]any)
	return f.op.Name == "Query" && answer.JSON(fields["ScannedCount"]) == "0"
}

func inTransaction(f finding) bool {
	return strings.HasPrefix(f.op.Name, "Transact") || f.op.Name == "ExecuteTransaction"
}

// asks says that a request has a word in it.
func asks(word string) func(finding) bool {
	return func(f finding) bool { return strings.Contains(answer.JSON(f.op.Body), word) }
}

func ofTable(name string) func(finding) bool {
	return func(f finding) bool { return f.op.Body["TableName"] == name }
}

func ofIndex(name string) func(finding) bool {
	return func(f finding) bool { return f.op.Body["IndexName"] == name }
}

func ours(f finding) answer.Answer { return f.ours }

// reasonIn says that one of the codes is a reason for a cancelled transaction.
func reasonIn(of func(finding) answer.Answer, codes ...string) func(finding) bool {
	return func(f finding) bool {
		body := answer.JSON(of(f).Body)
		return slices.ContainsFunc(codes, func(code string) bool { return strings.Contains(body, `"Code":"`+code+`"`) })
	}
}

// oursIsAWSText says that what the engine says is in the words of AWS.
func oursIsAWSText(f finding) bool {
	said := f.Ours
	if _, text, ok := strings.Cut(said, "Message = "); ok {
		said = text
	}
	return slices.ContainsFunc(awsTexts, func(pattern string) bool { return matches(pattern, said) })
}
