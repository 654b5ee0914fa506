// Package sortkeytest is for tests: it draws sort keys, and evaluates conditions on them as DynamoDB does.
package sortkeytest

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/sortkey"
)

// Of is sortkey.Of for values that have to be sort keys.
func Of(t rapid.TB, v any) sortkey.Value {
	value, err := sortkey.Of(v)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// Draw draws a sort key from few letters, so that they meet, with those at the borders of the alphabet. It may be empty.
func Draw(t *rapid.T, kind attr.Kind, label string) sortkey.Value {
	if kind == attr.N {
		return Of(t, &types.AttributeValueMemberN{Value: rapid.SampledFrom([]string{
			"0", "1", "-1", "1.5", "10", "9", "1E-130", "-1E-130", "1E125", "-1E125", "0.1", "12345678901234567890123456789012345678",
		}).Draw(t, label)})
	}
	letters := []string{"\x00", "a", "b", "\x7f", "é", "\ud7ff", "\ue000", "\U0010ffff"}
	if kind == attr.B {
		letters = []string{"\x00", "\x01", "a", "\xfe", "\xff"}
	}
	s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(letters), 0, 3).Draw(t, label), "")
	if rapid.IntRange(0, 19).Draw(t, "long") == 0 { // up to the longest key there is
		s = strings.Repeat("b", sortkey.MaxBytes-len(s)) + s
	}
	return sortkey.Value{Kind: kind, Text: s}
}

// Satisfies reports whether DynamoDB finds that a sort key satisfies the condition, one that Interval.Condition spells.
func Satisfies(t rapid.TB, v sortkey.Value, condition string, values map[string]types.AttributeValue) bool {
	operand := func(name string) sortkey.Value { return Of(t, values[name]) }
	words := strings.Fields(condition)
	switch {
	case condition == "":
		return true
	case condition == "begins_with(#hs_sk, :hs_lo)":
		return strings.HasPrefix(v.Text, operand(":hs_lo").Text)
	case len(words) == 5 && words[1] == "BETWEEN":
		lo, hi := operand(words[2]), operand(words[4])
		if lo.Compare(hi) > 0 {
			t.Fatalf("BETWEEN %q AND %q", lo.Text, hi.Text)
		}
		return v.Compare(lo) >= 0 && v.Compare(hi) <= 0
	}
	c := v.Compare(operand(words[2]))
	return slices.Contains(map[string][]int{"=": {0}, "<": {-1}, "<=": {-1, 0}, ">": {1}, ">=": {1, 0}}[words[1]], c)
}
