package place

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

func TestHomes(t *testing.T) {
	keys := func(homes []Home) (keys []string) {
		for _, h := range homes {
			keys = append(keys, h.ShardKey)
		}
		return keys
	}
	calculated := layout.Layout{Shards: 8, Strategy: layout.Calculated}
	home := func(n int) string {
		key, err := calculated.ShardKey("k", time.Time{}, calculated.WithShards(n).Shard("id"))
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	distinct := func(keys ...string) (distinct []string) {
		for _, key := range keys {
			if !slices.Contains(distinct, key) {
				distinct = append(distinct, key)
			}
		}
		return distinct
	}
	bare := layout.Format{BareZero: true}
	for _, c := range []struct {
		name    string
		options options
		every   bool
		want    []string
	}{
		{"not spread", options{}, false, []string{"k"}},
		{"random", options{Layout: layout.Layout{Shards: 3}}, false, []string{"k#SHARD_0", "k#SHARD_1", "k#SHARD_2"}},
		{"calculated", options{Layout: calculated}, false, []string{home(8)}},
		{"calculated, every", options{Layout: calculated.WithShards(2)}, true, []string{"k#SHARD_0", "k#SHARD_1"}},
		{
			"calculated and growing",
			options{Layout: calculated, Widths: layout.Width{Write: 8, Read: 8}},
			false,
			distinct(home(8), home(4), home(2), home(1)),
		},
		{
			"calculated and narrower again",
			options{Layout: calculated, Widths: layout.Width{Write: 2, Read: 8}},
			false,
			distinct(home(2), home(8), home(4), home(1)),
		},
		{
			"older layouts",
			options{Layout: layout.Layout{Shards: 2}, Older: []layout.Layout{{}, {Shards: 2, Format: layout.SharpNumber()}}},
			false,
			[]string{"k#SHARD_0", "k#SHARD_1", "k", "k#SHARD#0", "k#SHARD#1"},
		},
		{"the same older shard", options{Layout: layout.Layout{Shards: 2, Format: bare}, Older: []layout.Layout{{}}}, false, []string{"k", "k#SHARD_1"}},
		{"older and calculated", options{Older: []layout.Layout{calculated}}, false, []string{"k", home(8)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			homes, err := schemaOf(c.options).Homes(context.Background(), ov("pk", "k", "sk", "id"), c.every)
			if got := keys(homes); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}
