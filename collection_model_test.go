package heatsink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// TestCollectionUnderFaults writes, changes, deletes and reads through a client that throttles, times out and loses answers,
// on an engine that throttles by itself or not, while the layout grows. What is read must be one of the states that the
// answers allow: what was acknowledged is there, once; what was refused is not; what was left open may be either.
func TestCollectionUnderFaults(t *testing.T) {
	for name, physics := range map[string]*local.Physics{"plain": nil, "physics": {PartitionWrites: 200, PartitionReads: 2000}} {
		t.Run(name, func(t *testing.T) {
			client := startWith(t, local.Options{Physics: physics}).Client()
			makeTable(t, client, "items")
			run := 0
			rapid.Check(t, func(rt *rapid.T) {
				run++
				newFaultModel(rt, t, client, fmt.Sprintf("key-%d", run)).run()
			})
		})
	}
}

// possible is what may be stored under a sort key: a version, or nothing, which is version 0.
type possible map[int]bool

type faultModel struct {
	*rapid.T
	key    string
	layout layout.Layout
	widths *growing
	items  *Collection[Item]
	states map[string]possible // by sort key
	writes int
}

func newFaultModel(rt *rapid.T, t *testing.T, client *dynamodb.Client, key string) *faultModel {
	m := &faultModel{T: rt, key: key, states: make(map[string]possible), widths: &growing{}}
	m.layout = layout.Layout{Shards: 1, Strategy: rapid.SampledFrom([]layout.Strategy{layout.Random, layout.Calculated}).Draw(rt, "strategy")}
	width := 1 << rapid.IntRange(0, 3).Draw(rt, "log width")
	m.widths.set(layout.Width{Write: width, Read: width})
	rate := rapid.SampledFrom([]int{0, 10, 40}).Draw(rt, "percent of faults")
	luck := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(rt, "seed"))) // requests are sent in goroutines, where rapid cannot draw
	faults := faulty.Random(luck, rate, faulty.Throttled, faulty.Unreached, faulty.LostRequest, faulty.LostAnswer, faulty.BrokeDown, faulty.Partly)
	m.items = openItems(t, faulty.On(rt, client, faults), Options{
		Layout: m.layout, Widths: m.widths,
		Retry: Retry{Attempts: 4, Base: time.Microsecond, Max: 50 * time.Microsecond, Burst: 1000},
	})
	return m
}

func (m *faultModel) run() {
	for range rapid.IntRange(1, 40).Draw(m.T, "steps") {
		switch rapid.IntRange(0, 9).Draw(m.T, "step") {
		case 0:
			m.delete()
		case 1, 2:
			m.update()
		case 3:
			m.grow()
		case 4:
			m.read()
			m.batchGet()
		default:
			m.put()
		}
	}
	m.read()
}

// sort draws a sort key: with a random layout a new one, as only those are there once.
func (m *faultModel) sort() string {
	if m.layout.Strategy == layout.Random {
		return fmt.Sprintf("s-%04d", len(m.states))
	}
	return fmt.Sprintf("s-%02d", rapid.IntRange(0, 12).Draw(m.T, "sort"))
}

func (m *faultModel) put() {
	m.writes++
	sk := m.sort()
	_, err := m.items.Put(context.Background(), ov("pk", m.key, "sk", sk, "v", m.writes))
	m.settle(sk, m.writes, err)
}

// update sets the version of something that may be there.
func (m *faultModel) update() {
	if len(m.states) == 0 || m.layout.Strategy == layout.Random {
		return
	}
	m.writes++
	sk := rapid.SampledFrom(slices.Sorted(maps.Keys(m.states))).Draw(m.T, "updated")
	_, err := m.items.Update(context.Background(), ov("pk", m.key, "sk", sk), func(in *dynamodb.UpdateItemInput) {
		in.UpdateExpression = aws.String("SET v = :v")
		in.ExpressionAttributeValues = ov(":v", m.writes)
	})
	m.settle(sk, m.writes, err)
}

func (m *faultModel) delete() {
	if len(m.states) == 0 {
		return
	}
	sorted := slices.Sorted(maps.Keys(m.states))
	if rapid.Bool().Draw(m.T, "one") {
		sk := rapid.SampledFrom(sorted).Draw(m.T, "deleted")
		_, err := m.items.Delete(context.Background(), ov("pk", m.key, "sk", sk))
		m.settleDelete(sk, err)
		return
	}
	from := rapid.IntRange(0, len(sorted)-1).Draw(m.T, "from")
	sorted = sorted[from:min(from+30, len(sorted))]
	errs := m.failures(m.items.BatchDelete(context.Background(), m.likes(sorted)), len(sorted))
	for i, sk := range sorted {
		m.settleDelete(sk, errs[i])
	}
}

// settleDelete is settle for a delete, which may find that there is nothing.
func (m *faultModel) settleDelete(sk string, err error) {
	if errors.Is(err, ErrNotFound) {
		if !m.states[sk][0] {
			m.Fatalf("%s is not found, but can only be %v", sk, m.states[sk])
		}
		err = nil
	}
	m.settle(sk, 0, err)
}

func (m *faultModel) likes(sorts []string) (likes []Item) {
	for _, sk := range sorts {
		likes = append(likes, ov("pk", m.key, "sk", sk))
	}
	return likes
}

// failures returns the errors of a batch by position.
func (m *faultModel) failures(err error, of int) []error {
	errs := make([]error, of)
	if err == nil {
		return errs
	}
	failed, ok := err.(*BatchError)
	if !ok || failed.Of != of {
		m.Fatalf("got %v, want a BatchError of %d", err, of)
	}
	for _, f := range failed.Failed {
		errs[f.Position] = f.Err
	}
	return errs
}

// batchGet compares what a BatchGet returns with what may be there. What could not be read says nothing.
func (m *faultModel) batchGet() {
	sorted := slices.Sorted(maps.Keys(m.states))
	got, err := m.items.BatchGet(context.Background(), m.likes(sorted))
	for i, err := range m.failures(err, len(sorted)) {
		state, v := m.states[sorted[i]], 0
		if err == nil {
			fmt.Sscan(attrText(got[i], "v"), &v)
		} else if got[i] != nil {
			m.Fatalf("%s: got %s and %v", sorted[i], showItem(got[i]), err)
		}
		if (err == nil || errors.Is(err, ErrNotFound)) && !state[v] {
			m.Fatalf("%s: got version %d, %v, want one of %v", sorted[i], v, err, state)
		}
	}
}

// settle takes note of what an answer means for a sort key.
func (m *faultModel) settle(sk string, version int, err error) {
	_, open := errors.AsType[*UnknownOutcomeError](err)
	state := m.states[sk]
	if state == nil {
		state = possible{0: true}
		m.states[sk] = state
	}
	switch {
	case err == nil:
		m.states[sk] = possible{version: true}
	case open:
		state[version] = true
	}
}

// grow doubles the layout. Calculated items stay where they are, so only random layouts may.
func (m *faultModel) grow() {
	if w := m.widths.width; m.layout.Strategy == layout.Random && w.Read < 32 {
		m.widths.set(layout.Width{Write: rapid.SampledFrom([]int{w.Write, 2 * w.Read}).Draw(m.T, "write width"), Read: 2 * w.Read})
	}
}

// read compares what is read, whole or in pages, with what may be there.
func (m *faultModel) read() {
	q := Query{Key: m.key, Reverse: rapid.Bool().Draw(m.T, "reverse"), Consistent: true}
	if size := rapid.IntRange(0, 5).Draw(m.T, "page size"); size > 0 {
		q.Limit = size
	}
	var got []Item
	for token := ""; ; {
		var err error
		if q.Limit == 0 {
			got, err = m.whole(q)
			token = ""
		} else {
			var page Page[Item]
			page, err = m.items.Page(context.Background(), q, token)
			got = append(got, page.Items...)
			token = page.Next
		}
		if err != nil {
			if _, ok := errors.AsType[*GatherError](err); !ok {
				m.Fatal(err)
			}
			return // too many faults: all or error
		}
		if token == "" {
			break
		}
	}
	var order []string
	seen := make(map[string]int)
	for _, item := range got {
		sk := attrText(item, "sk")
		var v int
		fmt.Sscan(attrText(item, "v"), &v)
		if _, twice := seen[sk]; twice {
			m.Fatalf("%s is there twice", sk)
		}
		if !m.states[sk][v] {
			m.Fatalf("%s has version %d, want one of %v", sk, v, m.states[sk])
		}
		seen[sk] = v
		order = append(order, sk)
	}
	if q.Reverse {
		slices.Reverse(order)
	}
	if !slices.IsSorted(order) {
		m.Fatalf("out of order: %v", order)
	}
	for sk, state := range m.states {
		if _, found := seen[sk]; !found && !state[0] {
			m.Fatalf("%s is missing, want one of %v", sk, state)
		}
	}
}

func (m *faultModel) whole(q Query) (items []Item, err error) {
	for item, err := range m.items.Query(context.Background(), q) {
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}
