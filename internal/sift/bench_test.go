package sift

import (
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// oneKB returns an item of about 1 KB: ten attributes, and a map with a list.
func oneKB() Item {
	item := Item{"pk": text("key#3"), "sk": text("2026-01-01T00:00:00Z"), "amount": number("12.50"), "status": text("open")}
	for i := range 6 {
		item["field"+strconv.Itoa(i)] = text(strings.Repeat("x", 120))
	}
	item["address"] = &types.AttributeValueMemberM{Value: Item{
		"city": text("Zürich"), "zip": number("8000"),
		"lines": &types.AttributeValueMemberL{Value: []types.AttributeValue{text("first line"), text("second line")}},
	}}
	return item
}

func BenchmarkSift(b *testing.B) {
	item := oneKB()
	values := Item{":open": text("open"), ":ten": number("10")}
	for _, bench := range []struct {
		name, filter, projection string
		values                   Item
	}{
		{"filter", "#s = :open AND amount > :ten", "", values},
		{"attributes", "", "sk, #s, amount, field0", nil},
		{"parts", "", "sk, #s, address.city, address.#l[1]", nil},
		{"both", "#s = :open AND amount > :ten", "sk, amount, address.city", values},
	} {
		b.Run(bench.name, func(b *testing.B) {
			names := map[string]string{}
			for alias, name := range map[string]string{"#s": "status", "#l": "lines"} {
				if strings.Contains(bench.filter+bench.projection, alias) {
					names[alias] = name
				}
			}
			s, err := New(bench.filter, bench.projection, names, bench.values)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if keeps, err := s.Keeps(item); !keeps || err != nil {
					b.Fatal(keeps, err)
				}
				if len(s.Project(item)) < 3 {
					b.Fatal("nothing is left")
				}
			}
		})
	}
}
