package eventlog_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/eventlog"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

func BenchmarkAppend(b *testing.B) {
	logs := setup(b, local.Start(b).Client(), eventlog.Options{Bucket: layout.Day, Shards: 8})
	for _, id := range []string{"", "known"} {
		b.Run(fmt.Sprintf("id=%t", id != ""), func(b *testing.B) {
			e := event{Log: "OPS_LOG", Body: op{Agent: "scanner"}}
			for i := 0; b.Loop(); i++ {
				if id != "" {
					e.At, e.ID = noon.Add(time.Duration(i)), id
				}
				if _, err := logs.Append(b.Context(), e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendAll(b *testing.B) {
	logs := setup(b, local.Start(b).Client(), eventlog.Options{Bucket: layout.Day, Shards: 8})
	batch := make([]event, 100)
	for i := range batch {
		batch[i].Log = "OPS_LOG"
	}
	for b.Loop() {
		if _, err := logs.AppendAll(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(batch))/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkNewest(b *testing.B) {
	for _, shards := range []int{0, 8, 50} {
		b.Run(fmt.Sprintf("shards=%d", shards), func(b *testing.B) {
			options := eventlog.Options{Bucket: layout.Day, Shards: shards, Begin: noon.AddDate(0, 0, -7)}
			logs := setup(b, local.Start(b).Client(), options)
			appendAll(b, logs, every(time.Minute, noon.AddDate(0, 0, -7), "OPS_LOG", 7*24*60))
			q := eventlog.Query{Log: "OPS_LOG", To: noon, Newest: true, Limit: 50}
			var meter heatsink.Meter
			for b.Loop() {
				if n, err := drain(heatsink.WithMeter(b.Context(), &meter), logs, q); n != 50 || err != nil {
					b.Fatal(n, err)
				}
			}
			b.ReportMetric(float64(meter.Cost().Items)/float64(b.N), "items-read/op")
			b.ReportMetric(meter.Cost().ReadUnits/float64(b.N), "RCU/op")
		})
	}
}

func BenchmarkTail(b *testing.B) {
	logs := setup(b, local.Start(b).Client(), eventlog.Options{Bucket: layout.Day, Shards: 8})
	appendAll(b, logs, every(time.Second, noon, "OPS_LOG", 20_000))
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	events := 0
	for b.Loop() {
		tail, err := logs.Tail("OPS_LOG", eventlog.TailOptions{From: noon})
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for _, err := range tail.Events(ctx) {
			if err != nil {
				b.Fatal(err)
			}
			if n++; n == 20_000 {
				break
			}
		}
		events += n
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}
