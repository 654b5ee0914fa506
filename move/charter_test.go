package move_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// A mover that does not name the collection as its programs do finds the charter, and moves nothing.
func TestCharterOfAnotherName(t *testing.T) {
	four := layout.Layout{Shards: 4, Strategy: layout.Calculated}
	adaptive := collection(layout.Layout{Strategy: layout.Calculated})
	adaptive.Adaptive = &heatsink.Adaptive{}
	named, recorded := adaptive, collection(four)
	named.Name, recorded.Recorded = "open-orders", true
	typo := named
	typo.Name, typo.Older = "openorders", []layout.Layout{four}
	plain := collection(sixteen, layout.Layout{})
	for name, test := range map[string]struct{ programs, mover heatsink.Options }{
		"no name, adaptive":      {named, plain},
		"not recorded":           {recorded, collection(sixteen, four)},
		"not adaptive":           {adaptive, plain},
		"another name, adaptive": {named, typo},
		"recorded by nobody":     {collection(four), func() heatsink.Options { o := plain; o.Recorded = true; return o }()},
	} {
		t.Run(name, func(t *testing.T) {
			client := faulty.On(t, start(t).Client(), nil)
			fill(t, client.Direct, test.programs, 40, 10)
			for what, do := range map[string]func(*move.Mover) error{
				"plan":   func(m *move.Mover) error { _, err := m.Plan(t.Context()); return err },
				"run":    func(m *move.Mover) error { _, err := m.Run(t.Context()); return err },
				"verify": func(m *move.Mover) error { _, err := m.Verify(t.Context()); return err },
			} {
				if err := do(mover(t, client, move.Options{Collection: test.mover})); !errors.Is(err, heatsink.ErrCharter) {
					t.Errorf("%s: got %v, want ErrCharter", what, err)
				}
			}
			for _, r := range client.Requests() {
				if r.Operation == "UpdateItem" || r.Operation == "PutItem" {
					t.Errorf("the mover sent %s", r.Operation)
				}
			}
		})
	}
}

// A charter that the sample missed stops the pass that meets it.
func TestCharterIsMetByThePass(t *testing.T) {
	client := start(t).Client()
	fill(t, client, collection(layout.Layout{}), 100, 10)
	m := mover(t, client, move.Options{Collection: collection(sixteen, layout.Layout{})})
	if _, err := m.Plan(t.Context()); err != nil {
		t.Fatal(err)
	}
	programs := collection(layout.Layout{Strategy: layout.Calculated}, layout.Layout{})
	programs.Adaptive, programs.Name = &heatsink.Adaptive{}, "open-orders"
	if _, err := open(t, client, programs).Put(t.Context(), order{ID: "a", Status: "OPEN", Created: "x"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := m.Run(t.Context())
		if !errors.Is(err, heatsink.ErrCharter) || !strings.Contains(err.Error(), `"open-orders"`) {
			t.Errorf("got %v, want an error about the charter", err)
		}
	}
}

// A charter that agrees with the move, or lists by another attribute, is no obstacle.
func TestCharterThatAgrees(t *testing.T) {
	client := start(t, func(in *dynamodb.CreateTableInput) {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: &[]string{"byTime"}[0], Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: []types.KeySchemaElement{key("created", types.KeyTypeHash)},
		})
	}).Client()
	for i, o := range []heatsink.Options{collection(sixteen), collection(sixteen), collection(layout.Layout{Shards: 2, Strategy: layout.Calculated})} {
		o.Recorded = true
		if i == 1 {
			o.Name = "orders"
		}
		if i == 2 {
			o.Index = heatsink.Index{Name: "byTime", PartitionKey: "created"}
		}
		if _, err := open(t, client, o).Put(t.Context(), order{ID: fmt.Sprint("x", i), Status: "OPEN", Created: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	put(t, client, "a", "OPEN")
	result, err := mover(t, client, move.Options{Collection: collection(sixteen), From: []layout.Layout{{}}}).Run(t.Context())
	if err != nil || result.Moved < 1 {
		t.Errorf("%+v, %v", result, err)
	}
}
