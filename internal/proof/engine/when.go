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
	ours, theirs := f.ours.Body, f.theirs.Body
	if f.ours.Message != f.theirs.Message { // what is said is another difference
		ours, theirs = f.ours.Stored(), f.theirs.Stored()
	}
	return numbers.ReplaceAllStringFunc(answer.JSON(ours), spell) == numbers.ReplaceAllStringFunc(answer.JSON(theirs), spell) || onlyKeysMore(f)
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

// readsKeys says that the request is a GetItem, BatchGetItem or Query.
func readsKeys(f finding) bool {
	return slices.Contains([]string{"GetItem", "BatchGetItem", "Query"}, f.op.Name)
}

func ofTable(name string) func(finding) bool {
	return func(f finding) bool { return f.op.Body["TableName"] == name }
}

func ofIndex(name string) func(finding) bool {
	return func(f finding) bool { return f.op.Body["IndexName"] == name }
}

// fetches says that the request wants of a local index what the index need not have.
func fetches(f finding) bool {
	return ofIndex("local")(f) && (asks(`"ProjectionExpression"`)(f) || asks(`"AttributesToGet"`)(f) || asks("ALL_ATTRIBUTES")(f))
}

func ours(f finding) answer.Answer { return f.ours }

// reasonIn says that one of the codes is a reason for a cancelled transaction.
func reasonIn(of func(finding) answer.Answer, codes ...string) func(finding) bool {
	return func(f finding) bool {
		body := answer.JSON(of(f).Body)
		return slices.ContainsFunc(codes, func(code string) bool { return strings.Contains(body, `"Code":"`+code+`"`) })
	}
}

// ofMany says that the request is about several items.
func ofMany(f finding) bool { return strings.HasPrefix(f.op.Name, "Batch") || inTransaction(f) }

// expressions finds the expressions of a request, with the field that each stands in.
func expressions(v any, found func(field, text string, request map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		for name, field := range v {
			if text, ok := field.(string); ok && strings.HasSuffix(name, "Expression") {
				found(name, text, v)
				continue
			}
			expressions(field, found)
		}
	case []any:
		for _, element := range v {
			expressions(element, found)
		}
	}
}

// undefined says that an expression has a placeholder that nobody defines.
func undefined(mark byte, where string) func(finding) bool {
	placeholder := regexp.MustCompile(string(mark) + `\w+`)
	return func(f finding) (missing bool) {
		expressions(f.op.Body, func(_, text string, request map[string]any) {
			defined, _ := request[where].(map[string]any)
			for _, name := range placeholder.FindAllString(text, -1) {
				if _, ok := defined[name]; !ok {
					missing = true
				}
			}
		})
		return missing
	}
}

var (
	operands = regexp.MustCompile(`([#:\w.[\]]+)(?: (?:<>|<=|>=|=|<|>) |, )([#:\w.[\]]+)`)
	unended  = regexp.MustCompile(`(= *|,|REMOVE|SET a)$|= *(AND|OR|\))|= \S+ = |ADD a :v0 :v0|SET a (SET|REMOVE|ADD|DELETE)|REMOVE (SET|ADD|DELETE)|^set|[(]size`)
)

// sameOperands says that an expression compares a path with itself.
func sameOperands(f finding) (same bool) {
	expressions(f.op.Body, func(_, text string, request map[string]any) {
		names, _ := request["ExpressionAttributeNames"].(map[string]any)
		for name, attribute := range names {
			text = strings.ReplaceAll(text, name, attribute.(string))
		}
		for _, pair := range operands.FindAllStringSubmatch(text, -1) {
			same = same || pair[1] == pair[2]
		}
	})
	return same
}

// broken says that an expression is none, as package draw breaks them.
func broken(f finding) (is bool) {
	expressions(f.op.Body, func(_, text string, _ map[string]any) {
		is = is || strings.Count(text, "(") != strings.Count(text, ")") || unended.MatchString(text) || strings.Contains(text, "NOT ")
	})
	return is
}

// startsAtBound says that a Query goes backwards from a key that is an end of its range.
func startsAtBound(f finding) bool {
	start, _ := f.op.Body["ExclusiveStartKey"].(map[string]any)
	values, _ := f.op.Body["ExpressionAttributeValues"].(map[string]any)
	if f.op.Body["ScanIndexForward"] != false || start["s"] == nil {
		return false
	}
	for _, v := range values {
		if answer.JSON(v) == answer.JSON(start["s"]) {
			return true
		}
	}
	return false
}

// filledUp says that the peer has put nulls before an element that an update has set.
func filledUp(f finding) bool {
	const null = `{"NULL":true}`
	return matches(`\[\d\] `, answer.JSON(f.op.Body)) && strings.Count(answer.JSON(f.theirs.Body), null) > strings.Count(answer.JSON(f.ours.Body), null)
}

// withoutAction says that an attribute is given a value, and no action.
func withoutAction(f finding) bool {
	updates, _ := f.op.Body["AttributeUpdates"].(map[string]any)
	for _, update := range updates {
		if fields, ok := update.(map[string]any); ok && fields["Action"] == nil {
			return true
		}
	}
	return false
}
