package heat_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatcloudwatch"
)

const heatDoc = "../docs/heat.md"

func readDoc(t *testing.T) string {
	t.Helper()
	doc, err := os.ReadFile(heatDoc)
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

// stated returns the figures that docs/heat.md has in the groups of a pattern, whose spaces may be ends of lines.
func stated(t *testing.T, pattern string) []float64 {
	t.Helper()
	found := regexp.MustCompile(strings.ReplaceAll(pattern, " ", `\s+`)).FindStringSubmatch(readDoc(t))
	if found == nil {
		t.Fatalf("%s does not say %q any more; say here what it says now", heatDoc, pattern)
	}
	var figures []float64
	for _, text := range found[1:] {
		figures = append(figures, figure(t, text))
	}
	return figures
}

// figure reads a number: 1,024 or ten.
func figure(t *testing.T, text string) float64 {
	t.Helper()
	for i, word := range []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"} {
		if text == word {
			return float64(i + 1)
		}
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil {
		t.Fatalf("%s: %v", heatDoc, err)
	}
	return n
}

// The figures in the documentation are those of the code.
func TestDocumentedFigures(t *testing.T) {
	fine, coarse := heat.TrendKept()
	for _, test := range []struct {
		pattern string
		want    []float64
	}{
		{`index (\S+) keys in a Space-Saving sketch`, []float64{float64(heat.DefaultOptions.Entries)}},
		{`decayed over (\w+) seconds`, []float64{heat.DefaultOptions.Decay.Seconds()}},
		{`Seconds are kept for (\w+) minutes, minutes for (\w+) hours`, []float64{fine.Minutes(), coarse.Hours()}},
		{
			`A partition serves (\S+) write and (\S+) read units a second`,
			[]float64{heat.PartitionWriteUnits, heat.PartitionReadUnits},
		},
		{`surely wants (\d+) % of that`, []float64{100 * heat.DefaultRules().Hot}},
		{`critical, (\d+) % a warning`, []float64{100 * heat.DefaultRules().Warm}},
		{`shards in every bucket, above (\S+) writes a second`, []float64{heat.PartitionWriteUnits}},
		{`Of more than (\S+) decisions the latest are kept`, []float64{heat.MostDecisions}},
		{`a sample of the items, at (\d+) read units a second at most`, []float64{heat.DefaultScanOptions.MaxRCU}},
	} {
		if got := stated(t, test.pattern); !slices.Equal(got, test.want) {
			t.Errorf("%s has %v for %q, the code %v", heatDoc, got, test.pattern, test.want)
		}
	}
	said := strings.Contains(readDoc(t), "a key with more than a thousandth of the units")
	if !said || math.Round(float64(heat.DefaultOptions.Entries)/100) != 10 {
		t.Errorf("%s does not say which key is surely kept of %d", heatDoc, heat.DefaultOptions.Entries)
	}
}

// The memory of a recorder is within a twentieth of what is documented.
func TestDocumentedMemory(t *testing.T) {
	want := stated(t, "`BenchmarkTenMillionKeys`: (\\d+) KB after a hundred thousand different keys, and after ten million")[0]
	const recorders = 10 // so that what else comes and goes in the heap does not matter
	var all [recorders]*heat.Recorder
	before := settledHeap()
	for i := range all {
		all[i] = newRecorder(t, heat.Options{Keys: map[string][]string{"views": {"pk"}}})
		for k := range 10 * heat.DefaultOptions.Entries {
			heat.Observe(all[i], "views", heat.Write, fmt.Appendf(nil, "user-%d", k), 1)
		}
	}
	got := float64(settledHeap()-before) / recorders / 1000
	runtime.KeepAlive(all)
	if math.Abs(got-want) > want/20 {
		t.Errorf("%s has %v KB, a recorder takes %.0f", heatDoc, want, got)
	}
}

// settledHeap returns the bytes in use once what is kept for later use is gone as well.
func settledHeap() int64 {
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A key that is refused by key range is critical from the documented part of a partition's limit on.
func TestDocumentedShareOfARefusedKey(t *testing.T) {
	from := stated(t, `refuses by key range is critical from (\d+) % on`)[0] / 100
	for rate, want := range map[float64]bool{from * heat.PartitionWriteUnits: true, from*heat.PartitionWriteUnits - 1: false} {
		k := heat.KeyHeat{Key: "a", RateLow: rate, Refused: 1, Throttled: 11, Reason: "TableWriteKeyRangeThroughputExceeded"}
		findings := heat.Explain(report(heat.Flow{Keys: []heat.KeyHeat{k}}), heat.Rules{})
		if got := len(findings) == 1 && findings[0].Severity == heat.Critical; got != want {
			t.Errorf("%v units a second: %s", rate, kinds(findings))
		}
	}
}

// So many refusals in so many minutes are no trouble, and one more is.
func TestDocumentedThrottlesThatAreNoTrouble(t *testing.T) {
	few := stated(t, `up to (\w+) throttles in (\w+) minutes are no trouble`)
	count, apart := int64(few[0]), time.Duration(few[1])*time.Minute
	for name, test := range map[string]struct {
		first, second int64
		apart         time.Duration
		want          heat.Severity
	}{
		"few":                  {count, 0, time.Minute, heat.Info},
		"one more":             {count, 1, time.Minute, heat.Critical},
		"as many, later":       {count, count, apart, heat.Info},
		"as many, not so late": {count, count, apart - time.Minute, heat.Critical},
	} {
		begin := time.Now().Truncate(time.Minute).UTC()
		r := report(heat.Flow{
			Throttled: test.first + test.second,
			Throttles: []heat.ThrottleCount{{Reason: "TableWriteKeyRangeThroughputExceeded", Count: test.first + test.second}},
			Trend: []heat.Point{
				{From: begin, For: time.Minute, Throttled: test.first}, {From: begin.Add(test.apart), For: time.Minute, Throttled: test.second},
			},
		})
		r.Source = heat.CloudWatch
		if findings := heat.Explain(r, heat.Rules{}); len(findings) != 1 || findings[0].Severity != test.want {
			t.Errorf("%s: %s, want %s", name, kinds(findings), test.want)
		}
	}
}

// So many words stay words, and one more makes them names.
func TestDocumentedWords(t *testing.T) {
	most := int(stated(t, `when there are more than (\d+) of them with everything else alike`)[0])
	for words, want := range map[int]string{most: "TENANT#{value}", most + 1: "TENANT#{id}"} {
		recorder := newRecorder(t, heat.Options{Keys: map[string][]string{"views": {"pk"}}})
		for i := range words {
			heat.Observe(recorder, "views", heat.Write, fmt.Appendf(nil, "TENANT#ZQV%c", 'A'+i), float64(words-i))
		}
		if got := resource(t, recorder.Report(), "views").Patterns[0].Shape; got != want {
			t.Errorf("%d words: the first shape is %s, want %s", words, got, want)
		}
	}
}

// nobody knows no table.
type nobody struct{ heatcloudwatch.InsightTables }

var errNobody = errors.New("nobody knows")

func (nobody) DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (
	*dynamodb.DescribeTableOutput, error,
) {
	return nil, errNobody
}

// Contributor Insights can be asked for as many keys as documented, and for no more.
func TestDocumentedContributors(t *testing.T) {
	most := int(stated(t, `the (\d+) most used and most throttled keys`)[0])
	for top, want := range map[int]bool{most: true, most + 1: false} {
		_, err := heatcloudwatch.Insights(t.Context(), nil, nobody{}, "views", heatcloudwatch.Options{Top: top})
		if got := errors.Is(err, errNobody); got != want {
			t.Errorf("%d keys: %v", top, err)
		}
	}
}

// The table of kinds has all of them, each once, and no others.
func TestDocumentedKinds(t *testing.T) {
	_, table, found := strings.Cut(readDoc(t), "| kind | when | what to do |\n|---|---|---|\n")
	if !found {
		t.Fatalf("%s has no table of kinds", heatDoc)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var got []string
	for row := range strings.Lines(table) {
		column, _, _ := strings.Cut(strings.TrimPrefix(row, "|"), "|")
		for name := range strings.SplitSeq(column, ",") {
			got = append(got, strings.Trim(name, " `"))
		}
	}
	want := declaredKinds(t)
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("%s has the kinds\n%q, the code\n%q", heatDoc, got, want)
	}
}

// declaredKinds returns the constants of type Kind.
func declaredKinds(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "finding.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for node := range ast.Preorder(file) {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			continue
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == "Kind" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, text)
		}
	}
	return kinds
}
