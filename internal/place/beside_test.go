package place

import (
	"slices"
	"testing"

	"github.com/heatsink-go/heatsink/layout"
)

// Copies are told apart by what the shard is calculated from, where that is not part of the key.
func TestBeside(t *testing.T) {
	calculated := layout.Layout{Shards: 4, Strategy: layout.Calculated}
	for _, c := range []struct {
		name    string
		options options
		want    Beside
	}{
		{"from the sort key", options{Layout: calculated}, Beside{}},
		{"from another attribute", options{Layout: calculated, ShardBy: []string{"sk", "user"}}, Beside{"user"}},
		{"random", options{Layout: layout.Layout{Shards: 4}, ShardBy: []string{"user"}}, nil},
		{"one shard", options{Layout: layout.Layout{Shards: 1, Strategy: layout.Calculated}, ShardBy: []string{"user"}}, nil},
		{"an older layout", options{Older: []layout.Layout{calculated}, ShardBy: []string{"user"}}, Beside{"user"}},
		{"an older layout of two shards", options{Older: []layout.Layout{{Shards: 2, Strategy: layout.Calculated}}, ShardBy: []string{"user"}}, Beside{"user"}},
		{"widths", options{Layout: layout.Layout{Strategy: layout.Calculated}, Widths: layout.Width{Write: 1, Read: 4}, ShardBy: []string{"user"}}, Beside{"user"}},
		{"an index", options{Index: "i", TableKey: []string{"id"}, Layout: calculated, ShardBy: []string{"id", "sk"}}, Beside{"sk"}},
	} {
		if got := schemaOf(c.options).Beside; !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}

	like := ov("user", "u1", "n", 1)
	copies := []Item{ov("user", "u1"), ov("user", "u2"), nil, ov("n", 2)}
	beside := Beside{"user"}
	for i, want := range []bool{true, false, false, false} {
		if copies[i] != nil && beside.SurelySame(copies[i], like) != want {
			t.Errorf("copy %d: want it to be surely the same: %t", i, want)
		}
	}
	beside.KeepSame(copies, like)
	for i, want := range []bool{true, false, false, true} {
		if (copies[i] != nil) != want {
			t.Errorf("copy %d: got %v, want it to be kept: %t", i, copies[i], want)
		}
	}
}
