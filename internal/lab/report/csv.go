package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"time"

	"github.com/heatsink-go/heatsink/internal/lab/simulate"
)

// CSV writes the series of all runs: a line for each layout and point of time. Units and requests are per second.
func CSV(w io.Writer, result *simulate.Result) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"scenario", "layout", "second", "offered_units", "served_units", "throttled_requests", "failed_operations", "partitions", "shards"}}
	number := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	for i := range result.Runs {
		r := &result.Runs[i]
		for _, p := range r.Series {
			rows = append(rows, []string{
				result.Scenario.Name, r.Layout, number(time.Duration(p.At).Seconds()), number(round(p.Offered)), number(round(p.Served)),
				number(round(p.Throttled)), number(round(p.Failed)), strconv.Itoa(p.Partitions), strconv.Itoa(p.Width),
			})
		}
	}
	return out.WriteAll(rows)
}

// round leaves out digits that say nothing.
func round(n float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(n, 'g', 6, 64), 64)
	if err != nil {
		return n
	}
	return short
}
