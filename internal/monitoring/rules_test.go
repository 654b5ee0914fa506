package monitoring

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/util/teststorage"

	"github.com/heatsink-go/heatsink/heat"
)

const alertsFile = "../../docs/monitoring/alerts.yml"

var silent = slog.New(slog.NewTextHandler(io.Discard, nil))

// readAlerts returns the rules of the file.
func readAlerts(t *testing.T) []rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.ParseFile(alertsFile, false, model.UTF8Validation, parser.NewParser(parser.Options{}), silent)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var all []rulefmt.Rule
	for _, g := range groups.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

// stored puts scrapes into a database of Prometheus.
func stored(t *testing.T, scrapes []scrape) *teststorage.TestStorage {
	t.Helper()
	storage := teststorage.New(t)
	for _, s := range scrapes {
		app := storage.Appender(t.Context())
		add := func(name string, value float64, all labels.Labels, more ...string) {
			b := labels.NewBuilder(all).Set(model.MetricNameLabel, name).Set("job", "test").Set("instance", "one")
			for i := 0; i < len(more); i += 2 {
				b.Set(more[i], more[i+1])
			}
			if _, err := app.Append(0, b.Labels(), s.at.UnixMilli(), value); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range s.families {
			for _, m := range f.Metric {
				b := labels.NewBuilder(labels.EmptyLabels())
				for _, l := range m.Label {
					b.Set(l.GetName(), l.GetValue())
				}
				h := m.GetHistogram()
				if h == nil {
					add(f.GetName(), m.GetCounter().GetValue()+m.GetGauge().GetValue(), b.Labels())
					continue
				}
				add(f.GetName()+"_count", float64(h.GetSampleCount()), b.Labels())
				add(f.GetName()+"_sum", h.GetSampleSum(), b.Labels())
				for _, bucket := range h.Bucket {
					add(f.GetName()+"_bucket", float64(bucket.GetCumulativeCount()), b.Labels(), "le", fmt.Sprint(bucket.GetUpperBound()))
				}
				add(f.GetName()+"_bucket", float64(h.GetSampleCount()), b.Labels(), "le", fmt.Sprint(math.Inf(1)))
			}
		}
		if err := app.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	return storage
}

// firing returns the alerts that fired at some time, with what they say.
func firing(t *testing.T, scrapes []scrape) map[string]string {
	t.Helper()
	storage := stored(t, scrapes)
	engine := promql.NewEngine(promql.EngineOpts{Logger: silent, MaxSamples: 1e6, Timeout: time.Minute, LookbackDelta: 5 * time.Minute, Parser: parser.NewParser(parser.Options{})})
	t.Cleanup(func() { _ = engine.Close() })
	query := rules.EngineQueryFunc(engine, storage)
	fired := make(map[string]string)
	for _, r := range readAlerts(t) {
		expr, err := parser.NewParser(parser.Options{}).ParseExpr(r.Expr)
		if err != nil {
			t.Fatalf("%s: %v", r.Alert, err)
		}
		rule := rules.NewAlertingRule(r.Alert, expr, time.Duration(r.For), 0, labels.FromMap(r.Labels), labels.FromMap(r.Annotations), labels.EmptyLabels(), "", true, silent)
		for _, s := range scrapes {
			if _, err := rule.Eval(context.Background(), 0, s.at, query, nil, 0); err != nil {
				t.Fatalf("%s: %v", r.Alert, err)
			}
			for _, a := range rule.ActiveAlerts() {
				if a.State == rules.StateFiring {
					fired[r.Alert] = a.Annotations.Get("summary") + " " + a.Annotations.Get("description")
				}
			}
		}
	}
	return fired
}

// Each alert fires under the load that it is about, and under no other.
func TestAlerts(t *testing.T) {
	untested := make(map[string]bool)
	for _, r := range readAlerts(t) {
		untested[r.Alert] = true
		if r.Annotations["summary"] == "" || r.Annotations["description"] == "" || r.Labels["severity"] == "" {
			t.Errorf("%s has no summary, description or severity", r.Alert)
		}
	}
	for _, test := range []struct {
		name  string
		table dynamodb.CreateTableInput
		every time.Duration
		load  func(s *system, n int)
		want  []string
		says  map[string]string
	}{
		{"cool", orders(nil), 50 * time.Millisecond, cool, nil, nil},
		{
			"a hot key", orders(nil), 100 * time.Millisecond, // 2,000 units a second
			func(s *system, _ int) { s.put("STATUS#ACTIVE", 200<<10-100) },
			[]string{"HeatsinkFinding", "HeatsinkHotKey", "HeatsinkHotPartition", "HeatsinkRetries", "HeatsinkSlowCalls"},
			map[string]string{"HeatsinkHotKey": "key STATUS#ACTIVE is hot", "HeatsinkHotPartition": "throttles writes"},
		},
		{
			"a key over shards", orders(nil), 100 * time.Millisecond, // 1,200 units a second, 150 of each
			func(s *system, n int) { s.put(fmt.Sprintf("STATUS#ACTIVE#SHARD_%d", n%8), 120<<10-100) },
			nil, nil,
		},
		{
			"a hot shard", orders(nil), 100 * time.Millisecond, // of 2,000 units a second, all but an eighth
			func(s *system, n int) { s.put(fmt.Sprintf("STATUS#ACTIVE#SHARD_%d", max(0, n%8-6)), 200<<10-100) },
			[]string{"HeatsinkFinding", "HeatsinkHotKey", "HeatsinkHotPartition", "HeatsinkRetries", "HeatsinkSlowCalls"},
			map[string]string{"HeatsinkHotKey": "key STATUS#ACTIVE is hot"},
		},
		{
			"too little capacity", orders(&types.ProvisionedThroughput{ReadCapacityUnits: new(int64(5)), WriteCapacityUnits: new(int64(5))}), 50 * time.Millisecond,
			func(s *system, n int) { s.put(fmt.Sprintf("ORDER#%d", n%5000), 100) },
			[]string{"HeatsinkCapacityThrottled", "HeatsinkFinding", "HeatsinkSlowCalls"},
			map[string]string{"HeatsinkCapacityThrottled": "Shards do not help"},
		},
		{
			"broken", orders(nil), 200 * time.Millisecond, func(s *system, n int) { s.faults.broken = 20; cool(s, n) },
			[]string{"HeatsinkErrors", "HeatsinkSlowCalls"},
			nil, // the SDK retries, and waits before that
		},
		{
			"slow", orders(nil), 200 * time.Millisecond, func(s *system, n int) { s.faults.delay = 900 * time.Millisecond; cool(s, n) },
			[]string{"HeatsinkSlowCalls"},
			nil,
		},
		{
			"control items", orders(nil), 100 * time.Millisecond,
			func(s *system, n int) { s.put("_hs#orders", 200<<10-100) },
			[]string{"HeatsinkControlThrottled"},
			nil,
		},
		{
			"growth that is held back", orders(nil), 200 * time.Millisecond,
			func(s *system, n int) {
				cool(s, n)
				if n == 1000 {
					s.recorder.Decided(heat.Decision{Resource: heat.Resource{Table: "orders"}, Key: "k", Reason: heat.DecidedFrozen, From: 4, To: 4})
				}
			},
			[]string{"HeatsinkGrowthHeldBack"},
			map[string]string{"HeatsinkGrowthHeldBack": "does not grow: frozen"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			scrapes := underLoad(t, test.table, test.every, test.load)
			fired := firing(t, scrapes)
			var got []string
			for name, text := range fired {
				got = append(got, name)
				delete(untested, name)
				if strings.Contains(text, "<error") || strings.Contains(text, "<no value>") {
					t.Errorf("%s says %q", name, text)
				}
			}
			slices.SortFunc(got, cmp.Compare[string])
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			for name, want := range test.says {
				if !strings.Contains(fired[name], want) {
					t.Errorf("%s says %q, want %q", name, fired[name], want)
				}
			}
		})
	}
	for name := range untested {
		t.Errorf("%s never fires", name)
	}
}
