package heatpage

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)

// Whatever is added when, columns stay in order, do not overlap and are few, and nothing that is young enough is lost when they are
// merged.
func TestGridKeepsSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var g grid
		now, sum := noon, make(map[int]float64)
		for range rapid.IntRange(1, 400).Draw(t, "rounds") {
			now = now.Add(time.Duration(rapid.SampledFrom([]int{1, 1, 1, 2, 7, 61}).Draw(t, "seconds")) * time.Second)
			late := time.Duration(rapid.SampledFrom([]int{0, 0, 1, 5, 200}).Draw(t, "late")) * time.Second
			row, units := rapid.IntRange(1, 3).Draw(t, "row"), float64(rapid.IntRange(1, 9).Draw(t, "units"))
			g.at(now.Add(-late)).add(row, cell{units, 1})
			sum[row] += units
			g.compact(now)
		}
		most, got := 0, make(map[int]float64)
		for _, level := range levels {
			most += level.keep + 10 // a longer one begins where one of its own begins
		}
		if len(g.columns) > most {
			t.Fatalf("%d columns, want at most %d", len(g.columns), most)
		}
		for i, c := range g.columns {
			if i > 0 && g.columns[i-1].end().After(c.start) {
				t.Fatalf("column %s of %s overlaps the one before", c.start, c.span)
			}
			for row, d := range c.cells {
				got[row] += d.units
			}
		}
		if now.Sub(noon) < 7*time.Hour { // nothing is dropped yet
			for row, want := range sum {
				if math.Abs(got[row]-want) > 1e-6 {
					t.Fatalf("row %d has %v units, want %v", row, got[row], want)
				}
			}
		}
	})
}

// What is older than all levels is dropped.
func TestGridForgets(t *testing.T) {
	var g grid
	for i := range 10 * 3600 {
		now := noon.Add(time.Duration(i) * time.Second)
		g.at(now).add(1, cell{units: 1})
		g.compact(now)
	}
	if age := noon.Add(10 * time.Hour).Sub(g.columns[0].start); age < 6*time.Hour || age > 7*time.Hour {
		t.Errorf("the oldest column is %s old", age)
	}
	if n := len(g.columns); n < 700 || n > 745 {
		t.Errorf("got %d columns", n)
	}
}
