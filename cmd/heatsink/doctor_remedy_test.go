package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// rooms is a table whose items two programs have written: ROOM1 as it is recorded, ROOM2 otherwise.
type rooms struct {
	*sickTable
	stray []heatsink.Item // of ROOM2, as they are stored
}

// as opens the table with options.
func (r *rooms) as(o heatsink.Options) *heatsink.Collection[heatsink.Item] {
	r.t.Helper()
	o.Table, o.PartitionKey, o.SortKey = "orders", "pk", "sk"
	c, err := heatsink.Open[heatsink.Item](r.client, o)
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// fill puts items of a room, and returns their places.
func (r *rooms) fill(o heatsink.Options, room string, items int) (stored []heatsink.Item) {
	r.t.Helper()
	c := r.as(o)
	for i := range items {
		item := heatsink.Item{"pk": str(room), "sk": str(fmt.Sprintf("%04d", i))}
		written, err := c.Put(r.t.Context(), item)
		if err != nil {
			r.t.Fatal(err)
		}
		stored = append(stored, heatsink.Item{"pk": str(written.ShardKey), "sk": item["sk"]})
	}
	return stored
}

// charter replaces the charter as its help says, with changes of its document.
func (r *rooms) charter(changes ...string) {
	r.t.Helper()
	text, stderr, code := command(r.t, "ledger", "charter", "--table", "orders", "--endpoint", r.endpoint, "--json")
	if code != 0 {
		r.t.Fatal(stderr)
	}
	file := filepath.Join(r.t.TempDir(), "charter.json")
	if err := os.WriteFile(file, []byte(strings.NewReplacer(changes...).Replace(text)), 0o600); err != nil {
		r.t.Fatal(err)
	}
	_, stderr, code = command(r.t, "ledger", "charter", "--table", "orders", "--endpoint", r.endpoint, "--from", file, "--force")
	if code != 0 || strings.Contains(stderr, "warning") {
		r.t.Fatalf("exit %d: %s", code, stderr)
	}
}

// readable reports items that Get does not find.
func (r *rooms) readable(o heatsink.Options) {
	r.t.Helper()
	c := r.as(o)
	for room, items := range map[string]int{"ROOM1": 40, "ROOM2": 10} {
		found := 0
		for i := range items {
			if _, err := c.Get(r.t.Context(), heatsink.Item{"pk": str(room), "sk": str(fmt.Sprintf("%04d", i))}); err == nil {
				found++
			}
		}
		if listed, err := c.Count(r.t.Context(), heatsink.Query{Key: room}); found != items || err != nil || listed != items {
			r.t.Errorf("%s: Get finds %d and Count %d of %d items: %v", room, found, listed, items, err)
		}
	}
}

// Whoever does what doctor says can read every item afterwards, and doctor is content.
func TestDoctorRemedies(t *testing.T) {
	random := func(shards int) layout.Layout { return layout.Layout{Shards: shards} }
	calculated := func(shards int) layout.Layout {
		return layout.Layout{Shards: shards, Strategy: layout.Calculated}
	}
	recorded := func(l layout.Layout, older ...layout.Layout) heatsink.Options {
		return heatsink.Options{Recorded: true, Layout: l, Older: older}
	}
	putAgain := func(r *rooms) heatsink.Options {
		for _, key := range r.stray {
			plain := heatsink.Item{"pk": str("ROOM2"), "sk": key["sk"]}
			written, err := r.as(recorded(calculated(4))).Put(t.Context(), plain)
			if err != nil {
				t.Fatal(err)
			}
			if key["pk"] != nil && fmt.Sprint(str(written.ShardKey)) == fmt.Sprint(key["pk"]) {
				continue // it was where it should be
			}
			if _, err := r.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("orders"), Key: key}); err != nil {
				t.Fatal(err)
			}
		}
		return recorded(calculated(4))
	}
	for name, c := range map[string]struct {
		recorded, writer layout.Layout
		says             []string
		follow           func(*rooms) heatsink.Options // does what doctor says, and returns how programs open the table then
	}{
		"random": {random(4), random(8), []string{"set Layout.Shards to", "or more in all programs", "replace the charter"}, func(r *rooms) heatsink.Options {
			r.charter(`"fixed 4"`, `"fixed 8"`)
			return recorded(random(8))
		}},
		"calculated, put again":      {calculated(4), calculated(8), []string{"find the program", "the layout of the others, put its items again, and delete them"}, putAgain},
		"calculated by 6, put again": {calculated(4), calculated(6), []string{"find the program", "the layout of the others, put its items again, and delete them"}, putAgain},
		"calculated, the other's shards": {calculated(4), calculated(8), []string{"exactly its number of shards", "the old layout in Options.Older"}, func(r *rooms) heatsink.Options {
			r.charter(`"fixed 4"`, `"fixed 8"`, `"older": []`, `"older": ["calculated 4 xxhash {key}#SHARD_{shard}"]`)
			return recorded(calculated(8), calculated(4))
		}},
		"calculated by 6, the other's shards": {calculated(4), calculated(6), []string{"exactly its number of shards", "the old layout in Options.Older"}, func(r *rooms) heatsink.Options {
			r.charter(`"fixed 4"`, `"fixed 6"`, `"older": []`, `"older": ["calculated 4 xxhash {key}#SHARD_{shard}"]`)
			return recorded(calculated(6), calculated(4))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &rooms{sickTable: newSickTable(t, local.Options{})}
			r.create(warm)
			r.fill(recorded(c.recorded), "ROOM1", 40)
			r.stray = r.fill(heatsink.Options{Layout: c.writer}, "ROOM2", 10)
			r.follows(c.says, c.follow)
		})
	}
	for name, l := range map[string]layout.Layout{"bare keys, random": random(4), "bare keys, calculated": calculated(4)} {
		t.Run(name, func(t *testing.T) {
			r := &rooms{sickTable: newSickTable(t, local.Options{})}
			r.create(warm)
			r.fill(recorded(l), "ROOM1", 20)
			r.fill(recorded(l), "ROOM2", 10)
			for i := 20; i < 40; i++ {
				r.put("ROOM1", fmt.Sprintf("%04d", i))
			}
			r.follows([]string{"layout.Layout{} in Options.Older", `"not sharded" in the charter's "older"`}, func(r *rooms) heatsink.Options {
				r.charter(`"older": []`, `"older": ["not sharded"]`)
				return recorded(l, layout.Layout{})
			})
		})
	}
}

// follows has doctor find strays, does what it says, and wants everything readable then.
func (r *rooms) follows(says []string, follow func(*rooms) heatsink.Options) {
	r.t.Helper()
	stdout, stderr, code := command(r.t, "doctor", "orders", "--endpoint", r.endpoint, "--fail-on", "problem")
	if code != 1 {
		r.t.Fatalf("exit %d, want 1: %s%s", code, stdout, stderr)
	}
	for _, want := range says {
		if !strings.Contains(stdout, want) {
			r.t.Errorf("got %s, want %q", stdout, want)
		}
	}
	if strings.Contains(strings.Join(says, ""), "exactly") && strings.Contains(stdout, "or more") {
		r.t.Errorf("more shards would lose items of a calculated layout: %s", stdout)
	}
	r.readable(follow(r))
	if stdout, stderr, code := command(r.t, "doctor", "orders", "--endpoint", r.endpoint, "--fail-on", "problem"); code != 0 {
		r.t.Errorf("afterwards: exit %d: %s%s", code, stdout, stderr)
	}
}
