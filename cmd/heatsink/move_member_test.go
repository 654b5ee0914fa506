package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
)

// asMember, in the environment, makes the test binary a program that uses a movable collection: see membership.
const asMember = "HEATSINK_TEST_AS_MEMBER"

// membership is what a member of a fleet is told.
type membership struct {
	URL, Key, Secret string
	Layout           string // as --to has it
	Member           int    // no two processes at the same time have the same
	Life             int    // counts the processes of a member
	Log              string // the file of all its processes
	Statics          int    // items that nobody changes
}

// The items of a fleet are of several kinds. The first letter of an id is its kind.
const (
	staticID  = 's' // never changes
	checkedID = 'c' // one writer takes it from state to state, each write on condition of the state before
	freeID    = 'f' // one writer puts, updates and deletes it without conditions, until the outcome of a write is unknown
	pairID    = 't' // like checked, but two items at a time, by a transaction
	sumID     = 'n' // all writers add to it
	claimID   = 'k' // the first one creates it
	swapID    = 'x' // all writers read it, and count on if nobody else has meanwhile
)

const (
	fleetTable   = "fleet"
	fleetWriters = 2 // of each member
	fleetOwn     = 4 // items of a kind that each writer has
	fleetShared  = 3 // items of a kind that all writers have
)

// fleetKeys are the logical keys.
var fleetKeys = []string{"A", "B"}

// keyOfID returns the logical key of an item.
func keyOfID(id string) string { return fleetKeys[crc32.ChecksumIEEE([]byte(id))%2] }

// fleetItem returns an item in a state. by is who wrote it, if several do.
func fleetItem(id string, n int, by string) heatsink.Item {
	return heatsink.Item{
		"pk": text(keyOfID(id)), "sk": text(id), "kind": text(id[:1]), "v": whole(n), "by": text(by), "text": text(fleetText(id, n, by)),
	}
}

// fleetText is what an item says of itself.
func fleetText(id string, n int, by string) string { return fmt.Sprintf("%s is %d by %q", id, n, by) }

// gone reports whether a free item is not there in a state.
func gone(n int) bool { return n%4 == 0 }

// fleetEvent is a line of a member's log.
type fleetEvent struct {
	Kind string // one of those below
	ID   string `json:",omitempty"`
	N    int    `json:",omitempty"`
	By   string `json:",omitempty"`
	Text string `json:",omitempty"`
}

const (
	begunEvent  = "begun"  // a write is about to be sent
	ackedEvent  = "acked"  // it was acknowledged, or read
	refusedOne  = "no"     // its condition was not fulfilled
	failedEvent = "failed" // it was not done for certain: the rest of those begun have an unknown outcome
	readEvent   = "read"
	lostEvent   = "lost"  // an answer that never came, which is right when a server is killed
	wrongEvent  = "wrong" // anything that is never right
)

// member is a process of a fleet.
type member struct {
	membership
	items *heatsink.Collection[heatsink.Item]
	log   *os.File
	adds  [fleetShared]atomic.Int64 // acknowledged additions of this process
}

// runMember writes and reads until it is killed.
func runMember(told string) error {
	go func() { // end with the parent, however that ends
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	m := &member{}
	if err := json.Unmarshal([]byte(told), &m.membership); err != nil {
		return err
	}
	before, err := readEvents(m.Log)
	if err != nil {
		return err
	}
	if m.log, err = os.OpenFile(m.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	if m.items, err = openFleet(&m.membership); err != nil {
		return err
	}
	var writers sync.WaitGroup
	for w := range fleetWriters {
		writers.Go(func() { newFleetWriter(m, w, before).work() })
	}
	writers.Wait()
	return nil
}

// openFleet opens the collection.
func openFleet(m *membership) (*heatsink.Collection[heatsink.Item], error) {
	l, err := parseLayoutFlag(m.Layout)
	if err != nil {
		return nil, err
	}
	l.Strategy = layout.Calculated // "unsharded" has none
	return heatsink.Open[heatsink.Item](client(m.URL, m.Key, m.Secret), heatsink.Options{
		Table: fleetTable, PartitionKey: "pk", SortKey: "sk", Movable: true, Layout: l, Retry: heatsink.Retry{Timeout: 20 * time.Second, Attempts: 4},
	})
}

// note writes a line to the log. It is in the file when note returns, whatever happens to the process.
func (m *member) note(e fleetEvent) {
	line, err := json.Marshal(e)
	if err == nil {
		_, err = m.log.Write(append(line, '\n'))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "log:", err)
		os.Exit(1)
	}
}

// failed notes an error of a read or write, and reports whether it is for certain that nothing was written.
func (m *member) failed(what string, err error) bool {
	_, unknown := errors.AsType[*heatsink.UnknownOutcomeError](err)
	kind := wrongEvent
	if expected(err) {
		kind = lostEvent
	}
	m.note(fleetEvent{Kind: kind, Text: what + ": " + err.Error()})
	time.Sleep(20 * time.Millisecond) // the server may be starting
	return !unknown
}

// expected reports whether an error is one of a server that is killed or throttles.
func expected(err error) bool {
	if _, ok := errors.AsType[*smithyhttp.RequestSendError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		if _, ok := errors.AsType[smithy.APIError](err); !ok {
			return true // an answer that was cut off
		}
	}
	if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		return !slices.ContainsFunc(canceled.CancellationReasons, func(r types.CancellationReason) bool {
			code := aws.ToString(r.Code)
			return code != "None" && code != "TransactionConflict" && code != "ThrottlingError" && code != "ProvisionedThroughputExceeded"
		})
	}
	if answer, ok := errors.AsType[smithy.APIError](err); ok {
		code := answer.ErrorCode()
		return strings.Contains(code, "Throttl") || code == "ProvisionedThroughputExceededException" || code == "TransactionConflictException" || code == "RequestLimitExceeded"
	}
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

// wrong notes what must never be.
func (m *member) wrong(format string, args ...any) {
	m.note(fleetEvent{Kind: wrongEvent, Text: fmt.Sprintf(format, args...)})
}

// truth is what a writer knows of an item of its own.
type truth struct {
	id      string
	at      int // acknowledged
	pending int // begun, with an unknown outcome; 0: none
	earlier int // pending before the last write began: a request of a process that was killed may still be on its way
}

// is reports whether a state may be that of the item, and keeps what it says about the pending write.
func (t *truth) is(n int) bool {
	if t.pending != 0 && n == t.pending && n != t.at {
		t.at, t.pending = n, 0
		return true
	}
	return n == t.at
}

// absent reports whether an item may be missing.
func (t *truth) absent() bool {
	none := func(n int) bool { return n == 0 || t.id[0] == freeID && gone(n) }
	if t.pending != 0 && none(t.pending) && !none(t.at) {
		t.at, t.pending = t.pending, 0
		return true
	}
	return none(t.at)
}

// fleetWriter does one operation after the other.
type fleetWriter struct {
	*member
	name   string
	random *rand.Rand
	own    map[string]*truth
	ids    []string // of own that are in use
	made   int      // free ids
	claim  int64    // the last one that was tried
}

func newFleetWriter(m *member, w int, before []fleetEvent) *fleetWriter {
	f := &fleetWriter{member: m, name: fmt.Sprintf("%d.%d", m.Member, w), own: map[string]*truth{}}
	f.random = rand.New(rand.NewPCG(uint64(m.Member), uint64(m.Life*fleetWriters+w)))
	for i := range fleetOwn {
		f.add(fmt.Sprintf("%c.%s.%d", checkedID, f.name, i))
		f.add(f.freshID())
	}
	for i := range 2 {
		f.add(fmt.Sprintf("%c.%s.%d", pairID, f.name, i))
	}
	for _, e := range before {
		if t := f.own[e.ID]; t != nil {
			t.heed(e)
		}
	}
	return f
}

func (f *fleetWriter) freshID() string {
	f.made++
	return fmt.Sprintf("%c.%s.%d.%d", freeID, f.name, f.Life, f.made)
}

func (f *fleetWriter) add(id string) {
	f.own[id] = &truth{id: id}
	f.ids = append(f.ids, id)
}

// heed takes a line of the log.
func (t *truth) heed(e fleetEvent) {
	switch e.Kind {
	case begunEvent:
		t.earlier, t.pending = t.pending, e.N
	case ackedEvent:
		t.at, t.pending, t.earlier = e.N, 0, 0
	case failedEvent:
		t.pending = t.earlier
	}
}

// tell notes an event of an item of one's own, and heeds it.
func (f *fleetWriter) tell(kind string, n int, all ...*truth) {
	for _, t := range all {
		e := fleetEvent{Kind: kind, ID: t.id, N: n}
		f.note(e)
		t.heed(e)
	}
}

func (f *fleetWriter) work() {
	ctx := context.Background()
	for {
		switch k := f.random.IntN(20); {
		case k < 8:
			id := f.ids[f.random.IntN(len(f.ids))]
			switch id[0] {
			case checkedID:
				f.check(ctx, f.own[id])
			case freeID:
				f.change(ctx, f.own[id])
			case pairID:
				f.pair(ctx)
			}
		case k < 10:
			f.count(ctx)
		case k < 11:
			f.tryClaim(ctx)
		case k < 13:
			f.swap(ctx)
		case k < 18:
			f.get(ctx)
		case k < 19:
			f.list(ctx)
		default:
			f.listPages(ctx)
		}
	}
}

// onState is the condition that an item is in the state before n, or in n already.
func onState(n int) (string, map[string]types.AttributeValue) {
	if n == 1 {
		return "attribute_not_exists(sk) OR v = :n", map[string]types.AttributeValue{":n": whole(n)}
	}
	return "v = :before OR v = :n", map[string]types.AttributeValue{":n": whole(n), ":before": whole(n - 1)}
}

// learn finds out in which state a checked item is, after a write with an unknown outcome.
func (f *fleetWriter) learn(ctx context.Context, t *truth) bool {
	if t.pending == 0 {
		return true
	}
	return f.getOne(ctx, t)
}

// check takes a checked item to its next state.
func (f *fleetWriter) check(ctx context.Context, t *truth) {
	if !f.learn(ctx, t) {
		return
	}
	n := t.at + 1
	condition, values := onState(n)
	f.tell(begunEvent, n, t)
	var err error
	if n%3 == 2 {
		values[":text"] = text(fleetText(t.id, n, ""))
		_, err = f.items.Update(ctx, fleetItem(t.id, n, ""), func(in *dynamodb.UpdateItemInput) {
			in.UpdateExpression, in.ConditionExpression, in.ExpressionAttributeValues = aws.String("SET v = :n, #t = :text"), &condition, values
			in.ExpressionAttributeNames = map[string]string{"#t": "text"}
		})
	} else {
		_, err = f.items.Put(ctx, fleetItem(t.id, n, ""), func(in *dynamodb.PutItemInput) {
			in.ConditionExpression, in.ExpressionAttributeValues = &condition, values
		})
	}
	f.outcome("checked write of "+t.id, n, err, t)
}

// outcome notes what became of a write to items of one's own.
func (f *fleetWriter) outcome(what string, n int, err error, all ...*truth) (known bool) {
	if err == nil {
		f.tell(ackedEvent, n, all...)
		return true
	}
	if f.failed(fmt.Sprintf("%s to %d", what, n), err) {
		f.tell(failedEvent, n, all...)
		return true
	}
	return false
}

// change takes a free item to its next state. If nobody knows whether that happened, the item is left alone from then on: the request
// may still be on its way.
func (f *fleetWriter) change(ctx context.Context, t *truth) {
	n := t.at + 1
	f.tell(begunEvent, n, t)
	var err error
	switch {
	case gone(n):
		_, err = f.items.Delete(ctx, fleetItem(t.id, n, ""))
	case n%2 == 0 || n%8 == 5: // the latter creates it
		_, err = f.items.Update(ctx, fleetItem(t.id, n, ""), func(in *dynamodb.UpdateItemInput) {
			in.UpdateExpression = aws.String("SET v = :n, #t = :text, kind = :kind, #by = :by")
			in.ExpressionAttributeNames = map[string]string{"#t": "text", "#by": "by"}
			in.ExpressionAttributeValues = map[string]types.AttributeValue{":n": whole(n), ":text": text(fleetText(t.id, n, "")), ":kind": text(t.id[:1]), ":by": text("")}
		})
	default:
		_, err = f.items.Put(ctx, fleetItem(t.id, n, ""))
	}
	if !f.outcome("write of "+t.id, n, err, t) {
		f.ids = slices.DeleteFunc(f.ids, func(id string) bool { return id == t.id })
		f.add(f.freshID())
	}
}

// pair takes two items to their next state at once.
func (f *fleetWriter) pair(ctx context.Context) {
	a, b := f.own[fmt.Sprintf("%c.%s.0", pairID, f.name)], f.own[fmt.Sprintf("%c.%s.1", pairID, f.name)]
	if !f.learn(ctx, a) || !f.learn(ctx, b) {
		return
	}
	switch {
	case a.at == b.at:
	case a.pending != 0 || b.pending != 0:
		return // it happened between the two reads
	default:
		f.wrong("half a transaction: %s is %d and %s is %d", a.id, a.at, b.id, b.at)
		return
	}
	n := a.at + 1
	condition, values := onState(n)
	var tx heatsink.Transaction
	for _, t := range []*truth{a, b} {
		part, err := f.items.TransactPut(ctx, fleetItem(t.id, n, ""), func(p *types.Put) { p.ConditionExpression, p.ExpressionAttributeValues = &condition, values })
		if err != nil {
			f.wrong("part for %s: %v", t.id, err)
			return
		}
		tx.Add(f.items, part)
	}
	f.tell(begunEvent, n, a, b)
	f.outcome("transaction of "+a.id, n, tx.Write(ctx), a, b)
}

// count adds 1 to an item that all writers add to.
func (f *fleetWriter) count(ctx context.Context) {
	i := f.random.IntN(fleetShared)
	id := fmt.Sprintf("%c.%d", sumID, i)
	f.note(fleetEvent{Kind: begunEvent, ID: id, N: 1})
	_, err := f.items.Update(ctx, fleetItem(id, 0, ""), func(in *dynamodb.UpdateItemInput) {
		in.UpdateExpression, in.ExpressionAttributeValues = aws.String("ADD v :one"), map[string]types.AttributeValue{":one": whole(1)}
	})
	switch {
	case err == nil:
		f.note(fleetEvent{Kind: ackedEvent, ID: id, N: 1})
		f.adds[i].Add(1)
	case f.failed("addition to "+id, err):
		f.note(fleetEvent{Kind: failedEvent, ID: id, N: 1})
	}
}

// shared notes what became of a write, on a condition, to an item that all writers write.
func (f *fleetWriter) shared(id string, n int, by string, err error) {
	e := fleetEvent{ID: id, N: n, By: by}
	switch _, no := errors.AsType[*types.ConditionalCheckFailedException](err); {
	case err == nil:
		e.Kind = ackedEvent
	case no:
		e.Kind = refusedOne
		if _, unknown := errors.AsType[*heatsink.UnknownOutcomeError](err); unknown {
			return
		}
	case f.failed(fmt.Sprintf("write of %s to %d", id, n), err):
		e.Kind = failedEvent
	default:
		return
	}
	f.note(e)
}

// tryClaim creates an item, if it is the first to do so.
func (f *fleetWriter) tryClaim(ctx context.Context) {
	if number := time.Now().UnixMilli() / 250; number > f.claim {
		f.claim = number
		id, by := fmt.Sprintf("%c.%d", claimID, number), fmt.Sprintf("%s.%d", f.name, f.Life)
		f.note(fleetEvent{Kind: begunEvent, ID: id, N: 1, By: by})
		_, err := f.items.Put(ctx, fleetItem(id, 1, by), func(in *dynamodb.PutItemInput) { in.ConditionExpression = aws.String("attribute_not_exists(sk)") })
		f.shared(id, 1, by, err)
	}
}

// swap counts an item on, if nobody else has since it was read.
func (f *fleetWriter) swap(ctx context.Context) {
	id, by := fmt.Sprintf("%c.%d", swapID, f.random.IntN(fleetShared)), fmt.Sprintf("%s.%d", f.name, f.Life)
	item, err := f.items.Get(ctx, fleetItem(id, 0, ""), strongly)
	if err != nil && !errors.Is(err, heatsink.ErrNotFound) {
		f.failed("read of "+id, err)
		return
	}
	n := 1
	condition, values := "attribute_not_exists(sk)", map[string]types.AttributeValue(nil)
	if err == nil {
		before, wrong := stateOf(item)
		if wrong != "" {
			f.wrong("%s: %s", id, wrong)
			return
		}
		n = before + 1
		condition, values = "v = :before", map[string]types.AttributeValue{":before": whole(before)}
	}
	f.note(fleetEvent{Kind: begunEvent, ID: id, N: n, By: by})
	_, err = f.items.Put(ctx, fleetItem(id, n, by), func(in *dynamodb.PutItemInput) {
		in.ConditionExpression, in.ExpressionAttributeValues = &condition, values
	})
	f.shared(id, n, by, err)
}

func strongly(in *dynamodb.GetItemInput) { in.ConsistentRead = aws.Bool(true) }

// stateOf returns the state of an item, and what is wrong with it: everything but its number follows from its id.
func stateOf(item heatsink.Item) (n int, wrong string) {
	id, ok := item["sk"].(*types.AttributeValueMemberS)
	if !ok || id.Value == "" {
		return 0, fmt.Sprintf("an item without an id: %s", show(item))
	}
	number, ok := item["v"].(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Sprintf("an item without a state: %s", show(item))
	}
	n, err := strconv.Atoi(number.Value)
	by := ""
	if whom, ok := item["by"].(*types.AttributeValueMemberS); ok {
		by = whom.Value
	}
	want := fleetItem(id.Value, n, by)
	if id.Value[0] == sumID {
		want = heatsink.Item{"pk": want["pk"], "sk": want["sk"], "v": want["v"]}
	}
	if err != nil || show(item) != show(want) {
		return n, fmt.Sprintf("it is %s, want %s", show(item), show(want))
	}
	return n, ""
}

// get reads an item of one's own, or one that nobody changes.
func (f *fleetWriter) get(ctx context.Context) {
	if f.random.IntN(3) == 0 {
		id := staticName(f.random.IntN(f.Statics))
		item, err := f.items.Get(ctx, fleetItem(id, 0, ""), strongly)
		if err != nil && !errors.Is(err, heatsink.ErrNotFound) {
			f.failed("read of "+id, err)
			return
		}
		f.note(fleetEvent{Kind: readEvent})
		if n, wrong := stateOf(item); err != nil || wrong != "" || n != 1 {
			f.wrong("%s was never changed: %s %v", id, wrong, err)
		}
		return
	}
	f.getOne(ctx, f.own[f.ids[f.random.IntN(len(f.ids))]])
}

// getOne reads an item of one's own.
func (f *fleetWriter) getOne(ctx context.Context, t *truth) bool {
	item, err := f.items.Get(ctx, fleetItem(t.id, 0, ""), strongly)
	if errors.Is(err, heatsink.ErrNotFound) {
		item, err = nil, nil
	}
	if err != nil {
		f.failed("read of "+t.id, err)
		return false
	}
	f.note(fleetEvent{Kind: readEvent})
	f.compare("Get", t, item)
	return true
}

// compare compares what was read of an item, nil for nothing, with what is known of it.
func (f *fleetWriter) compare(how string, t *truth, item heatsink.Item) {
	before := *t
	if item == nil {
		if !t.absent() {
			f.wrong("%s: %s is not there: acknowledged is %d, begun %d", how, t.id, t.at, t.pending)
		}
	} else if n, wrong := stateOf(item); wrong != "" {
		f.wrong("%s: %s: %s", how, t.id, wrong)
	} else if !t.is(n) || t.id[0] == freeID && gone(n) {
		f.wrong("%s: %s is %d: acknowledged is %d, begun %d", how, t.id, n, before.at, before.pending)
	}
	if t.at != before.at { // a write with an unknown outcome has happened
		f.note(fleetEvent{Kind: ackedEvent, ID: t.id, N: t.at})
	}
}

// list reads all items of a key.
func (f *fleetWriter) list(ctx context.Context) {
	key := fleetKeys[f.random.IntN(len(fleetKeys))]
	least := f.sums()
	q := heatsink.Query{Key: key, Consistent: true, Reverse: f.random.IntN(2) == 0}
	var all []heatsink.Item
	for item, err := range f.items.Query(ctx, q) {
		if err != nil {
			f.failed("Query of "+key, err)
			return
		}
		all = append(all, item)
	}
	if q.Reverse {
		slices.Reverse(all)
	}
	f.judge("Query", key, all, least)
}

// listPages reads all items of a key in pages, and counts those that never change.
func (f *fleetWriter) listPages(ctx context.Context) {
	key := fleetKeys[f.random.IntN(len(fleetKeys))]
	least := f.sums()
	var all []heatsink.Item
	for token := ""; ; {
		page, err := f.items.Page(ctx, heatsink.Query{Key: key, Consistent: true, Limit: 10 + f.random.IntN(40)}, token)
		if err != nil {
			f.failed("Page of "+key, err)
			return
		}
		all = append(all, page.Items...)
		if token = page.Next; token == "" {
			break
		}
	}
	f.judge("Page", key, all, least)
	n, err := f.items.Count(ctx, heatsink.Query{Key: key, Consistent: true, Filter: "kind = :k", Values: heatsink.Item{":k": text(string(staticID))}})
	if err != nil {
		f.failed("Count of "+key, err)
		return
	}
	if want := len(staticsOf(key, f.Statics)); n != want {
		f.wrong("Count of key %s has %d items that never change, want %d", key, n, want)
	}
	f.note(fleetEvent{Kind: readEvent})
}

// sums returns what this process has added.
func (f *fleetWriter) sums() (least [fleetShared]int64) {
	for i := range least {
		least[i] = f.adds[i].Load()
	}
	return least
}

// judge checks a list of all items of a key.
func (f *fleetWriter) judge(how, key string, all []heatsink.Item, least [fleetShared]int64) {
	f.note(fleetEvent{Kind: readEvent})
	found := map[string]heatsink.Item{}
	last := ""
	for _, item := range all {
		id := item["sk"].(*types.AttributeValueMemberS).Value
		if id <= last {
			f.wrong("%s of %s: %s comes behind %s", how, key, id, last)
		}
		found[id], last = item, id
		if _, wrong := stateOf(item); wrong != "" {
			f.wrong("%s of %s: %s: %s", how, key, id, wrong)
		}
	}
	for _, id := range staticsOf(key, f.Statics) {
		if n, wrong := stateOf(found[id]); n != 1 || wrong != "" {
			f.wrong("%s of %s: %s was never changed: %s", how, key, id, wrong)
		}
	}
	for id, t := range f.own {
		if keyOfID(id) == key {
			f.compare(how, t, found[id])
		}
	}
	for i, n := range least {
		if id := fmt.Sprintf("%c.%d", sumID, i); keyOfID(id) == key && n > 0 {
			if is, _ := stateOf(found[id]); int64(is) < n {
				f.wrong("%s of %s: %s is %d, and this process alone has added %d", how, key, id, is, n)
			}
		}
	}
}

func staticName(i int) string { return fmt.Sprintf("%c.%04d", staticID, i) }

// staticsOf returns the items of a key that never change.
func staticsOf(key string, statics int) (ids []string) {
	for i := range statics {
		if id := staticName(i); keyOfID(id) == key {
			ids = append(ids, id)
		}
	}
	return ids
}
