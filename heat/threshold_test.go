package heat_test

import (
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/heat"
)

// 004-15, X26: keys of a stream above a count, which is 100 unless told otherwise, a share or a rate.
func TestAboveAThreshold(t *testing.T) {
	f := heat.Flow{Keys: []heat.KeyHeat{
		{Key: "a", Requests: 5000, Share: 0.8, RateLow: 900},
		{Key: "b", Requests: 101, Share: 0.1, RateLow: 20},
		{Key: "c", Requests: 100, Share: 0.05, RateLow: 500},
	}}
	for _, test := range []struct {
		threshold heat.Threshold
		want      string
	}{
		{heat.Threshold{}, "ab"},
		{heat.Threshold{Requests: 4999}, "a"},
		{heat.Threshold{Share: 0.05}, "ab"},
		{heat.Threshold{Rate: 499}, "ac"},
		{heat.Threshold{Requests: 5000}, ""},
	} {
		var got strings.Builder
		for _, k := range f.Above(test.threshold) {
			got.WriteString(k.Key)
		}
		if got.String() != test.want {
			t.Errorf("%+v: got %q, want %q", test.threshold, got.String(), test.want)
		}
	}
}
