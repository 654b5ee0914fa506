package carry

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/meter"
	"github.com/heatsink-go/heatsink/local"
)

// A Get costs what it asks for while nothing moves: half a unit if it is eventually consistent. Otherwise its reads are strong. The result
// says where the item is.
func TestGets(t *testing.T) {
	for name, c := range map[string]struct {
		phase    forward.Phase
		strong   bool
		old, new string // marks; "-" for a plain item, "" for nothing
		first    forward.First
		units    float64
		want     forward.Outcome
		home     forward.Home
	}{
		"settled":                          {old: "-", units: 0.5, want: forward.Found, home: forward.Old},
		"settled, strong":                  {old: "-", strong: true, units: 1, want: forward.Found, home: forward.Old},
		"settled, absent":                  {units: 0.5, want: forward.Missing, home: forward.Old},
		"settled, with a mark":             {old: "z", units: 1.5, want: forward.Stale},
		"settled, with a mark and strong":  {old: "z", strong: true, units: 1, want: forward.Stale},
		"split, in the old home":           {phase: forward.Split, old: "-", units: 1, want: forward.Found, home: forward.Old},
		"split, in the new home":           {phase: forward.Split, old: "s", new: "-", units: 2, want: forward.Found, home: forward.New},
		"split, in the new home, first":    {phase: forward.Split, old: "s", new: "-", first: forward.NewFirst, units: 1, want: forward.Found, home: forward.New},
		"split, frozen":                    {phase: forward.Split, old: "z", units: 2, want: forward.Found, home: forward.Old},
		"split, frozen, new home first":    {phase: forward.Split, old: "z", first: forward.NewFirst, units: 2, want: forward.Found, home: forward.Old},
		"closed, in the new home":          {phase: forward.Closed, old: "s", new: "-", units: 2, want: forward.Found, home: forward.New},
		"settling":                         {phase: forward.Settling, old: "s", new: "-", units: 1, want: forward.Found, home: forward.New},
		"back, leaving":                    {phase: forward.Back, old: "s", new: "y1", units: 2, want: forward.Found, home: forward.New},
		"back, frozen and not copied":      {phase: forward.Back, old: "z", units: 2, want: forward.Found, home: forward.Old},
		"back, returned, new home first":   {phase: forward.Back, old: "-", new: "y1", first: forward.NewFirst, units: 2, want: forward.Found, home: forward.Old},
		"back, not moved, looked at first": {phase: forward.Back, old: "s", new: "-", first: forward.NewFirst, units: 1, want: forward.Found, home: forward.New},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				h := newHouse(t, nil)
				for home, mark := range map[string]string{"a": c.old, "b": c.new} {
					switch mark {
					case "":
					case "-":
						h.store(home, "id", 5, "")
					case "s":
						h.store(home, "id", 0, mark)
					default:
						h.store(home, "id", 5, mark)
					}
				}
				u, err := h.table.Get(&dynamodb.GetItemInput{Key: key("k", "id"), ConsistentRead: aws.Bool(c.strong), ProjectionExpression: aws.String("v")})
				if err != nil {
					t.Fatal(err)
				}
				var m meter.Meter
				r, err := h.carrier.Operate(meter.With(t.Context(), &m), h.place(c.phase, "id"), u, c.first, false)
				if c.want == forward.Stale != errors.Is(err, ErrStale) || c.want != forward.Stale && (err != nil || r.Outcome != c.want || r.Home != c.home) {
					t.Errorf("got %+v, %v, want %d in the %v home", r, err, c.want, c.home)
				}
				if c.want == forward.Found && len(r.Content) != 1 {
					t.Errorf("got %v, want what the projection names", r.Content)
				}
				if got := m.Cost().ReadUnits; got != c.units {
					t.Errorf("%v read units, want %v", got, c.units)
				}
			})
		})
	}
}

// A mark that only a replica still has is explained by a strong read.
func TestGetFromAReplicaThatLags(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h := newHouseOn(t, local.Options{Lag: &local.Lag{Min: time.Minute, Max: time.Minute}}, nil)
		h.store("a", "id", 0, "s")
		time.Sleep(time.Minute)
		h.store("a", "id", 5, "")
		u, err := h.table.Get(&dynamodb.GetItemInput{Key: key("k", "id")})
		if err != nil {
			t.Fatal(err)
		}
		r, err := h.carrier.Operate(t.Context(), h.place(forward.Settled, "id"), u, forward.OldFirst, false)
		if v, ok := r.Content["v"].(*types.AttributeValueMemberN); err != nil || r.Outcome != forward.Found || !ok || v.Value != "5" {
			t.Errorf("got %+v, %v, want the item", r, err)
		}
	})
}
