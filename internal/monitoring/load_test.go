package monitoring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatprom"
	"github.com/heatsink-go/heatsink/local"
)

// scrape is what Prometheus reads at a time.
type scrape struct {
	at       time.Time
	families []*dto.MetricFamily
}

const (
	scrapeEvery = 15 * time.Second
	loadFor     = 9 * time.Minute
)

// system is what a load is put on.
type system struct {
	*testing.T
	client   *dynamodb.Client
	recorder *heat.Recorder
	faults   *faults
	running  sync.WaitGroup
}

// faults are what goes wrong between the client and the engine.
type faults struct {
	aws.HTTPClient
	delay  time.Duration
	broken int // every so manieth answer is an internal error; 0: none

	mu   sync.Mutex
	sent int
}

func (f *faults) Do(r *http.Request) (*http.Response, error) {
	time.Sleep(f.delay)
	f.mu.Lock()
	f.sent++
	broken := f.broken > 0 && f.sent%f.broken == 0
	f.mu.Unlock()
	if broken {
		return &http.Response{StatusCode: http.StatusInternalServerError, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"__type":"InternalServerError"}`)), Request: r}, nil
	}
	return f.HTTPClient.Do(r)
}

// underLoad runs a load for some minutes of virtual time, and returns what a server of metrics saw of it.
func underLoad(t *testing.T, table dynamodb.CreateTableInput, every time.Duration, load func(s *system, n int)) (scrapes []scrape) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Physics: &local.Physics{NoSplits: true}})
		if err != nil {
			t.Fatal(err)
		}
		recorder, err := heat.NewRecorder(heat.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := &system{T: t, recorder: recorder}
		s.client = db.Client(recorder.Option, func(o *dynamodb.Options) {
			s.faults = &faults{HTTPClient: o.HTTPClient}
			o.HTTPClient = s.faults
		})
		if _, err := s.client.CreateTable(t.Context(), &table); err != nil {
			t.Fatal(err)
		}
		collector, err := heatprom.New(recorder.Report, heatprom.Options{})
		if err != nil {
			t.Fatal(err)
		}
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(collector)
		start := time.Now()
		for n := 0; time.Since(start) < loadFor; n++ {
			if due := start.Add(time.Duration(len(scrapes)) * scrapeEvery); !time.Now().Before(due) {
				families, err := registry.Gather()
				if err != nil {
					t.Fatal(err)
				}
				scrapes = append(scrapes, scrape{due, families})
			}
			s.running.Go(func() { load(s, n) })
			time.Sleep(every)
		}
		s.running.Wait()
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	})
	return scrapes
}

// orders is a table.
func orders(capacity *types.ProvisionedThroughput) dynamodb.CreateTableInput {
	in := dynamodb.CreateTableInput{
		TableName:            aws.String("orders"),
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		BillingMode:          types.BillingModePayPerRequest,
	}
	if capacity != nil {
		in.BillingMode, in.ProvisionedThroughput = types.BillingModeProvisioned, capacity
	}
	return in
}

// put writes an item. Throttles and broken answers are what some loads are about.
func (s *system) put(key string, size int) {
	_, err := s.client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: key}, "data": &types.AttributeValueMemberS{Value: strings.Repeat("x", size)},
	}})
	var throttled *types.ProvisionedThroughputExceededException
	var broken *types.InternalServerError
	if err != nil && !errors.As(err, &throttled) && !errors.As(err, &broken) && !strings.Contains(err.Error(), "ThrottlingException") {
		s.Error(err)
	}
}

// cool is a load that no partition minds.
func cool(s *system, n int) {
	s.put(fmt.Sprintf("ORDER#%d", n%5000), 100)
	if _, err := s.client.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: aws.String("orders"), Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: fmt.Sprintf("ORDER#%d", n*7%5000)}}}); err != nil {
		s.Error(err)
	}
}
