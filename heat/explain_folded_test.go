package heat_test

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
)

// load is how many units a second keys take.
type load map[string]int

// observed records half a minute of a load on a table or index.
func observed(t *testing.T, of heat.Resource, options heat.Options, keys load) heat.Report {
	t.Helper()
	options.NoDescribe = true
	recorder := newRecorder(t, options)
	for second := range 30 {
		for key, n := range keys {
			for i := range n {
				recorder.Observe(heat.Observation{
					Resource: of, Direction: heat.Write, KeyNames: []string{"status"}, Key: []string{key}, Sort: []string{fmt.Sprint(second, i)}, Units: 1,
				})
			}
		}
		time.Sleep(time.Second)
	}
	return recorder.Report()
}

// storedLoad is a report of stored items.
func storedLoad(t *testing.T, keys load) heat.Report {
	t.Helper()
	reader, err := heat.NewExportReader("app", heat.Options{Keys: map[string][]string{"app": {"status"}}})
	if err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	for key, n := range keys {
		for i := range 10 * n {
			fmt.Fprintf(&lines, `{"Item":{"status":{"S":%q},"sk":{"S":"%d"}}}`+"\n", key, i)
		}
	}
	if err := reader.Read("items.json", &lines); err != nil {
		t.Fatal(err)
	}
	return reader.Report()
}

// spreadLoad is a key spread over so many shards, the first of which is the bare key.
func spreadLoad(key string, shards, each int, others load) load {
	all := load{key: each}
	for i := 1; i < shards; i++ {
		all[fmt.Sprintf("%s#SHARD_%d", key, i)] = each
	}
	maps.Copy(all, others)
	return all
}

// What a plan proposes leads to no finding: shards whose first is the bare key are those of one key, in a bucket too, and the
// values of a set stay values when one of them is spread.
func TestSpreadKeysAreNoFindings(t *testing.T) {
	index := heat.Resource{Table: "desk", Index: "byStatus"}
	table := heat.Resource{Table: "app"}
	byDay := layout.Layout{Shards: 8, Bucket: layout.Day, Format: layout.Format{BareZero: true}}
	for _, test := range []struct {
		name    string
		of      heat.Resource
		options heat.Options
		load    load
		stored  bool
		want    string
	}{
		{name: "a day", of: table, load: spreadLoad("AUDIT#2026-06-22", 8, 180, nil)},
		{name: "a day that is told", of: table, options: heat.Options{Layouts: []heat.Layout{{Layout: byDay}}}, load: spreadLoad("AUDIT#2026-06-22", 8, 180, nil)},
		{name: "a day, other shards not seen yet", of: table, options: heat.Options{Layouts: []heat.Layout{{Layout: byDay}}}, load: load{"AUDIT#2026-06-22": 180}},
		{name: "a day that is not spread", of: table, load: load{"AUDIT#2026-06-22": 180}, want: "warning time-key AUDIT#2026-06-22"},
		{name: "a day beside another that is", of: table, load: spreadLoad("AUDIT#2026-06-22", 8, 80, load{"MAIL#2026-06-22": 600}), want: "warning time-key MAIL#2026-06-22"},
		{name: "a status", of: index, load: spreadLoad("OPEN", 8, 170, load{"PENDING": 190})},
		{name: "a status, stored", stored: true, load: spreadLoad("OPEN", 8, 17, load{"PENDING": 19})},
		{name: "a status with a prefix", of: index, load: spreadLoad("STATUS#OPEN", 8, 170, load{"STATUS#PENDING": 190, "STATUS#CLOSED": 180})},
		{
			name: "another status that takes most", of: index, load: spreadLoad("OPEN", 8, 5, load{"PENDING": 600}),
			want: "warning low-cardinality PENDING",
		},
		{
			name: "another status that has most, stored", stored: true, load: spreadLoad("OPEN", 8, 2, load{"PENDING": 190}),
			want: "warning low-cardinality PENDING",
		},
		{name: "half of two keys", of: table, load: spreadLoad("CUSTOMER#a-17", 8, 60, load{"CUSTOMER#b-23": 470})},
		{name: "cool shards with much of the traffic", of: table, load: spreadLoad("VIEWS#p-1", 2, 210, load{
			"VIEWS#p-2": 10, "VIEWS#p-3": 10, "VIEWS#p-4": 10, "VIEWS#p-5": 10, "VIEWS#p-6": 10,
		})},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				report := heat.Report{}
				if test.stored {
					report = storedLoad(t, test.load)
				} else {
					report = observed(t, test.of, test.options, test.load)
				}
				var worse []heat.Finding
				for _, f := range heat.Explain(report, heat.Rules{}) {
					if f.Severity > heat.Info {
						worse = append(worse, f)
					}
				}
				if got := kinds(worse); got != test.want {
					t.Errorf("got %s, want %s: %v", got, test.want, worse)
				}
				if len(worse) == 1 && test.stored && (strings.Contains(worse[0].Message, "single value") || !strings.Contains(fmt.Sprint(worse[0].Evidence), "OPEN")) {
					t.Errorf("the other value is not named: %+v", worse[0])
				}
			})
		})
	}
}
