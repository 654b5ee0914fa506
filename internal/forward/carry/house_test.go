package carry

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/forward/express"
	"github.com/heatsink-go/heatsink/internal/lease"
	"github.com/heatsink-go/heatsink/local"
)

// house is a table on the engine, with homes "a" and "b", for a carrier whose requests may go wrong.
type house struct {
	t       *testing.T
	client  *faulty.Client
	table   express.Table
	carrier *Carrier
}

func newHouse(t *testing.T, decide faulty.Decide) *house {
	t.Helper()
	return newHouseOn(t, local.Options{}, decide)
}

// newHouseOn returns a house on an engine with options.
func newHouseOn(t *testing.T, options local.Options, decide faulty.Decide) *house {
	t.Helper()
	db, err := local.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := db.CreateTable(t.Context(), "items", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	table, err := express.NewTable("items", "pk", "sk")
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, client: faulty.On(t, db.Client(), decide), table: table}
	h.carrier = &Carrier{Client: h.client, Reads: dispatch.New(dispatch.Retry{}, nil, nil), Writes: dispatch.New(dispatch.Retry{}, nil, nil)}
	return h
}

// key is an id in a home, or as the user gives it.
func key(pk, id string) express.Item { return express.Item{"pk": text(pk), "sk": text(id)} }

// place is an id in a phase, with a lease that begins now.
func (h *house) place(phase forward.Phase, id string) Place {
	h.t.Helper()
	var stamp lease.Stamp
	if _, err := h.client.Direct.GetItem(h.t.Context(), &dynamodb.GetItemInput{TableName: aws.String("items"), Key: key("a", id)}, stamp.Note); err != nil {
		h.t.Fatal(err)
	}
	held, err := lease.New(&stamp)
	if err != nil {
		h.t.Fatal(err)
	}
	return Place{Homes: express.Homes{Table: h.table, Old: key("a", id), New: key("b", id)}, Phase: phase, Generation: 1, Lease: held}
}

// store puts an item into a home, with a value unless it is 0, and a mark unless it is "".
func (h *house) store(home, id string, value int64, mark string) {
	h.t.Helper()
	item := key(home, id)
	if value != 0 {
		item["v"] = number(value)
	}
	if mark != "" {
		item["_hs_f"] = text(mark)
	}
	if _, err := h.client.Direct.PutItem(h.t.Context(), &dynamodb.PutItemInput{TableName: aws.String("items"), Item: item}); err != nil {
		h.t.Fatal(err)
	}
}

// stored returns what a home has.
func (h *house) stored(home, id string) express.Item {
	h.t.Helper()
	out, err := h.client.Direct.GetItem(h.t.Context(), &dynamodb.GetItemInput{TableName: aws.String("items"), Key: key(home, id), ConsistentRead: aws.Bool(true)})
	if err != nil {
		h.t.Fatal(err)
	}
	return out.Item
}

// slow makes the first request take that long.
func slow(d time.Duration) faulty.Delay {
	first := true
	return func(faulty.Request) time.Duration {
		if !first {
			return 0
		}
		first = false
		return d
	}
}
