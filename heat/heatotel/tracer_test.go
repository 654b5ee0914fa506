package heatotel_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatotel"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

var _ heatsink.Tracer = (*heatotel.Tracer)(nil)

type view struct {
	Page string `dynamodbav:"pk"`
	ID   string `dynamodbav:"sk"`
}

// traced runs work on a collection of four shards, on partitions that take a few reads a second, and returns its spans.
func traced(t *testing.T, options heatotel.TracerOptions, work func(views *heatsink.Collection[view])) tracetest.SpanStubs {
	t.Helper()
	db, err := local.New(local.Options{Physics: &local.Physics{PartitionReads: 4, PartitionWrites: 100, Window: time.Second, OnDemandPartitions: 1, NoSplits: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := db.CreateTable(t.Context(), "views", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	exporter := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	tracer, err := heatotel.NewTracer(provider, options)
	if err != nil {
		t.Fatal(err)
	}
	views, err := heatsink.Open[view](db.Client(), heatsink.Options{
		Table: "views", PartitionKey: "pk", SortKey: "sk", Layout: layout.Layout{Shards: 4}, Tracer: tracer,
		Retry: heatsink.Retry{Attempts: 20, Base: 200 * time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	work(views)
	spans := exporter.GetSpans()
	if err := provider.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	return spans
}

func of(span tracetest.SpanStub, name string) string {
	for _, a := range span.Attributes {
		if a.Key == attribute.Key(name) {
			return a.Value.String()
		}
	}
	return ""
}

// A Query is a span with a request for each shard below it. Throttles have DynamoDB's reasons, and are followed by retries.
func TestTracerOfAQuery(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var before int
		exported := traced(t, heatotel.TracerOptions{}, func(views *heatsink.Collection[view]) {
			for i := range 40 {
				if _, err := views.Put(t.Context(), view{"PAGE#1", fmt.Sprint(i)}); err != nil {
					t.Fatal(err)
				}
				before++
				time.Sleep(100 * time.Millisecond)
			}
			for range 3 { // the second and third find the partition empty
				for _, err := range views.Query(t.Context(), heatsink.Query{Key: "PAGE#1"}) {
					if err != nil {
						t.Fatal(err)
					}
				}
			}
		})
		byID := make(map[trace.SpanID]tracetest.SpanStub)
		queries, requests, throttles, retries, puts := 0, 0, 0, 0, 0
		for _, s := range exported {
			byID[s.SpanContext.SpanID()] = s
		}
		for _, s := range exported {
			parent := byID[s.Parent.SpanID()]
			switch s.Name {
			case "heatsink.Query":
				queries++
				if of(s, "heatsink.key") != "PAGE#1" || of(s, "db.collection.name") != "views" {
					t.Errorf("got %v", s.Attributes)
				}
			case "DynamoDB.Query":
				requests++
				if parent.Name != "heatsink.Query" || s.SpanKind != trace.SpanKindClient || !strings.HasPrefix(of(s, "heatsink.shard_key"), "PAGE#1#SHARD_") {
					t.Errorf("got %v below %q", s.Attributes, parent.Name)
				}
				for i, e := range s.Events {
					switch e.Name {
					case "throttle":
						throttles++
						if text := fmt.Sprint(e.Attributes); !strings.Contains(text, "TableReadKeyRangeThroughputExceeded") {
							t.Errorf("a throttle says %s", text)
						}
					case "retry":
						retries++
						if i == 0 || s.Events[i-1].Name != "throttle" || e.Time.Before(s.Events[i-1].Time) {
							t.Errorf("a retry of nothing: %v", s.Events)
						}
					default:
						t.Errorf("event %s", e.Name)
					}
				}
			case "DynamoDB.PutItem":
				puts++
			default:
				t.Errorf("span %s", s.Name)
			}
			if s.Status.Code == codes.Error {
				t.Errorf("%s: %v", s.Name, s.Status)
			}
		}
		if queries != 3 || requests != 12 || puts != before || throttles == 0 || retries != throttles {
			t.Errorf("%d queries, %d requests, %d puts, %d throttles, %d retries", queries, requests, puts, throttles, retries)
		}
	})
}

// A request that fails ends its span and that of the Query with the type of the error, which names no key.
func TestTracerOfAFailure(t *testing.T) {
	exported := traced(t, heatotel.TracerOptions{Redact: heat.Hashed([]byte("secret"))}, func(views *heatsink.Collection[view]) {
		q := heatsink.Query{Key: "PAGE#secret", Filter: "nonsense ="}
		for _, err := range views.Query(t.Context(), q) {
			if err == nil {
				t.Error("no error")
			}
		}
		if _, err := views.Count(t.Context(), q); err == nil {
			t.Error("no error")
		}
		q.Limit = 1
		if _, err := views.Page(t.Context(), q, ""); err == nil {
			t.Error("no error")
		}
	})
	failed := make(map[string]bool)
	for _, s := range exported {
		if text := fmt.Sprint(s.Attributes, s.Events, s.Status); strings.Contains(text, "secret") {
			t.Errorf("the key shows: %s", text)
		}
		if s.Status.Code == codes.Error && of(s, "error.type") == "ValidationException" {
			failed[s.Name] = true
		}
	}
	for _, name := range []string{"heatsink.Query", "heatsink.Count", "heatsink.Page", "DynamoDB.Query"} {
		if !failed[name] {
			t.Errorf("%s has not failed: %v", name, failed)
		}
	}
}

// A loop that is left ends the span.
func TestTracerOfALoopThatIsLeft(t *testing.T) {
	exported := traced(t, heatotel.TracerOptions{}, func(views *heatsink.Collection[view]) {
		for i := range 5 {
			if _, err := views.Put(t.Context(), view{"PAGE#1", fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
		for _, err := range views.Query(t.Context(), heatsink.Query{Key: "PAGE#1"}) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
	})
	for _, s := range exported {
		if s.Name == "heatsink.Query" && s.EndTime.After(s.StartTime) && s.Status.Code != codes.Error {
			return
		}
	}
	t.Error("the Query has no span")
}

func TestNewTracerWithoutAProvider(t *testing.T) {
	if _, err := heatotel.NewTracer(nil, heatotel.TracerOptions{}); err == nil || !strings.HasPrefix(err.Error(), "heatotel: the tracer provider is nil") {
		t.Errorf("got %v", err)
	}
}
