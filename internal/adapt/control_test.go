package adapt

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// Control items go into tables whose sort key is a string, a number or bytes, or that have none. The type is found out by the
// first read, and asked for only then.
func TestControlItemsInAnyTable(t *testing.T) {
	for sort, want := range map[string]types.AttributeValue{
		"sk": &types.AttributeValueMemberS{Value: "-"}, "sk:N": &types.AttributeValueMemberN{Value: "0"}, "sk:B": &types.AttributeValueMemberB{Value: []byte("-")}, "": nil,
	} {
		t.Run(sort, func(t *testing.T) {
			db := local.Start(t)
			keys := []string{"pk"}
			if sort != "" {
				keys = append(keys, sort)
			}
			if err := db.CreateTable(t.Context(), "items", keys...); err != nil {
				t.Fatal(err)
			}
			client := faulty.On(t, db.Client(), nil)
			edit := func(o *Options) {
				o.Control.SortKey, _, _ = strings.Cut(sort, ":")
				o.Charter.SortKey = o.Control.SortKey
				if o.Control.SortKey == "" { // spread in an index
					o.Charter.Index = charter.Index{Name: "listing", PartitionKey: "gpk"}
				}
			}
			b := newBook(t, client, edit)
			b.grow(t, "k", 8)
			if _, err := b.control.report(t.Context(), layout.ControlKey{Key: "k"}, ledger.Totals{Offered: 7}); err != nil {
				t.Fatal(err)
			}
			other := newBook(t, client, edit)
			if err := other.Ready(t.Context()); err != nil {
				t.Fatal(err)
			}
			if r, err := other.Show(t.Context(), "k", none); err != nil || r.Read != 8 {
				t.Errorf("another process: got %+v, %v, want 8 shards", r, err)
			}
			out, err := db.Client().Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("items")})
			if err != nil || len(out.Items) != 3 {
				t.Fatalf("%d items are stored, %v, want the charter, the ledger and the heat", len(out.Items), err)
			}
			for _, item := range out.Items {
				if got := fmt.Sprintf("%#v", item["sk"]); want == nil && item["sk"] != nil || want != nil && show(item["sk"]) != show(want) {
					t.Errorf("sort key %s, want %s", got, show(want))
				}
				for name := range item {
					if name != "pk" && name != "sk" && !strings.HasPrefix(name, "_hs_") {
						t.Errorf("attribute %q of %s does not begin with _hs_", name, show(item["pk"]))
					}
				}
			}
		})
	}
}

func show(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return "S " + v.Value
	case *types.AttributeValueMemberN:
		return "N " + v.Value
	case *types.AttributeValueMemberB:
		return fmt.Sprintf("B %x", v.Value)
	}
	return fmt.Sprintf("%T", v)
}

// A table whose partition key is no string cannot hold control items. The error says what to do.
func TestControlItemsNeedAStringKey(t *testing.T) {
	for _, partition := range []string{"pk:N", "pk:B"} {
		db := local.Start(t)
		if err := db.CreateTable(t.Context(), "items", partition, "sk"); err != nil {
			t.Fatal(err)
		}
		err := newBook(t, db.Client()).Ready(t.Context())
		if err == nil || !strings.Contains(err.Error(), "ControlTable") || !strings.Contains(err.Error(), "items") {
			t.Errorf("%s: got %v, want an error that names the table and ControlTable", partition, err)
		}
		if err := db.CreateTable(t.Context(), "control", "pk"); err != nil {
			t.Fatal(err)
		}
		apart := newBook(t, db.Client(), func(o *Options) { o.Control.Table, o.Control.SortKey = "control", "" })
		apart.grow(t, "k", 4)
		if got := controlItems(t, db.Client(), "control"); len(got) != 2 {
			t.Errorf("%s: the control table has %q", partition, got)
		}
	}
}

// A table that does not have the keys which the options name is refused, too.
func TestControlItemsNeedTheRightKeys(t *testing.T) {
	client := start(t)
	for _, edit := range []func(*Options){
		func(o *Options) { o.Control.SortKey = "other" },
		func(o *Options) { o.Control.SortKey = "" },
		func(o *Options) { o.Control.PartitionKey = "other" },
		func(o *Options) { o.Control.Table = "absent" },
	} {
		b := newBook(t, client, edit)
		if err := b.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), b.control.Table) {
			t.Errorf("got %v, want an error that names the table", err)
		}
	}
}

// Two collections of one table do not see each other's control items.
func TestControlItemsOfTwoCollections(t *testing.T) {
	client := start(t)
	a, b := newBook(t, client), newBook(t, client, func(o *Options) { o.Control.Collection = "orders2" })
	a.grow(t, "k", 4)
	b.grow(t, "k", 16)
	for want, c := range map[int]book{4: a, 16: b} {
		r, err := c.Show(t.Context(), "k", none)
		if err != nil || r.Read != want {
			t.Errorf("got %+v, %v, want %d shards", r, err, want)
		}
		var found []int
		for f, err := range c.All(t.Context(), client) {
			if err != nil {
				t.Error(err)
			}
			found = append(found, f.Record.Read)
		}
		if len(found) != 1 || found[0] != want {
			t.Errorf("listed %v, want %d alone", found, want)
		}
	}
}

// A report adds to the accumulator, and says what it has then. Nothing else may be in its way.
func TestReport(t *testing.T) {
	client := faulty.On(t, start(t), nil)
	b := newBook(t, client)
	k := layout.ControlKey{Key: "k"}
	for i, want := range []ledger.Totals{{Offered: 10.5, KeyRange: 2}, {Offered: 21, KeyRange: 4}} {
		if got, err := b.control.report(t.Context(), k, ledger.Totals{Offered: 10.5, KeyRange: 2}); err != nil || got != want {
			t.Errorf("report %d: got %+v, %v, want %+v", i, got, err, want)
		}
	}
	client.Decide(faulty.Script(faulty.Throttled)) // the partition of the accumulator is too hot
	if got, err := b.control.report(t.Context(), k, ledger.Totals{Offered: 5}); err != nil || got != (ledger.Totals{Offered: 5, Spare: true}) {
		t.Errorf("got %+v, %v, want the spare accumulator", got, err)
	}
	client.Decide(nil)
	if got, err := b.control.report(t.Context(), k, ledger.Totals{Offered: 1}); err != nil || got != (ledger.Totals{Offered: 22, KeyRange: 4}) {
		t.Errorf("got %+v, %v, want the first accumulator again", got, err)
	}
	client.Decide(faulty.Script(faulty.LostAnswer))
	if _, err := b.control.report(t.Context(), k, ledger.Totals{Offered: 1}); err == nil {
		t.Error("a report whose answer was lost was sent again, and may count twice")
	}
	overwrite(t, client.Direct, "_hs#H#orders##k", "_hs_w", &types.AttributeValueMemberS{Value: "?"})
	if _, err := b.control.report(t.Context(), k, ledger.Totals{Offered: 1}); err == nil || !strings.Contains(err.Error(), "_hs#H#orders##k") {
		t.Errorf("got %v, want an error that names the item", err)
	}
}

// A context that has ended sends nothing.
func TestControlOfAContextThatEnded(t *testing.T) {
	client := faulty.On(t, start(t), nil)
	b := newBook(t, client)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.control.get(ctx, charterKey, true); err == nil {
		t.Error("got no error")
	}
	if err := b.Ready(ctx); err == nil {
		t.Error("got no error")
	}
}
