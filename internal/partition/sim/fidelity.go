package sim

import (
	"fmt"
	"io"
	"strings"
)

// Scenario is an experiment that somebody has made on DynamoDB, or a promise that
// AWS makes, repeated here.
type Scenario struct {
	Number int
	Title  string
	Run    func() []Finding // in virtual time; deterministic
}

// Finding is one line of the fidelity table: a published figure beside ours.
type Finding struct {
	Case      string
	Published string
	Source    string
	Ours      string
	OK        bool // ours agrees with what is published
}

// Scenarios returns all of them that need no wire and no SDK, in the order of
// their numbers.
func Scenarios() []Scenario {
	return []Scenario{
		{1, "A new on-demand table, one key", oneKey},
		{2, "A file loaded in the order of its keys, and shuffled", loadFile},
		{3, "Adaptive capacity: 400 write units on 4 partitions", adaptive},
		{4, "Burst: 150 read units after five idle minutes", burst},
		{5, "Split for heat: one partition under 3,000 write units per second", heat},
		{6, "A constant index key behind 50 table keys", backPressure},
		{7, "Pre-warmed to 20,000 write units: 20 shards of one key", ballsInBins},
	}
}

// WriteFidelity runs scenarios and writes what they find as a Markdown table. It
// reports whether everything agrees with what is published.
func WriteFidelity(w io.Writer, scenarios []Scenario) (ok bool, err error) {
	var b strings.Builder
	b.WriteString("| # | scenario | published | source | ours | |\n|---|---|---|---|---|---|\n")
	ok = true
	cell := func(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
	for _, s := range scenarios {
		for i, f := range s.Run() {
			row, title := "", cell(f.Case)
			if i == 0 {
				row, title = fmt.Sprint(s.Number), "**"+cell(s.Title)+"**: "+title
			}
			mark := "✓"
			if !f.OK {
				mark, ok = "✗", false
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", row, title, cell(f.Published), cell(f.Source), cell(f.Ours), mark)
		}
	}
	_, err = io.WriteString(w, b.String())
	return ok, err
}

// near reports whether a figure is within a share of what is expected.
func near(got, want, share float64) bool { return got >= want*(1-share) && got <= want*(1+share) }
