package heatprom_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatprom"
	"github.com/heatsink-go/heatsink/local"
)

// gather returns the registry's samples under name and the values of the labels.
func gather(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	samples := make(map[string]float64)
	for _, family := range families {
		for _, m := range family.Metric {
			var name strings.Builder
			name.WriteString(family.GetName())
			for _, label := range m.Label {
				if v := label.GetValue(); v != "" {
					name.WriteString(" " + label.GetName() + "=" + v)
				}
			}
			samples[name.String()] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return samples
}

func TestCollector(t *testing.T) {
	db := local.Start(t)
	if err := db.CreateTable(t.Context(), "views", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	recorder := heat.NewRecorder(heat.Options{})
	client := db.Client(recorder.Option)
	for i := range 300 {
		pk := "STATUS#ACTIVE"
		if i%10 == 0 {
			pk = fmt.Sprint("STATUS#", i)
		}
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("views"), Item: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: fmt.Sprint(i)},
		}}); err != nil {
			t.Fatal(err)
		}
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(heatprom.New(recorder.Report, heatprom.Options{Keys: 2}))
	got := gather(t, registry)
	for name, want := range map[string]float64{
		"heatsink_heat_units_total direction=write table=views":                    300,
		"heatsink_heat_requests_total direction=write table=views":                 300,
		"heatsink_heat_retries_total direction=write table=views":                  0,
		"heatsink_heat_keys direction=write table=views":                           31,
		"heatsink_heat_findings kind=low-cardinality severity=warning table=views": 1,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s is %v (%v), want %v; all: %v", name, v, ok, want, got)
		}
	}
	if got["heatsink_heat_key_units_per_second direction=write key=STATUS#ACTIVE rank=1 table=views"] == 0 {
		t.Errorf("the hottest key is missing: %v", got)
	}
	keys := 0
	for name := range got {
		if len(name) > 36 && name[:36] == "heatsink_heat_key_units_per_second d" {
			keys++
		}
	}
	if keys != 2 {
		t.Errorf("%d keys, want 2", keys)
	}
}
