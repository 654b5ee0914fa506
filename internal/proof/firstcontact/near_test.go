package main

import "testing"

func TestDifferences(t *testing.T) {
	both := func(failed, adaptive int) *results {
		return &results{
			Loads: []loadResult{
				{Contestant: oneKey, Share: 0.5, Offered: 1000, Failed: failed},
				{Contestant: heatsinkControl, Share: 0.5, Offered: 1000, Failed: adaptive},
			},
			Faults: []faultResult{{Contestant: oneKey, Fault: killed, Met: 100}},
			Spread: []spreadResult{{Shards: 3, Partitions: []int{2, 1}}},
		}
	}
	of := func(failed int) *results { return both(failed, 100) }
	for _, c := range []struct {
		name string
		got  *results
		want int
	}{
		{"equal", of(100), 0},
		{"near", of(97), 0},
		{"far", of(90), 1},
		{"none", of(0), 1},
		{"an adaptive key, later", both(100, 120), 0},
		{"an adaptive key, much later", both(100, 140), 1},
		{"an adaptive key, at once", both(100, 0), 1},
		{"nothing measured", &results{}, 3},
		{"another spread", &results{Loads: of(100).Loads, Faults: of(100).Faults, Spread: []spreadResult{{Shards: 3, Partitions: []int{3, 0}}}}, 1},
	} {
		if got := differences(c.got, of(100)); len(got) != c.want {
			t.Errorf("%s: got %q, want %d", c.name, got, c.want)
		}
	}
}
