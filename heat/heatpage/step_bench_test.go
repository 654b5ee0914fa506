package heatpage

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
)

// A round of 10,000 keys, as the page takes one each second.
func BenchmarkStep(b *testing.B) {
	now := noon
	var keys []heat.KeyHeat
	for i := range 10000 {
		keys = append(keys, heat.KeyHeat{Key: fmt.Sprintf("CUSTOMER#%05d", i), Second: 5, RateLow: 5, Rate: 5})
	}
	page, err := New(Options{Rows: 10000, Source: func(context.Context) (Round, error) {
		now = now.Add(time.Second)
		total := 0.0
		for i := range keys {
			keys[i].Low += float64(10000 - i)
			total += keys[i].Low
		}
		return reportOf(now, total, keys...), nil
	}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		page.step(context.Background())
	}
}
