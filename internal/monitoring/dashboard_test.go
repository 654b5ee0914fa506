package monitoring

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/heatsink-go/heatsink/heat"
)

const dashboardFile = "../../docs/monitoring/dashboard.json"

// page returns the metrics that docs/monitoring.md lists. Tests of heatprom and heatotel hold that these are all.
func page(t *testing.T) (metrics []listed) {
	t.Helper()
	text, err := os.ReadFile("../../docs/monitoring.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 || !strings.Contains(line, "table, index") {
			continue
		}
		for i := range cells {
			cells[i] = strings.Trim(cells[i], " `")
		}
		metrics = append(metrics, listed{cells[0], cells[1], cells[2], strings.Split(cells[3], ", ")})
	}
	if len(metrics) < 14 {
		t.Fatalf("the page lists %d metrics", len(metrics))
	}
	return metrics
}

// listed is a metric of the page.
type listed struct {
	prometheus, openTelemetry, kind string
	labels                          []string
}

// exported returns the names of the series that heatprom exports, and their labels.
func exported(t *testing.T) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	for _, m := range page(t) {
		name := "heatsink_heat_" + m.prometheus
		switch {
		case m.prometheus == "":
		case m.kind == "histogram":
			all[name+"_sum"], all[name+"_count"] = m.labels, m.labels
			all[name+"_bucket"] = append(slices.Clone(m.labels), "le")
		default:
			all[name] = m.labels
		}
	}
	return all
}

// knows fails if a query names a series or a label that nobody exports.
func knows(t *testing.T, where, query string) (names []string) {
	t.Helper()
	all := exported(t)
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return nil
	}
	var labels []string
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if n, ok := n.(*parser.VectorSelector); ok {
			known, ok := all[n.Name]
			if !ok {
				t.Errorf("%s: nobody exports %s", where, n.Name)
			}
			names = append(names, n.Name)
			for _, m := range n.LabelMatchers {
				if m.Name != "__name__" && !slices.Contains(known, m.Name) {
					t.Errorf("%s: %s has no label %s", where, n.Name, m.Name)
				}
			}
			labels = append(labels, known...)
		}
		return nil
	})
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if n, ok := n.(*parser.AggregateExpr); ok {
			for _, l := range n.Grouping {
				if !slices.Contains(labels, l) {
					t.Errorf("%s: no label %s to group by", where, l)
				}
			}
		}
		return nil
	})
	return names
}

// Rules and panels name only series that there are, and every metric has a panel.
func TestQueriesNameWhatIsExported(t *testing.T) {
	for _, r := range readAlerts(t) {
		knows(t, r.Alert, r.Expr)
	}
	text, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	shown := make(map[string]bool)
	places := make(map[string]string)
	for _, p := range dashboard.Panels {
		if len(p.Targets) == 0 {
			t.Errorf("panel %q asks for nothing", p.Title)
		}
		place := fmt.Sprint(p.GridPos.X, p.GridPos.Y)
		if other := places[place]; other != "" {
			t.Errorf("panels %q and %q are in the same place", p.Title, other)
		}
		places[place] = p.Title
		for _, target := range p.Targets {
			query := strings.NewReplacer("$__rate_interval", "5m", "$table", ".*").Replace(target.Expr)
			for _, name := range knows(t, "panel "+p.Title, query) {
				shown[name] = true
			}
		}
	}
	for name := range exported(t) {
		if !shown[name] && !strings.HasSuffix(name, "_sum") && !strings.HasSuffix(name, "_count") {
			t.Errorf("no panel shows %s", name)
		}
	}
}

// The reasons and severities that queries select by are those of the product.
func TestQueriesKnowTheReasons(t *testing.T) {
	text, err := os.ReadFile(alertsFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, reason := range []string{heat.DecidedAtMaximum, heat.DecidedFutile, heat.DecidedFrozen, heat.Critical.String()} {
		if !strings.Contains(string(text), reason) {
			t.Errorf("no alert selects %q", reason)
		}
	}
}
