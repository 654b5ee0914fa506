package heat_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
)

// What may be set is taken, and what may not is refused, with all that is wrong.
func TestRulesAreValidated(t *testing.T) {
	for _, fine := range []heat.Rules{{}, {Warm: 1, Hot: 1, Excess: 1, Sample: 1, Items: 1}, heat.DefaultRules()} {
		if err := fine.Validate(); err != nil {
			t.Errorf("%+v: got %v", fine, err)
		}
	}
	for want, rules := range map[string]heat.Rules{
		"Warm is -0.1: it must be between 0 and 1":  {Warm: -0.1},
		"Warm is 1.1: it must be between 0 and 1":   {Warm: 1.1},
		"Hot is 1.1: it must be between 0 and 1":    {Hot: 1.1},
		"Hot is NaN: it must be between 0 and 1":    {Hot: math.NaN()},
		"Excess is 2: it must be between 0 and 1":   {Excess: 2},
		"Sample is -1: it must not be negative":     {Sample: -1},
		"Items is -1: it must not be negative":      {Items: -1},
		"Sample is -2: it must not be negative\nIt": {Sample: -2, Items: -3},
	} {
		if err := rules.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: got %v, want %q", rules, err, want)
		}
	}
	want := heat.Rules{Warm: 0.7, Hot: 0.95, Excess: 0.25, Sample: 100, Items: 100}
	if got := heat.DefaultRules(); got.Warm != want.Warm || got.Hot != want.Hot || got.Excess != want.Excess || got.Sample != want.Sample || got.Items != want.Items {
		t.Errorf("got %+v, want %+v", got, want)
	}
	defer func() {
		if p := recover(); p == nil || !strings.Contains(p.(string), "heat: invalid rules: Hot is 2") {
			t.Errorf("Explain with invalid rules: got %v", p)
		}
	}()
	heat.Explain(heat.Report{}, heat.Rules{Hot: 2})
}

// The worst of findings is the worst, wherever it is.
func TestWorst(t *testing.T) {
	if got, ok := heat.Worst(nil); ok || got != heat.Info {
		t.Errorf("nothing: got %v, %v", got, ok)
	}
	for _, test := range []struct {
		severities []heat.Severity
		want       heat.Severity
	}{
		{[]heat.Severity{heat.Info}, heat.Info},
		{[]heat.Severity{heat.Info, heat.Critical, heat.Warning}, heat.Critical},
		{[]heat.Severity{heat.Warning, heat.Info}, heat.Warning},
	} {
		var findings []heat.Finding
		for _, s := range test.severities {
			findings = append(findings, heat.Finding{Severity: s})
		}
		if got, ok := heat.Worst(findings); !ok || got != test.want {
			t.Errorf("%v: got %v, %v", test.severities, got, ok)
		}
	}
}

// Options in range are taken, others are refused.
func TestOptionsAreValidated(t *testing.T) {
	four := []string{"a", "b", "c", "d"}
	for _, fine := range []heat.Options{{Entries: 1 << 20, Top: 1, Decay: 1}, {Keys: map[string][]string{"t/i": four, "t": {"a"}}}} {
		if err := fine.Validate(); err != nil {
			t.Errorf("%+v: got %v", fine, err)
		}
	}
	for want, options := range map[string]heat.Options{
		"Entries is -1: it must be between 0 and 1048576":      {Entries: -1},
		"Entries is 1048577: it must be between 0 and 1048576": {Entries: 1<<20 + 1},
		"Decay is -1ns: it must not be negative":               {Decay: -1},
		"Top is -1: it must not be negative":                   {Top: -1},
		`the key of "t" in Keys has 0 attributes`:              {Keys: map[string][]string{"t": nil}},
		`the key of "t/i" in Keys has 5 attributes`:            {Keys: map[string][]string{"t/i": append(four, "e")}},
	} {
		if err := options.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: got %v, want %q", options, err, want)
		}
	}
	if got := heat.DefaultOptions; got.Entries != 1024 || got.Decay != 10*time.Second || got.Top != 50 {
		t.Errorf("got %+v", got)
	}
}

// A list by a threshold has the keys above it, by the last second as well.
func TestAboveByTheLastSecond(t *testing.T) {
	f := heat.Flow{Keys: []heat.KeyHeat{{Key: "a", Second: 500}, {Key: "b", RateLow: 500.1}, {Key: "c", Second: 501, RateLow: 1}}}
	got := f.Above(heat.Threshold{Rate: 500})
	if len(got) != 2 || got[0].Key != "b" || got[1].Key != "c" {
		t.Errorf("got %+v", got)
	}
	if got := f.Above(heat.Threshold{Share: 0.5}); len(got) != 0 {
		t.Errorf("by a share that no key has: got %+v", got)
	}
}
