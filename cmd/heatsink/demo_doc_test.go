package main

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	demoRow  = regexp.MustCompile(`(?m)^\| (one key|ten shards, on a table|ten shards, on a new|adaptive, three).* \| (\d+ of \d+) \| ([\d,]+) \| ([\d,]+) \|`)
	digits   = regexp.MustCompile(`[\d,.]+`)
	bars     = regexp.MustCompile(`[█░]+`)
	excerpts = regexp.MustCompile("(?s)```\n(Act 4.*?)```")
)

// compareDemoTable compares the acts with the README's table. That was printed in real time, so its rates may be 3 % of the load apart.
func compareDemoTable(t *testing.T, acts []actReport) {
	t.Helper()
	rows := demoRow.FindAllStringSubmatch(readPage(t, "../../README.md"), -1)
	if len(rows) != len(acts) {
		t.Fatalf("the README's table of the demo has %d rows, want %d", len(rows), len(acts))
	}
	for i, row := range rows {
		if got := fmt.Sprintf("%d of %d", acts[i].Occupied, acts[i].Partitions); got != row[2] {
			t.Errorf("README: %s: %s partitions, want %s", row[1], row[2], got)
		}
		for cell, got := range map[string]float64{row[3]: acts[i].Accepted, row[4]: acts[i].Refused} {
			shown, err := strconv.ParseFloat(strings.ReplaceAll(cell, ",", ""), 64)
			if err != nil || math.Abs(shown-got) > 0.03*8000 {
				t.Errorf("README: %s: %s WCU/s, want %.0f", row[1], cell, got)
			}
		}
	}
}

// compareDemoExcerpt compares what docs/adaptive.md shows of the demo with what it prints, figures and bars apart.
func compareDemoExcerpt(t *testing.T, printed string) {
	t.Helper()
	excerpt := excerpts.FindStringSubmatch(readPage(t, "../../docs/adaptive.md"))
	if excerpt == nil {
		t.Fatal("docs/adaptive.md shows nothing of the demo")
	}
	shape := func(text string) string {
		return strings.Join(strings.Fields(digits.ReplaceAllString(bars.ReplaceAllString(text, ""), "#")), " ")
	}
	lines := map[string]bool{}
	for line := range strings.Lines(printed) {
		lines[shape(line)] = true
	}
	for line := range strings.Lines(excerpt[1]) {
		if !lines[shape(line)] {
			t.Errorf("docs/adaptive.md: the demo prints no line like %q", line)
		}
	}
}

func readPage(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
