package pagetoken

import (
	"testing"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/sortkey"
)

func BenchmarkPageToken(b *testing.B) {
	p := Position{Bucket: firstDay, Width: 5000, Ordinal: NewOrdinal(0, 4711), Sort: sortkey.Value{Kind: attr.S, Text: "2026-06-22T01:00:00.123Z#user-12345678"}}
	for _, name := range []string{"unsigned", "signed"} {
		key := tokenKeys[name]
		token := p.Token(queryOf(42), key)
		b.Run(name+"/write", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Token(queryOf(42), key)
			}
			b.ReportMetric(float64(len(token)), "chars")
		})
		b.Run(name+"/read", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(token, queryOf(42), key); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
