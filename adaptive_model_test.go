package heatsink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// adaptiveShape is a kind of collection with Adaptive.
type adaptiveShape struct {
	table   func(*dynamodb.CreateTableInput)
	options Options
	sort    types.ScalarAttributeType // of the sort key; "" is a string
}

func typedSort(kind types.ScalarAttributeType) func(*dynamodb.CreateTableInput) {
	return func(in *dynamodb.CreateTableInput) { in.AttributeDefinitions[1].AttributeType = kind }
}

var adaptiveShapes = map[string]adaptiveShape{
	"random":               {},
	"calculated":           {options: Options{Layout: layout.Layout{Strategy: layout.Calculated}}},
	"calculated by v":      {options: Options{Layout: layout.Layout{Strategy: layout.Calculated, Hash: layout.CRC32}, ShardBy: []string{"who", "sk"}}},
	"numbers":              {table: typedSort("N"), sort: "N"},
	"bytes":                {table: typedSort("B"), sort: "B"},
	"days":                 {options: Options{Layout: layout.Layout{Bucket: layout.Day}, EventTime: EventTime{Attribute: "at", Unit: UnixSeconds}}},
	"calculated hours":     {options: Options{Layout: layout.Layout{Strategy: layout.Calculated, Bucket: layout.Hour}, EventTime: EventTime{Attribute: "at", Unit: UnixSeconds}}},
	"older":                {options: Options{Older: []layout.Layout{{Shards: 4}}}},
	"older calculated":     {options: Options{Layout: layout.Layout{Strategy: layout.Calculated}, Older: []layout.Layout{{Shards: 4, Strategy: layout.Calculated}}}},
	"control table":        {options: Options{ControlTable: "control"}},
	"ttl":                  {options: Options{TTL: "ttl"}},
	"index":                {table: byIndex(false), options: Options{Index: Index{Name: "listing"}, Layout: layout.Layout{Strategy: layout.Calculated}}},
	"index with shard":     {table: byIndex(true), options: Options{Index: Index{Name: "listing", ShardAttribute: "shard"}, Layout: layout.Layout{Strategy: layout.Calculated}}},
	"index of days":        {table: byIndex(false), options: Options{Index: Index{Name: "listing"}, Layout: layout.Layout{Strategy: layout.Calculated, Bucket: layout.Day}, EventTime: EventTime{Attribute: "at", Unit: UnixSeconds}}},
	"index, and versions":  {table: byIndex(false), options: Options{Index: Index{Name: "listing"}, Layout: layout.Layout{Strategy: layout.Calculated}, Version: "version", TTL: "ttl"}},
	"custom keys, by name": {options: Options{Name: "my.orders", Layout: layout.Layout{Format: layout.Format{ShardPrefix: "~", Width: 3}}}},
}

// TestAdaptiveModel compares collections of several processes, whose keys grow all the time, with a map. Whatever happens: a
// strong or causal read returns all that it promises, once and in order, and nothing else.
func TestAdaptiveModel(t *testing.T) { testAdaptiveModel(t, 0) }

// TestAdaptiveModelUnderFaults is the same on a network that throttles, loses answers, and delivers requests late.
func TestAdaptiveModelUnderFaults(t *testing.T) { testAdaptiveModel(t, 15) }

func testAdaptiveModel(t *testing.T, percent int) {
	names := slices.Sorted(maps.Keys(adaptiveShapes))
	clients := map[string]*dynamodb.Client{}
	for _, name := range names {
		client := startWith(t, local.Options{}).Client()
		edits := []func(*dynamodb.CreateTableInput){}
		if edit := adaptiveShapes[name].table; edit != nil {
			edits = append(edits, edit)
		}
		makeTable(t, client, "items", edits...)
		if err := SetupControlTable(t.Context(), client, "control"); err != nil {
			t.Fatal(err)
		}
		clients[name] = client
	}
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		name := rapid.SampledFrom(names).Draw(rt, "shape")
		m := &adaptiveModel{
			T: rt, t: t, shape: adaptiveShapes[name], direct: clients[name], key: fmt.Sprint("key-", run), percent: percent,
			states: map[int]possible{}, times: map[int]time.Time{}, writers: map[int]int{}, generations: map[int]int64{},
		}
		m.index = m.shape.options.Index.Name != ""
		m.run()
	})
}

type adaptiveModel struct {
	*rapid.T
	t       *testing.T
	shape   adaptiveShape
	index   bool // an index lists the items
	direct  *dynamodb.Client
	client  *faulty.Client
	key     string
	percent int  // of requests that go wrong
	appends bool // requests may arrive late, so that nothing is changed or deleted

	processes []*adaptiveProcess
	opened    int
	states    map[int]possible  // by sort key: the versions that may be there
	times     map[int]time.Time // by sort key
	writers   map[int]int       // the process that has put it last
	// generations are what Put said. A sort key without one was put in another way.
	generations map[int]int64
	writes      int
}

type adaptiveProcess struct {
	*Collection[Item]
	number int
	fresh  bool // it reads the ledger for each eventual read
}

func (p *adaptiveProcess) String() string { return fmt.Sprint("process ", p.number) }

func (m *adaptiveModel) run() {
	var faults faulty.Decide
	if m.percent > 0 {
		m.appends = rapid.Bool().Draw(m.T, "late")
		kinds := []faulty.Fault{faulty.Throttled, faulty.ThrottledOnDemand, faulty.Unreached, faulty.LostRequest, faulty.LostAnswer, faulty.BrokeDown, faulty.Partly}
		if m.appends {
			kinds = append(kinds, faulty.Late, faulty.Late)
		}
		faults = faulty.Random(rand.New(rand.NewPCG(1, rapid.Uint64().Draw(m.T, "seed"))), m.percent, kinds...)
	}
	m.client = faulty.On(m.T, m.direct, faults)
	m.client.Delay(faulty.UpTo(rand.New(rand.NewPCG(2, 2)), time.Millisecond).Of(faulty.Late))
	for range 3 {
		m.processes = append(m.processes, m.open())
	}
	if len(m.shape.options.Older) > 0 && rapid.Bool().Draw(m.T, "older items") {
		m.putOlder()
	}
	for range rapid.IntRange(1, 30).Draw(m.T, "steps") {
		m.step()
	}
	for _, mode := range []string{"strong", "eventual"} {
		m.query(mode)
	}
}

func (m *adaptiveModel) open() *adaptiveProcess {
	m.opened++
	o := m.shape.options
	o.Adaptive = &Adaptive{}
	p := &adaptiveProcess{number: m.opened, fresh: rapid.Bool().Draw(m.T, "keeps nothing")}
	if p.fresh {
		o.Adaptive.Keep = time.Nanosecond
	}
	o.Retry = Retry{Attempts: 5, Base: time.Microsecond, Max: 50 * time.Microsecond, Burst: 1000}
	p.Collection = openItems(m.t, m.client, o)
	return p
}

func (m *adaptiveModel) process() *adaptiveProcess {
	return rapid.SampledFrom(m.processes).Draw(m.T, "process")
}

func (m *adaptiveModel) step() {
	switch rapid.IntRange(0, 13).Draw(m.T, "step") {
	case 0, 1:
		m.grow()
	case 2:
		i := rapid.IntRange(0, len(m.processes)-1).Draw(m.T, "restarted")
		m.processes[i] = m.open()
	case 3:
		m.batchPut()
	case 4:
		m.transactPut()
	case 5:
		m.update()
	case 6:
		m.delete()
	case 7:
		m.get()
	case 8:
		m.query(rapid.SampledFrom([]string{"strong", "causal", "eventual"}).Draw(m.T, "mode"))
	case 9:
		m.count()
	default:
		m.put()
	}
}

// item returns an item with a sort key and a version.
func (m *adaptiveModel) item(n, version int) Item {
	item := Item{"pk": text(m.key), "sk": m.sortOf(n), "v": number(fmt.Sprint(version)), "who": text(fmt.Sprint("w", n%3))}
	if m.index {
		item["id"] = text(fmt.Sprint(m.key, "/", n))
	}
	if at, ok := m.times[n]; ok {
		item["at"] = number(fmt.Sprint(at.Unix()))
	}
	return item
}

func (m *adaptiveModel) sortOf(n int) types.AttributeValue {
	switch m.shape.sort {
	case "N":
		return number(fmt.Sprint(n - 20))
	case "B":
		return &types.AttributeValueMemberB{Value: []byte{byte(n >> 8), byte(n)}}
	}
	return text(fmt.Sprintf("s-%04d", n))
}

// new returns a sort key that was not used, with a time.
func (m *adaptiveModel) new() int {
	n := len(m.states)
	m.states[n] = possible{0: true}
	if m.shape.options.EventTime.Attribute != "" {
		m.times[n] = baseTime.Add(time.Duration(rapid.IntRange(0, 3*86400-1).Draw(m.T, "second")) * time.Second)
		if m.shape.options.Layout.Bucket == layout.Hour {
			m.times[n] = baseTime.Add(m.times[n].Sub(baseTime) / 24)
		}
	}
	return n
}

var baseTime = time.Date(2024, 12, 2, 0, 0, 0, 0, time.UTC)

// some draws a sort key that was used, false if none was.
func (m *adaptiveModel) some() (int, bool) {
	if len(m.states) == 0 {
		return 0, false
	}
	return rapid.IntRange(0, len(m.states)-1).Draw(m.T, "sort"), true
}

// settle takes note of what an answer means.
func (m *adaptiveModel) settle(n, version int, err error) {
	_, open := errors.AsType[*UnknownOutcomeError](err)
	switch {
	case err == nil:
		m.states[n] = possible{version: true}
	case open:
		m.states[n][version] = true
	default:
		m.expected(err)
	}
}

// expected fails the test if an error has no cause.
func (m *adaptiveModel) expected(err error) {
	if m.percent == 0 || errors.Is(err, ErrLedgerLost) || errors.Is(err, ErrItem) || errors.Is(err, ErrOptions) || errors.Is(err, ErrCharter) {
		m.Fatalf("got %v", err)
	}
}

// putOlder stores items under the older layout, as a process did before.
func (m *adaptiveModel) putOlder() {
	o := m.shape.options
	o.Layout, o.Older = o.Older[0], nil
	before := openItems(m.t, m.direct, o)
	for range 6 {
		n := m.new()
		m.writes++
		_, err := before.Put(context.Background(), m.item(n, m.writes))
		m.settle(n, m.writes, err)
	}
}

func (m *adaptiveModel) put() {
	n := -1
	if m.index && rapid.Bool().Draw(m.T, "again") && !m.appends {
		if old, ok := m.some(); ok {
			n = old
		}
	}
	if n < 0 {
		n = m.new()
	}
	m.writes++
	version, item := m.writes, m.item(n, m.writes)
	if m.shape.options.TTL != "" && rapid.IntRange(0, 4).Draw(m.T, "expired") == 0 && m.shape.options.Version == "" {
		item["ttl"], version = number(fmt.Sprint(time.Now().Unix()-3600)), 0
	}
	p := m.process()
	done, err := p.Put(context.Background(), item)
	m.settle(n, version, err)
	delete(m.generations, n)
	if err == nil {
		m.writers[n], m.generations[n] = p.number, done.Generation
	}
}

func (m *adaptiveModel) batchPut() {
	var items []Item
	var sorts []int
	first := m.writes
	for range rapid.IntRange(1, 30).Draw(m.T, "batch") {
		m.writes++
		sorts = append(sorts, m.new())
		items = append(items, m.item(sorts[len(sorts)-1], m.writes))
	}
	p := m.process()
	errs := make([]error, len(items))
	if err := p.BatchPut(context.Background(), items); err != nil {
		failed, ok := err.(*BatchError)
		if !ok {
			m.Fatalf("got %v, want a BatchError", err)
		}
		for _, f := range failed.Failed {
			errs[f.Position] = f.Err
		}
	}
	for i, n := range sorts {
		m.settle(n, first+1+i, errs[i])
		if errs[i] == nil {
			m.writers[n] = p.number
		}
	}
}

func (m *adaptiveModel) transactPut() {
	if m.shape.options.Version != "" {
		return
	}
	n, p := m.new(), m.process()
	m.writes++
	part, err := p.TransactPut(context.Background(), m.item(n, m.writes))
	if err == nil {
		_, err = m.direct.TransactWriteItems(context.Background(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{part}})
		if err != nil {
			m.Fatal(err)
		}
	}
	m.settle(n, m.writes, err)
	if err == nil {
		m.writers[n] = p.number
	}
}

func (m *adaptiveModel) update() {
	n, ok := m.some()
	if !ok || m.appends {
		return
	}
	m.writes++
	p := m.process()
	_, err := p.Update(context.Background(), m.like(n), func(in *dynamodb.UpdateItemInput) {
		in.UpdateExpression = aws.String("SET v = :v")
		in.ExpressionAttributeValues = ov(":v", m.writes)
	})
	if errors.Is(err, ErrNotFound) {
		m.absent(n, "update")
		return
	}
	m.settle(n, m.writes, err)
	if err == nil && m.index {
		m.writers[n] = p.number // it lists the item anew
		delete(m.generations, n)
	}
}

// like returns what Update, Get and Delete need.
func (m *adaptiveModel) like(n int) Item {
	like := m.item(n, 0)
	delete(like, "v")
	return like
}

// absent takes note that an operation has found nothing.
func (m *adaptiveModel) absent(n int, operation string) {
	if !m.states[n][0] {
		m.Fatalf("%s does not find %d, which can only be %v", operation, n, m.states[n])
	}
	m.states[n] = possible{0: true}
}

func (m *adaptiveModel) delete() {
	n, ok := m.some()
	if !ok || m.appends {
		return
	}
	p := m.process()
	settle := func(n int, err error) {
		if errors.Is(err, ErrNotFound) {
			m.absent(n, "delete")
			return
		}
		m.settle(n, 0, err)
	}
	if rapid.Bool().Draw(m.T, "one") {
		_, err := p.Delete(context.Background(), m.like(n))
		settle(n, err)
		return
	}
	var likes []Item
	last := min(n+rapid.IntRange(1, 6).Draw(m.T, "deleted"), len(m.states))
	for i := n; i < last; i++ {
		likes = append(likes, m.like(i))
	}
	errs := make([]error, len(likes))
	if err := p.BatchDelete(context.Background(), likes); err != nil {
		failed, ok := err.(*BatchError)
		if !ok {
			m.Fatalf("got %v, want a BatchError", err)
		}
		for _, f := range failed.Failed {
			errs[f.Position] = f.Err
		}
	}
	for i, err := range errs {
		settle(n+i, err)
	}
}

// get reads by key. A strong read finds what was acknowledged; another one what its own process has put.
func (m *adaptiveModel) get() {
	n, ok := m.some()
	if !ok {
		return
	}
	p, strong := m.process(), rapid.Bool().Draw(m.T, "strong")
	var item Item
	var err error
	if rapid.Bool().Draw(m.T, "batch") {
		strong = false
		var items []Item
		items, err = p.BatchGet(context.Background(), []Item{m.like(n)})
		if item = items[0]; err != nil {
			err = err.(*BatchError).Failed[0].Err
		}
	} else {
		item, err = p.Get(context.Background(), m.like(n), func(in *dynamodb.GetItemInput) { in.ConsistentRead = &strong })
	}
	version := 0
	switch {
	case err == nil:
		version = m.clean(item)
	case !errors.Is(err, ErrNotFound):
		m.expected(err)
		return
	}
	if m.states[n][version] || version == 0 && !m.certain(p, n, strong || m.index) {
		return
	}
	m.Fatalf("get %d by process %d, strong %v: got version %d, %v, want one of %v", n, p.number, strong, version, err, m.states[n])
}

// certain reports whether a read of a process must have an item that was acknowledged.
func (m *adaptiveModel) certain(p *adaptiveProcess, n int, strong bool) bool {
	return strong || m.writers[n] == p.number || p.fresh && m.percent == 0 || m.writers[n] == 0
}

// clean checks that an item has nothing of heatsink's in it, and returns its version.
func (m *adaptiveModel) clean(item Item) (version int) {
	for name := range item {
		if strings.HasPrefix(name, "_hs_") || name == "shard" {
			m.Fatalf("an item has the attribute %q: %s", name, showItem(item))
		}
	}
	if got := attrText(item, "pk"); got != m.key {
		m.Fatalf("the key is %q, want %q", got, m.key)
	}
	fmt.Sscan(attrText(item, "v"), &version)
	return version
}

func (m *adaptiveModel) grow() {
	to := 1 << rapid.IntRange(0, 4).Draw(m.T, "log width")
	if m.shape.options.Layout.Strategy == layout.Random {
		to += rapid.IntRange(0, 2).Draw(m.T, "more")
	}
	var at time.Time
	if m.shape.options.EventTime.Attribute != "" {
		if at = baseTime; len(m.times) > 0 {
			at = m.times[rapid.IntRange(0, len(m.times)-1).Draw(m.T, "bucket")]
		}
	}
	before, failed := m.processes[0].Ledgers().Show(context.Background(), m.key, at)
	grown, err := m.process().Ledgers().Grow(context.Background(), m.key, at, to, "the model")
	if err != nil {
		m.expected(err)
		return
	}
	after, err := m.processes[1].Ledgers().Show(context.Background(), m.key, at)
	if grown.Width.Write < to || failed == nil && err == nil && (after.Width.Read < max(before.Width.Read, to) || after.Generation < before.Generation) {
		m.Fatalf("grown to %d: got %+v after %+v, and it is %+v", to, grown, before, after)
	}
}

// order sorts as a query does.
func (m *adaptiveModel) order(a, b int) int {
	bucket := m.shape.options.Layout.Bucket
	if bucket == layout.NoBucket {
		return cmp.Compare(a, b)
	}
	return cmp.Or(bucket.Start(m.times[a]).Compare(bucket.Start(m.times[b])), cmp.Compare(a, b))
}

// query reads everything, whole or in pages of several processes, between which the key may grow.
func (m *adaptiveModel) query(mode string) {
	p := m.process()
	q := Query{Key: m.key, Reverse: rapid.Bool().Draw(m.T, "reverse"), Hedge: rapid.IntRange(0, 3).Draw(m.T, "hedge") == 0}
	if m.shape.options.EventTime.Attribute != "" {
		q.From, q.To = baseTime, baseTime.AddDate(0, 0, 3)
	}
	if m.index {
		mode = "eventual"
	}
	switch mode {
	case "strong":
		q.Consistent = true
	case "causal":
		for _, g := range m.generations {
			q.AtLeast = max(q.AtLeast, g)
		}
		if q.AtLeast = rapid.Int64Range(0, q.AtLeast).Draw(m.T, "at least"); q.AtLeast == 0 || !q.From.IsZero() {
			return
		}
	}
	if rapid.IntRange(0, 3).Draw(m.T, "projected") == 0 {
		q.Projection = "v"
	}
	must := m.promised(p, q)
	var got []Item
	var err error
	if size := rapid.IntRange(0, 6).Draw(m.T, "page size"); size > 0 {
		q.Limit = size
		got, err = m.pages(q, p, mode, must)
	} else {
		got, err = p.everything(q)
	}
	if len(m.shape.options.Older) > 0 && errors.Is(err, ErrToken) {
		return // a shard of the older layout became one of the layout itself, which is not at the same place in the order
	}
	if err != nil {
		m.expected(err)
		return
	}
	m.compare(q, fmt.Sprint(mode, " read of process ", p.number), got, must)
}

func (p *adaptiveProcess) everything(q Query) (items []Item, err error) {
	for item, err := range p.Query(context.Background(), q) {
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// promised returns the sort keys that a read must have.
func (m *adaptiveModel) promised(p *adaptiveProcess, q Query) map[int]bool {
	must := map[int]bool{}
	for n, state := range m.states {
		if state[0] {
			continue
		}
		generation, known := m.generations[n]
		switch {
		case q.AtLeast > 0:
			must[n] = known && generation <= q.AtLeast || m.writers[n] == p.number || m.writers[n] == 0
		default:
			must[n] = m.certain(p, n, q.Consistent)
		}
	}
	return must
}

// pages reads in pages, by other processes if every one of them promises the same. The key may grow between two.
func (m *adaptiveModel) pages(q Query, p *adaptiveProcess, mode string, must map[int]bool) (items []Item, err error) {
	for token := ""; ; {
		page, err := p.Page(context.Background(), q, token)
		if err != nil {
			return nil, err
		}
		if len(page.Items) > q.Limit {
			m.Fatalf("a page of %d items, want %d at most", len(page.Items), q.Limit)
		}
		items = append(items, page.Items...)
		if token = page.Next; token == "" {
			return items, nil
		}
		if rapid.IntRange(0, 3).Draw(m.T, "grows between") == 0 {
			m.grow()
		}
		if mode == "strong" {
			p = m.process()
		}
	}
}

// compare checks what was read.
func (m *adaptiveModel) compare(q Query, what string, got []Item, must map[int]bool) {
	var order []int
	byText := map[string]int{}
	for n := range m.states {
		byText[attrText(Item{"sk": m.sortOf(n)}, "sk")] = n
	}
	seen := map[int]bool{}
	for _, item := range got {
		if q.Projection != "" {
			if len(item) != 1 {
				m.Fatalf("%s: got %s, want v alone", what, showItem(item))
			}
			continue
		}
		n, ok := byText[attrText(item, "sk")]
		if version := m.clean(item); !ok || !m.states[n][version] {
			m.Fatalf("%s: got %s, want one of %v", what, showItem(item), m.states[n])
		}
		if seen[n] {
			m.Fatalf("%s: %d is there twice", what, n)
		}
		seen[n] = true
		order = append(order, n)
	}
	if q.Projection != "" {
		if len(got) < promises(must) || len(got) > len(m.states) {
			m.Fatalf("%s: got %d items, want at least %d", what, len(got), promises(must))
		}
		return
	}
	if q.Reverse {
		slices.Reverse(order)
	}
	if !slices.IsSortedFunc(order, m.order) {
		m.Fatalf("%s: out of order: %v", what, order)
	}
	for n := range must {
		if must[n] && !seen[n] {
			m.Fatalf("%s: %d is missing, which can only be %v; got %v", what, n, m.states[n], order)
		}
	}
}

func promises(must map[int]bool) (n int) {
	for _, yes := range must {
		if yes {
			n++
		}
	}
	return n
}

// count compares Count and Fold with what may be there.
func (m *adaptiveModel) count() {
	p, q := m.process(), Query{Key: m.key, Consistent: !m.index && rapid.Bool().Draw(m.T, "consistent")}
	if m.shape.options.EventTime.Attribute != "" {
		q.From, q.To = baseTime, baseTime.AddDate(0, 0, 3)
	}
	least, most := promises(m.promised(p, q)), 0
	for _, state := range m.states {
		if !state[0] || len(state) > 1 {
			most++
		}
	}
	counted, err := p.Count(context.Background(), q)
	if err != nil {
		m.expected(err)
	} else if counted < least || counted > most {
		m.Fatalf("process %d counts %d, want %d to %d", p.number, counted, least, most)
	}
	folded, err := Fold(context.Background(), p.Collection, q, func() int { return 0 },
		func(sum int, item Item) int { m.clean(item); return sum + 1 }, func(a, b int) int { return a + b })
	if err != nil {
		m.expected(err)
	} else if folded < least || folded > most {
		m.Fatalf("process %d folds %d, want %d to %d", p.number, folded, least, most)
	}
}
