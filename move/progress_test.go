package move_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// Progress is seen while a page is under way: with slow writes, a page takes minutes.
func TestProgressWithinAPage(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := start(t).Client()
		fill(t, client, collection(layout.Layout{}), 400, 10)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		var seen []move.Progress
		m := mover(t, client, move.Options{
			Collection: collection(sixteen, layout.Layout{}), WCU: 30, Segments: 1,
			Progress: func(p move.Progress) { seen = append(seen, p) },
		})
		result, err := m.Run(ctx)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		p := seen[4] // 10 items a second
		if p.Scanned < 30 || p.Scanned > 60 || p.ReadUnits == 0 || p.Left < 30*time.Second || p.Left > 45*time.Second {
			t.Errorf("after 5 s: %+v", p)
		}
		if result.Scanned < result.Moved || result.Scanned > result.Moved+1 {
			t.Errorf("%d scanned and %d moved", result.Scanned, result.Moved)
		}
		if len(result.Findings) != 0 {
			t.Errorf("items that were moved are findings: %+v", result.Findings)
		}
		again, err := m.Run(t.Context())
		if err != nil || !again.Resumed || again.Right != 400 || again.Scanned != 401 { // and the checkpoint
			t.Errorf("%+v, %v", again, err)
		}
	})
}

// A Key that reads as a shard is a mistake: no logical key is spelt so.
func TestKeyThatReadsAsAShard(t *testing.T) {
	client := start(t).Client()
	_, err := move.New(client, move.Options{Collection: collection(sixteen, layout.Layout{}), Key: "OPEN#SHARD_3"})
	if !errors.Is(err, heatsink.ErrOptions) || !strings.Contains(err.Error(), `"OPEN#SHARD_3", which reads as a shard`) {
		t.Error(err)
	}
}

// Nothing is read of an index whose key cannot take the shard.
func TestIndexWithANumberAsKey(t *testing.T) {
	client := start(t, func(in *dynamodb.CreateTableInput) { in.AttributeDefinitions[1].AttributeType = "N" }).Client()
	m := mover(t, client, move.Options{Collection: collection(sixteen, layout.Layout{})})
	for _, do := range []func() error{
		func() error { _, err := m.Plan(t.Context()); return err },
		func() error { _, err := m.Run(t.Context()); return err },
		func() error { _, err := m.Verify(t.Context()); return err },
	} {
		if err := do(); !errors.Is(err, move.ErrUnsupported) || !strings.Contains(err.Error(), `"status" of index byStatus has the type N`) {
			t.Error(err)
		}
	}
}

// A forecast says how many items the wanted keys have.
func TestForecastOfAKeyThatNoItemHas(t *testing.T) {
	client := start(t).Client()
	fill(t, client, collection(layout.Layout{}), 10, 10)
	for key, want := range map[string]int64{"OPEN": 5, "GONE": 0} {
		m := mover(t, client, move.Options{Collection: collection(sixteen, layout.Layout{}), Key: key})
		if f, err := m.Plan(t.Context()); err != nil || f.Listed != want || f.Moves != want {
			t.Errorf("%s: %+v, %v", key, f, err)
		}
	}
}
