package heat_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
)

// The values of a status are one thing: one finding with all shares, also if several are hot, and none if they are even.
func TestExplainAStatus(t *testing.T) {
	for _, test := range []struct {
		name      string
		perSecond map[string]int
		want      string
		evidence  string
	}{
		{
			"85, 10 and 5 %",
			map[string]int{"STATUS#ACTIVE": 170, "STATUS#BANNED": 20, "STATUS#NEW": 10},
			"warning low-cardinality STATUS#ACTIVE", "STATUS has 3 values: ACTIVE 85.0%, BANNED 10.0%, NEW 5.0%",
		},
		{"four alike", map[string]int{"STATUS#ACTIVE": 50, "STATUS#BANNED": 50, "STATUS#NEW": 50, "STATUS#OLD": 50}, "", ""},
		{"four regions", map[string]int{"REGION#us-east-1": 50, "REGION#eu-west-1": 50, "REGION#ap-south-1": 50, "REGION#sa-east-1": 50}, "", ""},
		{
			"two that are hot",
			map[string]int{"STATUS#ACTIVE": 1300, "STATUS#BANNED": 800, "STATUS#NEW": 10},
			"critical low-cardinality STATUS#ACTIVE", "its sibling 'STATUS#BANNED' has ",
		},
		{"a bare attribute", map[string]int{"ACTIVE": 180, "BANNED": 20}, "warning low-cardinality ACTIVE", "pk has 2 values: ACTIVE 90.0%, BANNED 10.0%"},
	} {
		bubble.Test(t, func(t *testing.T) {
			recorder := newRecorder(t, heat.Options{NoDescribe: true})
			observeEvenly(recorder, test.perSecond)
			for _, later := range []time.Duration{0, 20 * time.Second} {
				time.Sleep(later)
				findings := heat.Explain(recorder.Report(), heat.Rules{})
				if got := kinds(findings); got != test.want {
					t.Fatalf("%s: got %q, want %q", test.name, got, test.want)
				}
				if test.evidence != "" && !slices.ContainsFunc(findings[0].Evidence, func(line string) bool { return strings.HasPrefix(line, test.evidence) }) {
					t.Errorf("%s: no %q in %q", test.name, test.evidence, findings[0].Evidence)
				}
			}
		})
	}
}

// A status that hardly anybody writes, and one that is excluded, are no findings.
func TestExplainAStatusThatDoesNotMatter(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		recorder := newRecorder(t, heat.Options{NoDescribe: true})
		for i := range 330 { // three a minute
			if observeOne(recorder, "STATUS#ACTIVE"); i%10 == 0 {
				observeOne(recorder, "STATUS#NEW")
			}
			time.Sleep(20 * time.Second)
		}
		if findings := heat.Explain(recorder.Report(), heat.Rules{Excess: 0.5}); len(findings) != 0 {
			t.Errorf("a trickle: got %v", findings)
		}
		observeEvenly(recorder, map[string]int{"STATUS#ACTIVE": 170, "STATUS#NEW": 10})
		rules := heat.Rules{Exclude: func(key string) bool { return strings.HasSuffix(key, "ACTIVE") }}
		if findings := heat.Explain(recorder.Report(), rules); len(findings) != 0 {
			t.Errorf("excluded: got %v", findings)
		}
	})
}

func observeOne(recorder *heat.Recorder, key string) {
	recorder.Observe(heat.Observation{
		Resource: heat.Resource{Table: "views"}, Direction: heat.Write, KeyNames: []string{"pk"}, Key: []string{key}, Units: 1,
	})
}
