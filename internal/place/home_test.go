package place

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/attribute"
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

// However many homes there are, each is listed once.
func TestManyHomes(t *testing.T) {
	for _, shards := range []int{1, fewHomes, fewHomes + 1, 100} {
		spread := layout.Layout{Shards: shards, Format: layout.Format{BareZero: true}}
		schema := schemaOf(options{Layout: spread, Older: []layout.Layout{{}, {Shards: shards / 2}, {Shards: shards + 3}}})
		homes, err := schema.Homes(context.Background(), ov("pk", "k", "sk", "1"), false)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, h := range homes {
			if seen[h.ShardKey] {
				t.Errorf("%d shards: %s is listed twice", shards, h.ShardKey)
			}
			seen[h.ShardKey] = true
		}
		if want := shards + 4; len(homes) != want { // shard 0 has the bare key in one layout, and a suffix in another
			t.Errorf("%d shards: got %d homes, want %d", shards, len(homes), want)
		}
	}
}

func TestOnlyKey(t *testing.T) {
	like := ov("pk", "k", "sk", "1", "id", "i")
	calculated := layout.Layout{Shards: 1, Strategy: layout.Calculated}
	for _, c := range []struct {
		name    string
		options options
		want    []Item // the first is the only key if there is one
	}{
		{"not spread", options{}, []Item{ov("pk", "k", "sk", "1")}},
		{"one shard", options{Layout: calculated}, []Item{ov("pk", "k#SHARD_0", "sk", "1")}},
		{"random", options{Layout: layout.Layout{Shards: 2}}, []Item{ov("pk", "k#SHARD_0", "sk", "1"), ov("pk", "k#SHARD_1", "sk", "1")}},
		{"older", options{Layout: calculated, Older: []layout.Layout{{}}}, []Item{ov("pk", "k#SHARD_0", "sk", "1"), ov("pk", "k", "sk", "1")}},
		{"index", options{Index: "listing", TableKey: []string{"id"}, Layout: calculated}, []Item{ov("id", "i")}},
	} {
		schema := schemaOf(c.options)
		every, err := schema.EveryKey(context.Background(), like)
		if err != nil || !slices.EqualFunc(every, c.want, attribute.Same) {
			t.Errorf("%s: got %v, %v, want %v", c.name, every, err, c.want)
		}
		only, err := schema.OnlyKey(context.Background(), like, "the test says so")
		if scattered := len(c.want) > 1; errors.Is(err, ErrScattered) != scattered || scattered && !strings.Contains(err.Error(), "the test says so") {
			t.Errorf("%s: got %v, want ErrScattered: %t", c.name, err, scattered)
		} else if !scattered {
			wantItem(t, c.name, only, c.want[0])
		}
	}
}
