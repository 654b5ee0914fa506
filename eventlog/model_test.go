package eventlog_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/eventlog"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// TestModel appends events in random ways, at random times and with random faults, and compares every read with a
// sorted list, and every tail with what is settled, while buckets turn, logs grow, events expire, and tails are stopped
// and resumed from positions that were stored at some time.
func TestModel(t *testing.T) {
	runs, failed := 0, false
	checks, err := strconv.Atoi(flag.Lookup("rapid.checks").Value.String())
	if err != nil {
		t.Fatal(err)
	}
	few := checks <= 100 // as nobody asked for more
	rapid.Check(t, func(rt *rapid.T) {
		if runs++; few && runs > 20 && !failed {
			return
		}
		// A bubble for each run, as rapid would not go on after hours. It ends runs by panics, in its own goroutine.
		var ended any
		bubble.Test(t, func(t *testing.T) {
			defer func() { ended = recover() }()
			m := newModel(t, rt)
			defer m.db.Close()
			rt.Repeat(map[string]func(*rapid.T){
				"append":    m.append,
				"appendAll": m.appendAll,
				"wait":      m.wait,
				"grow":      m.grow,
				"newest":    m.newest,
				"range":     m.ranges,
				"pages":     m.pages,
				"count":     m.count,
				"tail":      m.poll,
				"follow":    m.follow,
			})
			m.finish()
		})
		if ended != nil {
			failed = true
			panic(ended)
		}
	})
}

// recorded is an event of the model.
type recorded struct {
	event
	inTime bool // acknowledged within the time to settle
}

// model is one run.
type model struct {
	*rapid.T
	tb      testing.TB
	db      *local.DB
	client  *faulty.Client
	options eventlog.Options
	logs    *eventlog.Log[op]
	grown   bool // there are more Shards than before: events that are appended again may be stored twice

	events map[string]map[string]recorded // by log and sort key
	given  []event                        // those with ids, to be appended again

	tails     []*modelTail
	positions []modelPosition
}

var modelLogs = []string{"OPS_LOG", "THREAT#abc"}

func newModel(tb testing.TB, rt *rapid.T) *model {
	never := 365 * 24 * time.Hour // longer than a run
	db, err := local.New(local.Options{TTLInterval: rapid.SampledFrom([]time.Duration{10 * time.Minute, never}).Draw(rt, "sweep")})
	if err != nil {
		rt.Fatal(err)
	}
	m := &model{T: rt, tb: tb, db: db, client: faulty.On(rt, db.Client(), nil), events: map[string]map[string]recorded{}}
	m.options = eventlog.Options{
		Table:     "logs",
		Prefix:    rapid.SampledFrom([]string{"", "ALERT#"}).Draw(rt, "prefix"),
		Bucket:    rapid.SampledFrom([]layout.Bucket{layout.NoBucket, layout.Hour, layout.Day}).Draw(rt, "bucket"),
		Shards:    rapid.IntRange(0, 3).Draw(rt, "shards"),
		Precision: rapid.SampledFrom([]time.Duration{time.Nanosecond, time.Millisecond, time.Second}).Draw(rt, "precision"),
		Retention: rapid.SampledFrom([]time.Duration{0, 30 * time.Hour, 90 * time.Minute}).Draw(rt, "retention"),
		Settle:    rapid.SampledFrom([]time.Duration{time.Second, 10 * time.Second}).Draw(rt, "settle"),
		Begin:     time.Now().UTC().Add(-50 * time.Hour),
		Retry:     heatsink.Retry{Attempts: 3, Base: time.Millisecond, Max: 10 * time.Millisecond},
	}
	if rapid.Bool().Draw(rt, "adaptive") {
		m.options.Adaptive = &heatsink.Adaptive{}
	}
	if m.options.Bucket == layout.Hour { // reads of many small buckets take their time
		m.options.Begin = time.Now().UTC().Add(-8 * time.Hour)
	}
	older := rapid.Bool().Draw(rt, "older")
	if older {
		m.options.Older = []layout.Layout{{}}
	} else if rapid.Bool().Draw(rt, "index") {
		m.options.Index = eventlog.Index{Name: "GSI1", Prefix: "THREAT#", MaxRequests: rapid.IntRange(0, 5).Draw(rt, "allowed")}
	}
	if err := eventlog.Setup(tb.Context(), db.Client(), m.options); err != nil {
		rt.Fatal(err)
	}
	m.reopen()
	for _, log := range modelLogs {
		m.events[log] = map[string]recorded{}
		if older && m.options.Bucket != layout.NoBucket {
			m.adopt(log)
		}
		m.tails = append(m.tails, m.newTail(log, m.options.Begin))
	}
	return m
}

func (m *model) reopen() {
	logs, err := eventlog.Open[op](m.client, m.options)
	if err != nil {
		m.Fatal(err)
	}
	m.logs = logs
	for _, f := range m.tails { // who reads must know of all shards
		f.tail = m.resume(f.modelPosition)
	}
}

// adopt stores events as they were before there were buckets, some without an id.
func (m *model) adopt(log string) {
	for i := range rapid.IntRange(0, 4).Draw(m.T, "adopted") {
		e := event{Log: log, At: m.floor(time.Now().Add(-time.Duration(i) * 7 * time.Hour)), Body: op{N: 1000 + i}}
		if i%2 == 0 {
			e.ID = "old"
		}
		key := m.key(e.At, e.ID)
		if e.ID == "" {
			key = key[:len(key)-1]
		}
		_, err := m.db.Client().PutItem(m.tb.Context(), &dynamodb.PutItemInput{TableName: &m.options.Table, Item: heatsink.Item{
			"pk": &types.AttributeValueMemberS{Value: log}, "sk": &types.AttributeValueMemberS{Value: key},
			"n": &types.AttributeValueMemberN{Value: fmt.Sprint(e.Body.N)},
		}})
		if err != nil {
			m.Fatal(err)
		}
		m.events[log][key] = recorded{event: e}
	}
}

func (m *model) floor(at time.Time) time.Time { return at.UTC().Truncate(m.options.Precision) }

// key returns the sort key of an event.
func (m *model) key(at time.Time, id string) string { return m.bound(at) + "#" + id }

func (m *model) bound(at time.Time) string {
	digits := map[time.Duration]string{time.Nanosecond: ".000000000", time.Millisecond: ".000", time.Second: ""}[m.options.Precision]
	return m.options.Prefix + m.floor(at).Format("2006-01-02T15:04:05"+digits+"Z")
}

// alive reports whether an event of this time is still kept.
func (m *model) alive(at, now time.Time) bool {
	return m.options.Retention == 0 || at.Add(m.options.Retention).After(now)
}

// listed returns the events of a log that are kept and in [from, to), in order, and their sort keys.
func (m *model) listed(log string, from, to time.Time) (events []event, keys []string) {
	for _, key := range slices.Sorted(maps.Keys(m.events[log])) {
		e := m.events[log][key].event
		if m.alive(e.At, time.Now()) && !e.At.Before(from) && e.At.Before(to) {
			events, keys = append(events, e), append(keys, key)
		}
	}
	return events, keys
}

// time draws a time: that of an event, or now, around the time to settle, hours ago, a little ahead; few different
// ones, so that some are the same.
func (m *model) time(t *rapid.T) time.Time {
	log := m.events[rapid.SampledFrom(modelLogs).Draw(t, "of")]
	if len(log) > 0 && rapid.IntRange(0, 3).Draw(t, "as before") == 0 {
		return log[rapid.SampledFrom(slices.Sorted(maps.Keys(log))).Draw(t, "before")].At
	}
	settle := m.options.Settle
	ago := rapid.SampledFrom([]time.Duration{
		0, 1, time.Second, settle - 1, settle, settle + 1, 2 * settle, time.Hour, 26 * time.Hour, 60 * time.Hour, -1, -settle / 2, -2 * time.Hour,
	}).Draw(t, "ago")
	at := time.Now().UTC().Add(-ago)
	if rapid.Bool().Draw(t, "round") {
		at = at.Truncate(time.Minute)
	}
	return at
}

// event draws an event to append: new, with an id or not, or one that was appended before.
func (m *model) event(t *rapid.T) event {
	if len(m.given) > 0 && rapid.IntRange(0, 2).Draw(t, "again") == 0 {
		return rapid.SampledFrom(m.given).Draw(t, "given")
	}
	e := event{Log: rapid.SampledFrom(modelLogs).Draw(t, "log")}
	if rapid.Bool().Draw(t, "timed") {
		e.At = m.time(t)
	}
	if !e.At.IsZero() && rapid.Bool().Draw(t, "id") {
		e.ID = rapid.SampledFrom([]string{"a", "b", "c#d", "ü"}).Draw(t, "which")
	}
	e.Body.N = len(m.given) + 1
	if e.ID != "" {
		e.Body.N = int(m.floor(e.At).UnixNano()%1000) + len(e.ID) // the same event has the same body
		m.given = append(m.given, e)
	}
	return e
}

// refused reports whether an event cannot be appended.
func (m *model) refused(e event) bool {
	at := m.floor(e.At)
	return !e.At.IsZero() && (at.Before(m.options.Begin) || !m.alive(at, time.Now()))
}

// store makes the model know an event, if it is there.
func (m *model) store(e event, receipt eventlog.Receipt, failed error) {
	key := m.key(receipt.At, receipt.ID)
	e.At, e.ID = receipt.At, receipt.ID
	old, there := m.events[e.Log][key]
	if failed != nil && !there {
		_, there = m.inTable(e.Log, key)
		if !there {
			return
		}
		old = recorded{event: e}
	}
	if !there {
		old = recorded{event: e}
	}
	if failed == nil && time.Since(e.At) < m.options.Settle {
		old.inTime = true
	}
	if failed == nil && receipt.Late != (time.Since(e.At) >= m.options.Settle) {
		m.Fatalf("%v after its time, late is %v", time.Since(e.At), receipt.Late)
	}
	m.events[e.Log][key] = old
}

// inTable looks for a sort key of a log in the table.
func (m *model) inTable(log, key string) (heatsink.Item, bool) {
	for _, item := range stored(m.tb, m.db.Client(), "logs") {
		if attribute(item, "sk") == key && len(attribute(item, "pk")) >= len(log) && attribute(item, "pk")[:len(log)] == log {
			return item, true
		}
	}
	return nil, false
}

// faults makes some of the next requests go wrong.
func (m *model) faults(t *rapid.T) {
	m.client.Decide(faulty.Script(rapid.SliceOfN(rapid.SampledFrom([]faulty.Fault{faulty.None, faulty.ThrottledOnDemand, faulty.LostRequest, faulty.LostAnswer, faulty.Partly}), 0, 4).Draw(t, "faults")...))
}

func (m *model) append(t *rapid.T) {
	e := m.event(t)
	m.faults(t)
	defer m.client.Decide(nil)
	refused := m.refused(e)
	receipt, err := m.logs.Append(m.tb.Context(), e)
	if refused != errors.Is(err, eventlog.ErrEvent) {
		t.Fatalf("append %v: refused %v, got %v", e, refused, err)
	}
	if !refused {
		m.store(e, receipt, err)
	}
}

func (m *model) appendAll(t *rapid.T) {
	events := make([]event, rapid.IntRange(0, 6).Draw(t, "events"))
	refused := false
	for i := range events {
		events[i] = m.event(t)
		refused = refused || m.refused(events[i])
	}
	m.faults(t)
	defer m.client.Decide(nil)
	receipts, err := m.logs.AppendAll(m.tb.Context(), events)
	if refused != errors.Is(err, eventlog.ErrEvent) {
		t.Fatalf("append %v: refused %v, got %v", events, refused, err)
	}
	if refused {
		return
	}
	failed := map[int]error{}
	if batch, ok := errors.AsType[*heatsink.BatchError](err); ok {
		for _, f := range batch.Failed {
			failed[f.Position] = f.Err
		}
	} else if err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		m.store(e, receipts[i], failed[i])
	}
}

func (m *model) wait(t *rapid.T) {
	time.Sleep(rapid.SampledFrom([]time.Duration{
		1, time.Millisecond, time.Second, m.options.Settle, time.Minute, time.Hour, 11 * time.Hour, m.options.Retention, m.options.Retention - 1,
	}).Draw(t, "wait"))
}

// grow gives the log more shards. With Adaptive that is by the ledger of a bucket, and sometimes by another process. Who
// does not read with strong consistency may not know of that for a while.
func (m *model) grow(t *rapid.T) {
	if m.options.Adaptive == nil {
		if m.options.Shards < 6 {
			m.options.Shards, m.grown = max(m.options.Shards, 1)+rapid.IntRange(1, 2).Draw(t, "more"), true
			m.reopen()
		}
		return
	}
	by := m.logs
	if rapid.Bool().Draw(t, "another") {
		by = open(m.tb, m.db.Client(), m.options)
		defer time.Sleep(30*time.Second + 1)
	}
	log, at := rapid.SampledFrom(modelLogs).Draw(t, "log"), m.time(t)
	before, err := by.Ledgers().Show(m.tb.Context(), log, at)
	if err != nil || before.Width.Write > 6 {
		return
	}
	after, err := by.Ledgers().Grow(m.tb.Context(), log, at, before.Width.Write+rapid.IntRange(1, 2).Draw(t, "more"), "a test")
	if err != nil || after.Width.Read <= before.Width.Read {
		t.Fatalf("got %+v after %+v, %v", after, before, err)
	}
}

// query draws a query, and returns what it has to find.
func (m *model) query(t *rapid.T) (q eventlog.Query, want []event) {
	q.Log = rapid.SampledFrom(modelLogs).Draw(t, "log")
	from, to := m.options.Begin, time.Now().Add(m.options.Settle)
	if rapid.Bool().Draw(t, "from") {
		q.From = m.time(t)
		from = q.From
	}
	if rapid.Bool().Draw(t, "to") {
		q.To = m.time(t)
		to = q.To
	}
	if !q.From.IsZero() && !q.To.IsZero() && q.To.Before(q.From) {
		q.From, q.To = q.To, q.From
		from, to = to, from
	}
	q.Newest = rapid.Bool().Draw(t, "newest")
	if m.options.Index.Name != "" {
		q.Index = rapid.Bool().Draw(t, "index")
	}
	q.Consistent = !q.Index && rapid.Bool().Draw(t, "consistent")
	q.Prefetch = rapid.IntRange(0, 2).Draw(t, "ahead")
	want, _ = m.listed(q.Log, from, to)
	if q.Newest {
		slices.Reverse(want)
	}
	return q, want
}

// breakShards makes queries of the table fail, if there is an index to read instead.
func (m *model) breakShards(t *rapid.T) {
	if m.options.Index.Name == "" || !rapid.Bool().Draw(t, "broken") {
		return
	}
	after := rapid.IntRange(0, 6).Draw(t, "after")
	m.client.Decide(func(r faulty.Request) faulty.Fault {
		query, ok := r.Input.(*dynamodb.QueryInput)
		if after--; !ok || query.IndexName != nil || after >= 0 {
			return faulty.None
		}
		return faulty.Denied
	})
}

func (m *model) check(t *rapid.T, what string, got, want []event) {
	if !slices.Equal(got, want) {
		t.Fatalf("%s: got\n%v, want\n%v", what, got, want)
	}
}

func (m *model) newest(t *rapid.T) {
	m.breakShards(t)
	defer m.client.Decide(nil)
	log, n := rapid.SampledFrom(modelLogs).Draw(t, "log"), rapid.IntRange(1, 12).Draw(t, "n")
	want, _ := m.listed(log, m.options.Begin, time.Now().Add(m.options.Settle))
	slices.Reverse(want)
	got, err := m.logs.Newest(m.tb.Context(), log, n)
	if err != nil {
		t.Fatal(err)
	}
	m.check(t, fmt.Sprintf("the newest %d of %s", n, log), got, want[:min(n, len(want))])
}

func (m *model) ranges(t *rapid.T) {
	q, want := m.query(t)
	if q.Limit = rapid.IntRange(0, 8).Draw(t, "limit"); q.Limit > 0 {
		want = want[:min(q.Limit, len(want))]
	}
	m.breakShards(t)
	defer m.client.Decide(nil)
	var got []event
	for e, err := range m.logs.Events(m.tb.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	m.check(t, fmt.Sprintf("%+v", q), got, want)
}

func (m *model) pages(t *rapid.T) {
	q, want := m.query(t)
	if q.To.IsZero() { // which may move
		q.To = time.Now().Add(m.options.Settle)
		if q.To.Before(q.From) {
			q.To = q.From
		}
	}
	var got []event
	for token := ""; ; {
		q.Limit = rapid.IntRange(1, 5).Draw(t, "size")
		m.breakShards(t)
		page, err := m.logs.Page(m.tb.Context(), q, token)
		m.client.Decide(nil)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, page.Events...)
		if token = page.Next; token == "" {
			break
		}
		if rapid.IntRange(0, 4).Draw(t, "grow") == 0 {
			m.grow(t)
		}
	}
	m.check(t, fmt.Sprintf("pages of %+v", q), got, want)
}

func (m *model) count(t *rapid.T) {
	if m.grown {
		return // an event may be stored twice
	}
	q, want := m.query(t)
	m.breakShards(t)
	defer m.client.Decide(nil)
	n, err := m.logs.Count(m.tb.Context(), q)
	if err != nil || n != len(want) {
		t.Fatalf("counted %d, %v, want %d", n, err, len(want))
	}
	groups, err := eventlog.CountBy(m.tb.Context(), m.logs, q, func(e event) string { return e.ID })
	ids := map[string]int{}
	for _, e := range want {
		ids[e.ID]++
	}
	counted := map[string]int{}
	for _, g := range groups {
		counted[g.Key] = g.Count
	}
	if err != nil || !maps.Equal(counted, ids) {
		t.Fatalf("grouped %v, %v, want %v", counted, err, ids)
	}
	if !slices.IsSortedFunc(groups, func(a, b heatsink.Group[string]) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Key, b.Key))
	}) {
		t.Fatalf("the groups are not in order: %v", groups)
	}
}

// modelPosition is a place in a log as the model has it, and as it was stored.
type modelPosition struct {
	log      string
	key      string
	returned bool
	token    string
}

// modelTail is a tail that is always resumed where it was: nothing may be missing in what it has returned.
type modelTail struct {
	modelPosition
	tail  *eventlog.Tail[op]
	begin string
	got   []string // sort keys
}

// interval is how often tails poll.
const interval = 20 * time.Second

func (m *model) newTail(log string, from time.Time) *modelTail {
	tail, err := m.logs.Tail(log, eventlog.TailOptions{From: from, MinPoll: interval, MaxPoll: interval})
	if err != nil {
		m.Fatal(err)
	}
	first := m.floor(from)
	if first.Before(from) {
		first = first.Add(m.options.Precision)
	}
	key := m.bound(first)
	return &modelTail{modelPosition: modelPosition{log: log, key: key, token: tail.Position()}, tail: tail, begin: key}
}

// follow lets one of the tails that are resumed where they were go on for a while.
func (m *model) follow(t *rapid.T) {
	f := rapid.SampledFrom(m.tails).Draw(t, "tail")
	if rapid.Bool().Draw(t, "restart") {
		f.tail = m.resume(f.modelPosition)
	}
	keys := m.run(t, f.tail, &f.modelPosition)
	f.got = append(f.got, keys...)
}

// poll resumes a tail from any position that was stored.
func (m *model) poll(t *rapid.T) {
	if len(m.positions) == 0 || rapid.IntRange(0, 2).Draw(t, "from a time") == 0 {
		tail := m.newTail(rapid.SampledFrom(modelLogs).Draw(t, "log"), m.time(t))
		m.run(t, tail.tail, &tail.modelPosition)
		return
	}
	p := rapid.SampledFrom(m.positions).Draw(t, "position")
	m.run(t, m.resume(p), &p)
}

func (m *model) resume(p modelPosition) *eventlog.Tail[op] {
	tail, err := m.logs.Tail(p.log, eventlog.TailOptions{After: p.token, MinPoll: interval, MaxPoll: interval})
	if err != nil {
		m.Fatal(err)
	}
	return tail
}

// run lets a tail poll a few times, or until it has returned some events, and compares those with the model's.
func (m *model) run(t *rapid.T, tail *eventlog.Tail[op], p *modelPosition) []string {
	polls, most := rapid.IntRange(1, 3).Draw(t, "polls"), rapid.IntRange(1, 20).Draw(t, "most")
	ctx, cancel := context.WithTimeout(m.tb.Context(), time.Duration(polls)*interval-interval/2)
	defer cancel()
	begun, from := time.Now(), *p
	var got []event
	for e, err := range tail.Events(ctx) {
		if err != nil {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			break
		}
		p.key, p.returned, p.token = m.keyOf(p.log, e), true, e.Position
		m.positions = append(m.positions, *p)
		e.Position = ""
		if got = append(got, e); len(got) == most {
			break
		}
	}
	want, keys, end := m.settled(from, begun, polls)
	if len(want) >= most {
		want, keys = want[:most], keys[:most]
	} else if end > from.key {
		p.key, p.returned = end, false
	}
	m.check(t, fmt.Sprintf("tail of %s behind %q, %v", from.log, from.key, from.returned), got, want)
	p.token = tail.Position()
	m.positions = append(m.positions, *p)
	return keys
}

// keyOf returns the sort key of an event that was returned.
func (m *model) keyOf(log string, e event) string {
	key := m.key(e.At, e.ID)
	if _, there := m.events[log][key]; !there && e.ID == "" {
		key = m.bound(e.At)
	}
	return key
}

// settled returns what polls return behind a position, and the sort key that nothing is left before.
func (m *model) settled(p modelPosition, begun time.Time, polls int) (events []event, keys []string, end string) {
	last := p
	for i := range polls {
		now := begun.Add(time.Duration(i) * interval)
		end = m.bound(now.Add(-m.options.Settle))
		for _, key := range slices.Sorted(maps.Keys(m.events[p.log])) {
			behind := key > last.key || key == last.key && !last.returned
			if e := m.events[p.log][key].event; behind && key < end && m.alive(e.At, now) {
				events, keys = append(events, e), append(keys, key)
			}
		}
		if end > last.key {
			last.key, last.returned = end, false
		}
	}
	return events, keys, end
}

// finish lets everything settle and checks what the tails promise: each event that was acknowledged in time was
// returned once, in order.
func (m *model) finish() {
	time.Sleep(m.options.Settle + time.Second)
	for _, f := range m.tails {
		f.tail = m.resume(f.modelPosition)
		ctx, cancel := context.WithTimeout(m.tb.Context(), interval/2)
		for e, err := range f.tail.Events(ctx) {
			if err != nil {
				break
			}
			f.got = append(f.got, m.keyOf(f.log, e))
		}
		cancel()
		if !slices.IsSorted(f.got) || len(slices.Compact(slices.Clone(f.got))) != len(f.got) {
			m.Fatalf("tail of %s returned %v: not in order, or not once", f.log, f.got)
		}
		if m.options.Retention > 0 {
			continue // an event may have expired before it was asked for
		}
		for key, e := range m.events[f.log] {
			settled := e.At.Add(m.options.Settle + m.options.Precision).Before(time.Now().Add(-interval))
			if e.inTime && settled && key >= f.begin && !slices.Contains(f.got, key) {
				m.Fatalf("tail of %s did not return %s", f.log, key)
			}
		}
	}
}
