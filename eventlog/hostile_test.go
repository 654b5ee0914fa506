package eventlog_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/eventlog"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// Settings that nobody should choose are refused, or work: no panic, no wait without end, what is appended is read.
func TestWildOptions(t *testing.T) {
	opened := 0
	for seed := range uint64(1000) {
		bubble.Test(t, func(t *testing.T) {
			var options eventlog.Options
			faulty.Wild(rand.New(rand.NewPCG(1, seed)), &options)
			options.Table, options.PartitionKey, options.SortKey, options.Index = "logs", "", "", eventlog.Index{}
			options.Begin, options.OlderUntil, options.Precision = time.Time{}, time.Time{}, 0
			if seed%2 > 0 { // or hardly any would be left
				options.Bucket, options.Shards, options.Format = layout.Bucket(seed%7), int(seed%5), layout.Format{}
				options.Retry.Attempts, options.Time, options.TTL = 0, "", ""
				options.Retention = max(options.Retention, 0)
			}
			if _, err := eventlog.Open[op](&dynamodb.Client{}, options); err != nil {
				return
			}
			opened++
			logs := setup(t, local.Start(t).Client(), options)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			now := time.Now()
			for i := range 3 {
				if _, err := logs.Append(ctx, event{Log: "LOG", At: now, ID: fmt.Sprint(i), Body: op{N: i}}); err != nil {
					return
				}
			}
			n := 0
			for _, err := range logs.Events(ctx, eventlog.Query{Log: "LOG", From: now.Add(-time.Hour), To: now.Add(time.Hour)}) {
				if err != nil {
					return
				}
				n++
			}
			if n != 3 && (options.Retention == 0 || options.Retention > time.Second) {
				t.Errorf("seed %d: %d events, want 3: %+v", seed, n, options)
			}
		})
	}
	t.Logf("1,000 options, of which %d are accepted", opened)
	if opened < 100 {
		t.Errorf("%d options are accepted: too few for a test", opened)
	}
}

// Logs and ids that look like the log's own keys are told apart, or refused.
func TestHostileNames(t *testing.T) {
	logs := setup(t, local.Start(t).Client(), eventlog.Options{Bucket: layout.Day, Shards: 3, Begin: noon})
	var names []string
	for _, part := range []string{"", "a", "#", "#SHARD_0", "#SHARD_2", "#2026-06-22", "2026-06-22T12:00:00Z#", "\x00", "日本", "\xff", " "} {
		names = append(names, part, "b"+part, part+"b")
	}
	names = append(names, strings.Repeat("x", 900), strings.Repeat("x", 1024), strings.Repeat("x", 2048), strings.Repeat("x", 70_000))
	type place struct{ log, id string }
	want := map[place]bool{}
	perLog := map[string]int{}
	tried := 0
	for _, log := range names {
		for _, id := range names {
			if id == "" || want[place{log, id}] {
				continue
			}
			tried++
			if r, err := logs.Append(t.Context(), event{Log: log, At: noon, ID: id}); err == nil {
				if r.Duplicate {
					t.Errorf("log %.20q, id %.20q is there already", log, id)
				}
				want[place{log, id}] = true
				perLog[log]++
			}
		}
	}
	for log, n := range perLog {
		got, _ := read(t, logs, eventlog.Query{Log: log, From: noon, To: noon.Add(time.Second)})
		if len(got) != n {
			t.Errorf("log %.20q: %d events, want %d", log, len(got), n)
		}
		for _, e := range got {
			if !want[place{log, e.ID}] || !e.At.Equal(noon) {
				t.Errorf("log %.20q: got %.80q at %v", log, e.ID, e.At)
			}
		}
	}
	t.Logf("%d pairs of names, of which %d are accepted", tried, len(want))
	if len(want) < 100 || len(want) == tried {
		t.Errorf("%d of %d pairs are accepted", len(want), tried)
	}
}
