package results

import (
	"bytes"
	"encoding/binary"
	"flag"
	"math"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/lab/scenario"
	"github.com/heatsink-go/heatsink/internal/partition/sim"
	"github.com/heatsink-go/heatsink/layout"
)

var update = flag.Bool("update", false, "write docs/results.md")

const file = "../../../docs/results.md"

// The page must be what the lab measures today.
func TestResultsAreUpToDate(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round some products differently, which changes single events")
	}
	var b bytes.Buffer
	if err := Write(t.Context(), &b, nil); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("docs/results.md is out of date: run go test ./internal/lab/results -update, and look at the difference\n%s", difference(want, b.Bytes()))
	}
}

// difference returns the first lines that differ.
func difference(a, b []byte) string {
	x, y := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(x), len(y)) {
		if !bytes.Equal(x[i], y[i]) {
			return "- " + string(x[i]) + "\n+ " + string(y[i])
		}
	}
	return "one of them is longer"
}

// Each claim is about a scenario and layouts that there are, and each scenario has a claim or a reason.
func TestClaimsNameScenarios(t *testing.T) {
	claimed := map[string]bool{}
	for _, c := range claims() {
		claimed[c.scenario] = true
		if _, err := scenario.Find(c.scenario); err != nil {
			t.Errorf("claim %q: %v", c.says, err)
		}
	}
	for _, name := range scenario.Files() {
		if !claimed[name] && unlisted[name] == "" {
			t.Errorf("scenario %s has no claim of a document: add one, or say why not in unlisted", name)
		}
	}
}

// The page says on how many of 100 partitions the keys of 100 shards are, spelled by hand and by heatsink.
func TestKeysOnPartitions(t *testing.T) {
	for _, c := range []struct {
		spelled layout.Format
		want    int
	}{{layout.DotFromOne(), 64}, {layout.Format{}, 62}} {
		keys, err := layout.Layout{Shards: 100, Format: c.spelled}.ShardKeys("PAGE_VIEWS", time.Time{}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		on := map[uint64]bool{}
		for _, key := range keys {
			on[binary.BigEndian.Uint64(sim.Place(key, ""))/(math.MaxUint64/100+1)] = true
		}
		if len(on) != c.want {
			t.Errorf("%s and the others are on %d partitions, want %d", keys[0], len(on), c.want)
		}
	}
}
