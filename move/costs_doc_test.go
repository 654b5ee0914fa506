package move_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// The costs of docs/moving.md are what the engine charges, and what Plan forecasts.
func TestCostsOfTheGuide(t *testing.T) {
	page, err := os.ReadFile("../docs/moving.md")
	if err != nil {
		t.Fatal(err)
	}
	project := func(kind types.ProjectionType) func(*dynamodb.CreateTableInput) {
		return func(in *dynamodb.CreateTableInput) {
			in.GlobalSecondaryIndexes[0].Projection = &types.Projection{ProjectionType: kind}
		}
	}
	another := func(p types.Projection) func(*dynamodb.CreateTableInput) {
		return func(in *dynamodb.CreateTableInput) {
			in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
				IndexName: aws.String("byTime"), KeySchema: []types.KeySchemaElement{key("created", types.KeyTypeHash)}, Projection: &p,
			})
		}
	}
	all, keysOnly := project(types.ProjectionTypeAll), project(types.ProjectionTypeKeysOnly)
	tables := map[string][]func(*dynamodb.CreateTableInput){
		"the listing, all attributes":                         {all},
		"the listing, keys only":                              {keysOnly},
		"the listing, keys only; another with all attributes": {keysOnly, another(types.Projection{ProjectionType: types.ProjectionTypeAll})},
		"the listing, keys only; another without the status":  {keysOnly, another(types.Projection{ProjectionType: types.ProjectionTypeKeysOnly})},
	}
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 5 || !strings.HasSuffix(cells[0], " KB") {
			continue
		}
		rows++
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		edit, ok := tables[cells[1]]
		if !ok {
			t.Errorf("nobody knows the indexes %q", cells[1])
			continue
		}
		var kilobytes float64
		if _, err := fmt.Sscan(cells[0], &kilobytes); err != nil {
			t.Fatal(err)
		}
		client := start(t, edit...).Client()
		put(t, client, "a", "OPEN", func(item heatsink.Item) { item["text"] = text(strings.Repeat("x", int(kilobytes*1024)-100)) })
		m := mover(t, client, move.Options{Collection: collection(sixteen, layout.Layout{})})
		forecast, err := m.Plan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		result, err := m.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%v %v %v", result.WriteUnits-result.IndexUnits, result.IndexUnits, result.WriteUnits)
		if want := strings.Join(cells[2:], " "); got != want || forecast.WriteUnits != result.WriteUnits || forecast.IndexUnits != result.IndexUnits {
			t.Errorf("%s, %s: charged %s, forecast %v, the page says %s", cells[0], cells[1], got, forecast.WriteUnits, want)
		}
	}
	if rows != 5 {
		t.Errorf("%d rows were found, want 5", rows)
	}
}
