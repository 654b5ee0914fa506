package heat

import (
	"fmt"
	"testing"
)

// Keys that were busy once are remembered: the busiest of them, as they were then.
func TestPeaks(t *testing.T) {
	p := &peaks{}
	note := func(key string, busiest float64) {
		p.note(keyHash([]byte(key)), &keyCount{busiest: busiest, units: 10 * busiest, requests: 7, partition: 3}, func() string { return key })
	}
	for i := range mostPeaks {
		note(fmt.Sprint("k", i), float64(100+i))
	}
	note("k1", 104)   // not five percent more than its 101
	note("k2", 110)   // more than its 102
	note("small", 99) // than none
	note("close", 104)
	note("large", 105.01) // five percent more than k0's 100
	learnt := newPatternTable().report(Write, true, 0)
	keys := p.add([]KeyHeat{{Key: "k31"}}, learnt)
	got := make(map[string]KeyHeat)
	for _, k := range keys {
		got[k.Key] = k
	}
	if len(keys) != mostPeaks || keys[0] != (KeyHeat{Key: "k31"}) || keys[1].Key != "k30" {
		t.Errorf("%d keys, the first %+v", len(keys), keys[:2])
	}
	if k := got["k2"]; k.Busiest != 110 || k.Units != 1100 || k.Low != 1100 || k.Requests != 7 || k.Partition != "3" {
		t.Errorf("got %+v", k)
	}
	if got["k1"].Busiest != 101 {
		t.Errorf("got %+v, which should be as it was", got["k1"])
	}
	for key, want := range map[string]bool{"k0": false, "small": false, "close": false, "large": true} {
		if _, ok := got[key]; ok != want {
			t.Errorf("%s is remembered: %v", key, ok)
		}
	}
	var none *peaks
	none.note(1, &keyCount{}, func() string { return "" })
	if got := none.add([]KeyHeat{{Key: "a"}}, learnt); len(got) != 1 {
		t.Errorf("got %+v", got)
	}
}

// A flow that remembers peaks lists a key that was busy once, also if many others came since; another flow does not.
func TestFlowsThatRememberPeaks(t *testing.T) {
	for _, remembers := range []bool{true, false} {
		options := Options{Entries: 64, peaks: remembers}.withDefaults()
		f := newFlow(&options)
		now := int64(1e18)
		touchKey := func(key string, units float64) {
			now += int64(1e6)
			f.add(now, &touch{key: []byte(key), hash: keyHash([]byte(key)), units: units, attempts: 1}, nil)
		}
		for range 5000 {
			touchKey("BUSY", 1)
		}
		now += int64(1e13) // hours later
		for i := range 2000 {
			touchKey(fmt.Sprint("k", i), 1)
		}
		flow, _ := f.report(now, 10, Write)
		listed := false
		for _, k := range flow.Keys {
			listed = listed || k.Key == "BUSY" && k.Busiest > 400 && k.Requests > 4500
		}
		if listed != remembers {
			t.Errorf("remembers %v, lists the key %v", remembers, listed)
		}
	}
}
