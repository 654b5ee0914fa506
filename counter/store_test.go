package counter

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/enginetest"
	"github.com/heatsink-go/heatsink/internal/faulty"
)

// The explored protocol runs on a model of the conditions; DynamoDB runs on expressions. They must do the same.
func TestStoreIsTheModel(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		if err := Setup(t.Context(), client, Options{Table: "counters"}); err != nil {
			t.Fatal(err)
		}
		enginetest.DropTable(t, client, "counters")
		origin := &Origin{SortValue: "META", Attribute: "views"}
		s, err := newStore(client, Options{Table: "counters", Origin: origin}.withDefaults())
		if err != nil {
			t.Fatal(err)
		}
		run := 0
		rapid.Check(t, func(rt *rapid.T) {
			run++
			key := fmt.Sprintf("counter-%d", run)
			var m model
			for range rapid.IntRange(1, 20).Draw(rt, "steps") {
				if rapid.IntRange(0, 9).Draw(rt, "older") == 0 {
					delta := rapid.Int64Range(-2, 2).Draw(rt, "delta")
					m = m.older(delta)
					addOlder(t, client, key, delta)
				}
				r := drawRequest(rt, m)
				var want answer
				m, want = m.apply(rules{}, 1, r)
				got := s.do(t.Context(), key, r)
				if got.err != nil {
					rt.Fatalf("%v: %v", r, got.err)
				}
				if g, w := showAnswer(got), showAnswer(want); g != w {
					rt.Fatalf("%+v: got %s, want %s", r, g, w)
				}
			}
		})
	})
}

// drawRequest draws a request that a machine might send, or might have sent long ago.
func drawRequest(t *rapid.T, m model) request {
	id := rapid.SampledFrom([]slotID{"0-a", "0-b", "1-c", "3-d"})
	small := rapid.Int64Range(0, 3)
	r := request{
		operation: operation(rapid.IntRange(0, int(importBase)).Draw(t, "operation")),
		id:        id.Draw(t, "id"),
		total:     amount{small.Draw(t, "up"), small.Draw(t, "down"), small.Draw(t, "adds")},
		seq:       small.Draw(t, "seq"),
		ids:       rapid.SliceOfNDistinct(id, 1, 3, rapid.ID).Draw(t, "ids"),
		version:   max(0, m.base.version-small.Draw(t, "old")),
		level:     level(small.Draw(t, "level")),
		width:     int(small.Draw(t, "width")) + 1,
		token:     rapid.SampledFrom([]string{"x", "y"}).Draw(t, "token"),
		origin:    rapid.Bool().Draw(t, "origin"),
		imports:   max(0, m.base.imports-small.Draw(t, "old imports")),
		imported:  wideOf(rapid.Int64Range(-3, 3).Draw(t, "imported")),
	}
	r.sum = sumOf(r.total)
	if r.operation == resetBase {
		r.sum = r.sum.negative()
	}
	return r
}

// showAnswer spells an answer out, but for the times in it.
func showAnswer(a answer) string {
	show := func(s slot) string { return fmt.Sprint(s.id, s.total, s.seq, s.frozen != 0) }
	parts := []string{fmt.Sprint(a.outcome, a.lost, a.base.sum, slices.Sorted(maps.Keys(a.base.included)),
		a.base.version, a.base.level, a.base.width, a.base.reset, a.base.imported, a.base.imports)}
	if a.origin != nil {
		parts = append(parts, "origin", a.origin.String())
	}
	if a.slot != nil {
		parts = append(parts, "slot", show(*a.slot))
	}
	slices.SortFunc(a.slots, func(x, y slot) int { return cmp.Compare(x.id, y.id) })
	for _, s := range a.slots {
		parts = append(parts, show(s))
	}
	return strings.Join(parts, " ")
}

// What others have put where a counter's items should be is not counted, and not overlooked.
func TestStoreRefusesWhatItDidNotWrite(t *testing.T) {
	n := func(text string) types.AttributeValue { return &types.AttributeValueMemberN{Value: text} }
	aMap := &types.AttributeValueMemberM{Value: heatsink.Item{"increment": n("1")}}
	aList := &types.AttributeValueMemberL{Value: []types.AttributeValue{text("0-a")}}
	for name, item := range map[string]map[string]types.AttributeValue{
		"a slot with half a number":    {"pk": text("VIEWS#SHARD_0"), "sk": text("slot#0-a"), "up": n("1.5")},
		"a slot with a map":            {"pk": text("VIEWS#SHARD_0"), "sk": text("slot#0-a"), "up": aMap},
		"a slot that is too large":     {"pk": text("VIEWS#SHARD_0"), "sk": text("slot#0-a"), "up": n("9223372036854775808")},
		"a slot of another shard":      {"pk": text("VIEWS#SHARD_0"), "sk": text("slot#7-a")},
		"a slot without shard":         {"pk": text("VIEWS#SHARD_0"), "sk": text("slot#a")},
		"a base with a width":          {"pk": text("VIEWS"), "sk": text("base"), "width": n("100000")},
		"a base with a negative width": {"pk": text("VIEWS"), "sk": text("base"), "width": n("-1")},
		"a base with a list":           {"pk": text("VIEWS"), "sk": text("base"), "included": aList},
	} {
		t.Run(name, func(t *testing.T) {
			client := aTable(t)
			c := open(t, client, Options{})
			if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("counters"), Item: item}); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Total(t.Context(), "VIEWS"); !errors.Is(err, ErrCorrupt) {
				t.Errorf("got %v, want %v", err, ErrCorrupt)
			}
		})
	}
}

// A slot whose opening got no answer is not opened again under the same name: whoever folds and removes it in between
// would see it come back.
func TestOpeningIsNotRepeated(t *testing.T) {
	client := aTable(t)
	s, err := newStore(client, Options{Table: "counters", Retry: heatsink.Retry{Attempts: 6}}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	client.Decide(faulty.Script(faulty.LostAnswer).Of("UpdateItem"))
	before := client.Count("UpdateItem")
	if a := s.do(t.Context(), "VIEWS", request{operation: openSlot, id: "0-a"}); a.outcome != unknown {
		t.Errorf("got %+v, want an unknown outcome", a)
	}
	if n := client.Count("UpdateItem") - before; n != 1 {
		t.Errorf("it was sent %d times", n)
	}
	client.Decide(faulty.Script(faulty.LostAnswer).Of("UpdateItem"))
	flush := request{operation: flushSlot, id: "0-a", total: amount{up: 1, adds: 1}, seq: 1}
	if a := s.do(t.Context(), "VIEWS", flush); a.outcome == unknown || a.err != nil {
		t.Errorf("a flush, which is repeated: got %+v", a)
	}
}

// Whatever a store sends is metered, the transaction included: base and slot are read at twice the price.
func TestReadAtOnceIsMetered(t *testing.T) {
	client := aTable(t)
	s, err := newStore(client, Options{Table: "counters"}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	if a := s.do(t.Context(), "VIEWS", request{operation: openSlot, id: "0-a"}); a.err != nil {
		t.Fatal(a.err)
	}
	var meter heatsink.Meter
	a := s.do(heatsink.WithMeter(t.Context(), &meter), "VIEWS", request{operation: readAtOnce, ids: []slotID{"0-a"}})
	if a.err != nil || len(a.slots) != 1 {
		t.Fatalf("got %+v", a)
	}
	if got, want := meter.Cost(), (heatsink.Cost{Requests: 1, Items: 1, ReadUnits: 4}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	client.Decide(faulty.Always(faulty.Throttled))
	if a := s.do(heatsink.WithMeter(t.Context(), &meter), "VIEWS", request{operation: readAtOnce, ids: []slotID{"0-a"}}); a.err == nil {
		t.Error("a throttled transaction succeeded")
	}
	if got := meter.Cost(); got.Requests != 2 || got.Throttles != 1 || got.Retries != 0 {
		t.Errorf("got %+v, want it to be sent once", got)
	}
}
