package heattest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/quote"
)

// TB is the part of testing.TB that this package needs.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Check fails the test if a report has throttled requests, or if there is a finding that is worse than allow. With
// heat.Info, warnings and critical findings fail; with heat.Warning only critical ones do. Rules with an error fail the
// test as well.
func Check(t TB, allow heat.Severity, rules heat.Rules, reports ...heat.Report) {
	t.Helper()
	if err := rules.Validate(); err != nil {
		t.Fatalf("heattest: rules: %v", err)
		return
	}
	var text strings.Builder
	for i := range reports {
		writeThrottles(&text, &reports[i])
	}
	for _, f := range heat.ExplainAll(rules, reports...) {
		if f.Severity > allow {
			writeFinding(&text, f)
		}
	}
	if text.Len() == 0 {
		return
	}
	for i := range reports {
		writeKeys(&text, &reports[i])
	}
	t.Errorf("heattest: the test made its tables hot:\n%s", text.String())
}

// writeThrottles writes a line for each table and index with throttled requests.
func writeThrottles(b *strings.Builder, r *heat.Report) {
	for i := range r.Resources {
		resource := &r.Resources[i]
		for _, d := range []heat.Direction{heat.Read, heat.Write} {
			flow := resource.Flow(d)
			if flow.Throttled == 0 {
				continue
			}
			fmt.Fprintf(b, "throttled: %s: %d of %d %s requests", quote.Printable(resource.Resource.String()), flow.Throttled, flow.Requests, d)
			for _, count := range flow.Throttles {
				fmt.Fprintf(b, "; %d %s", count.Count, quote.Printable(cmp.Or(count.Reason, "without a reason")))
			}
			b.WriteString("\n")
		}
	}
}

func writeFinding(b *strings.Builder, f heat.Finding) {
	fmt.Fprintf(b, "%s (%s)\n", f, quote.Printable(string(f.Kind)))
	for _, evidence := range f.Evidence {
		fmt.Fprintf(b, "    - %s\n", quote.Printable(evidence))
	}
	fmt.Fprintf(b, "    cause:  %s\n    remedy: %s\n", quote.Printable(f.Cause), quote.Printable(f.Remedy))
}

// hottest is how many keys of a flow a failure lists.
const hottest = 3

// writeKeys writes the hottest keys of each table and index.
func writeKeys(b *strings.Builder, r *heat.Report) {
	for i := range r.Resources {
		resource := &r.Resources[i]
		for _, d := range []heat.Direction{heat.Read, heat.Write} {
			keys := slices.SortedStableFunc(slices.Values(resource.Flow(d).Keys), func(a, b heat.KeyHeat) int { return cmp.Compare(b.Units, a.Units) })
			for _, k := range keys[:min(hottest, len(keys))] {
				fmt.Fprintf(b, "hottest %ss of %s: %q, %.0f units in all, up to %.0f a second, %d of %d requests throttled\n",
					d, quote.Printable(resource.Resource.String()), k.Key, k.Units, max(k.Busiest, k.Rate), k.Throttled, k.Requests)
			}
		}
	}
}
