package heat

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A scan costs half a unit for 4 KB and for each segment, of as many items as are examined, and takes as long as its rate
// allows.
func TestScanCosts(t *testing.T) {
	for _, test := range []struct {
		name         string
		items, bytes int64
		options      ScanOptions
		want         ScanCost
	}{
		{"an empty table", 0, 0, ScanOptions{}, ScanCost{Units: 8, Duration: 80 * time.Millisecond}},
		{"a whole table", 1000, 8192 * 100, ScanOptions{}, ScanCost{Items: 1000, Of: 1000, Units: 108, Duration: 1080 * time.Millisecond}},
		{"a little more", 1000, 8192*100 + 1, ScanOptions{}, ScanCost{Items: 1000, Of: 1000, Units: 109, Duration: 1090 * time.Millisecond}},
		{"as many as allowed", 1000, 8192 * 100, ScanOptions{Items: 1000}, ScanCost{Items: 1000, Of: 1000, Units: 108, Duration: 1080 * time.Millisecond}},
		{"all of many", 200_000, 8192 * 100, ScanOptions{Items: -1}, ScanCost{Items: 200_000, Of: 200_000, Units: 108, Duration: 1080 * time.Millisecond}},
		{"segments", 1000, 8192 * 100, ScanOptions{Segments: 4, MaxRCU: 1}, ScanCost{Items: 1000, Of: 1000, Units: 102, Duration: 102 * time.Second}},
		// 100,000 of 1,000,000 items: 2,560 segments, of which a tenth are read.
		{"a sample", 1_000_000, 8192 * 1000, ScanOptions{}, ScanCost{Items: 100_000, Of: 1_000_000, Units: 100 + 128, Duration: 2280 * time.Millisecond}},
		{"a sample in given segments", 1_000_000, 8192 * 1000, ScanOptions{Segments: 10}, ScanCost{Items: 100_000, Of: 1_000_000, Units: 105, Duration: 1050 * time.Millisecond}},
	} {
		d := &types.TableDescription{ItemCount: aws.Int64(test.items), TableSizeBytes: aws.Int64(test.bytes)}
		if got := test.options.withDefaults().cost(d); got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}
	cost := ScanCost{Items: 10, Of: 20, Units: 3.4, Duration: 1600 * time.Millisecond}
	if got, want := cost.String(), "about 10 of 20 items, 3 read units, 2s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A sample has 256 segments of ten items or more, 16 at least and a million at most.
func TestScanSegments(t *testing.T) {
	for _, test := range []struct {
		items, of int64
		segments  int
		want      int
		samples   bool
	}{
		{100, 100, 0, 16, false},
		{100, 101, 0, 16, true}, // 259 would have less than ten items each, and ten are fewer than 16
		{10_000, 40_000, 0, 1024, true},
		{10_000, 40_001, 0, 1025, true},
		{1000, 10_000, 0, 1000, true},
		{10, 1 << 40, 0, 1_000_000, true},
		{10, 1 << 40, 7, 7, false},
		{10, 5, 7, 7, false},
	} {
		o := ScanOptions{Items: test.items, Segments: test.segments}
		if got := o.segments(test.of); got != test.want || o.samples(test.of) != test.samples {
			t.Errorf("%d of %d items: got %d segments, a sample %v, want %d, %v", test.items, test.of, got, o.samples(test.of), test.want, test.samples)
		}
	}
}

// A draw has each segment once.
func TestDraw(t *testing.T) {
	seen := make(map[int32]bool)
	d := newDraw(100, 7)
	for n, ok := d.next(); ok; n, ok = d.next() {
		if seen[n] || n < 0 || n >= 100 {
			t.Errorf("segment %d twice, or there is none", n)
		}
		seen[n] = true
	}
	if _, ok := d.next(); ok || len(seen) != 100 || len(d.moved) > 1 {
		t.Errorf("%d segments, %d moved", len(seen), len(d.moved))
	}
}

func TestScanOptionsAreValidated(t *testing.T) {
	for _, fine := range []ScanOptions{{}, {MaxRCU: 0.1, Segments: 1_000_000, Items: -1}} {
		if err := fine.validate(); err != nil {
			t.Errorf("%+v: got %v", fine, err)
		}
	}
	for want, options := range map[string]ScanOptions{
		"MaxRCU is -1: it must be a positive rate":                 {MaxRCU: -1},
		"MaxRCU is +Inf: it must be a positive rate":               {MaxRCU: math.Inf(1)},
		"MaxRCU is NaN: it must be a positive rate":                {MaxRCU: math.NaN()},
		"Segments is -1: it must be between 1 and 1000000":         {Segments: -1},
		"Segments is 1000001: it must be between 1 and 1000000":    {Segments: 1_000_001},
		"Entries is -1: it must be between 0 and 1048576":          {Entries: -1},
		"Top is -1: it must not be negative":                       {Top: -1},
		"layout {key}#SHARD_{shard}: Shards is 0: it must be betw": {Layouts: []Layout{{}}},
	} {
		if err := options.validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: got %v, want %q", options, err, want)
		}
	}
}

// A page takes about a second's units, no more items than are wanted, and leaves some for other segments.
func TestScanPages(t *testing.T) {
	for _, test := range []struct {
		name string
		scan scan
		want int32
	}{
		{"items of 1 KB at first", scan{options: ScanOptions{Items: 1e6, MaxRCU: 50}, segments: 16}, 400},
		{"a thousand at most", scan{options: ScanOptions{Items: 1e6, MaxRCU: 5000}, segments: 16}, 1000},
		{"as large as those that were seen", scan{options: ScanOptions{Items: 1e6, MaxRCU: 50}, segments: 16, items: 100, units: 50}, 100},
		{"the last ones", scan{options: ScanOptions{Items: 1000, MaxRCU: 5000}, segments: 1, items: 993, units: 1}, 7},
		{"a share of each segment", scan{options: ScanOptions{Items: 1000, MaxRCU: 5000}, segments: 16}, 63},
		{"a share of a sample's segments", scan{options: ScanOptions{Items: 1000, MaxRCU: 5000}, segments: 5000}, 4},
		{"one at least", scan{options: ScanOptions{Items: 1e6, MaxRCU: 0.001}, segments: 16}, 1},
	} {
		if got := test.scan.limit(); got != test.want {
			t.Errorf("%s: got %d, want %d", test.name, got, test.want)
		}
	}
}

// A sample says how likely a key is in it, and what seems to be missing.
func TestScanConfidence(t *testing.T) {
	stock := func(key string, n int) *inventory {
		v := newTable("orders").view.Load()
		i := newInventory(v, "", Options{})
		i.resources[0].view.names.partition = []string{"pk"}
		for range n {
			i.add(map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: key}})
		}
		return i
	}
	s := scan{options: ScanOptions{Items: 1000, Seed: 3}, segments: 1000, begun: 100, items: 1000, expected: ScanCost{Of: 10_000}, inventory: stock("A", 1)}
	want := []string{
		"a sample: 1,000 items of 100 random segments out of 1,000 (seed 3); any one key is in it with a probability of 10 %",
		"a shape of key that 29 keys have or more is in the sample with a probability of 95 %",
	}
	if got := strings.Join(s.confidence(), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := s.fraction(); got != 0.1 {
		t.Errorf("a fraction of %v, want 0.1", got)
	}
	s.expected.Of = 13_333 // just enough
	if got := s.missing(0.1); got != nil {
		t.Errorf("got %q", got)
	}
	s.expected.Of = 13_334
	lacks := "segments like these would have 10,000 of the table's 13,334 items: "
	few := lacks + "likely a few large keys that are not in the sample have the rest; another seed, or all items, show them"
	if got := s.missing(0.1); len(got) != 1 || got[0] != few {
		t.Errorf("got %q, want %q", got, few)
	}
	s.begun = 15
	if got := s.missing(0.1); got != nil {
		t.Errorf("of 15 segments: got %q", got)
	}
	s.begun, s.open, s.inventory = 16, []segment{{}}, stock("BIG", 50)
	big := lacks + "likely 'BIG' has much of the rest, since its segment was not read to its end: it has at least 50 items"
	if got := s.missing(0.1); len(got) != 1 || got[0] != big {
		t.Errorf("got %q, want %q", got, big)
	}
	s.inventory = stock("SMALL", 49)
	if got := s.missing(0.1); len(got) != 1 || got[0] != few {
		t.Errorf("got %q, want %q", got, few)
	}
	s.begun = 500
	if got, want := s.fraction(), 1000.0/13_334; got != want { // some are not read to their end
		t.Errorf("a fraction of %v, want %v", got, want)
	}
	for p, want := range map[float64]string{0: "0 %", 0.00123: "0.12 %", 0.0099: "0.99 %", 0.01: "1 %", 0.256: "26 %"} {
		if got := percentText(p); got != want {
			t.Errorf("%v: got %q, want %q", p, got, want)
		}
	}
}
