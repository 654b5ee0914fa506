package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

var (
	bare    = layout.Layout{Strategy: layout.Calculated}
	sixteen = layout.Layout{Strategy: layout.Calculated, Shards: 16}
	others  = layout.Layout{Strategy: layout.Calculated, Shards: 5, Hash: layout.FNV, Format: layout.SharpNumber()}
)

// movable returns the options of a movable collection.
func movable(now layout.Layout) heatsink.Options {
	return heatsink.Options{Table: table, PartitionKey: "pk", SortKey: "sk", Movable: true, Layout: now}
}

// Items that are found by their ids move from the bare key to 16 shards.
func TestByID(t *testing.T) {
	var r shapeResult
	bubble.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fillIDs(bare, *items)
		w.startIDs(bare)
		w.quiet()
		m := w.move(move.Options{Collection: movable(bare), To: sixteen})
		w.stop()
		w.checkIDs(m, sixteen)
		if err := m.Finish(w.ctx); err != nil {
			w.wrong("finish: %v", err)
		}
		r = w.sum()
	})
	writeResult(t, r)
	judgeShape(t, r)
}

func keyOf(i int) string { return fmt.Sprintf("KEY%d", i%keys) }

// fillIDs creates the table with its items, and some ids that are not there yet.
func (w *world) fillIDs(now layout.Layout, n int) {
	if err := w.db.CreateTable(w.ctx, table, "pk", "sk"); err != nil {
		w.Fatal(err)
	}
	c, err := heatsink.Open[heatsink.Item](w.db.Client(), movable(now))
	if err != nil {
		w.Fatal(err)
	}
	var batch []heatsink.Item
	for i := range n + n/10 {
		at := name{keyOf(i), fmt.Sprintf("id-%06d", i)}
		value := 0
		if i < n {
			value = w.value()
			batch = append(batch, w.item(at, value))
		}
		w.add(at, value)
	}
	for i := range sharedIDs {
		at := name{keyOf(i), fmt.Sprintf("shared-%02d", i)}
		w.counts[at.id] = &tally{name: at}
		batch = append(batch, heatsink.Item{"pk": text(at.key), "sk": text(at.id), "value": number(0)})
	}
	if err := c.BatchPut(w.ctx, batch); err != nil {
		w.Fatal(err)
	}
	w.result.Items = n
}

func (w *world) item(at name, value int) heatsink.Item {
	return heatsink.Item{"pk": text(at.key), "sk": text(at.id), "value": number(value), "text": text("some text that is part of each item")}
}

// startIDs starts the processes of users.
func (w *world) startIDs(now layout.Layout) {
	for range idProcesses {
		p := &process{w, w.open(movable(now)), w.ctx}
		w.user(idProcesses, p.act)
		w.lister(p.list)
	}
}

// process is one program with items by id.
type process struct {
	*world
	c   *heatsink.Collection[heatsink.Item]
	ctx context.Context
}

// tally is an item that all processes add to at the same time.
type tally struct {
	name
	mu             sync.Mutex
	started, acked int
	unknown        int
}

func (y *tally) start() {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.started++
}

func (y *tally) now() (started, acked int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.started, y.acked
}

// pick returns one of all ids, and one of a few every second time.
func (p *process) pick(random *rand.Rand) *cell {
	n := len(p.cells)
	if random.IntN(2) == 0 {
		n = min(max(n/20, 10), 200)
	}
	return p.cells[random.IntN(n)]
}

// act does one thing that a user does.
func (p *process) act(random *rand.Rand) {
	switch n := random.IntN(10); {
	case n < 4:
		p.get(p.pick(random))
	case n == 4 && random.IntN(4) == 0:
		p.page(random)
	case n == 4:
		p.share(random)
	default:
		p.change(random, p.pick(random))
	}
}

func like(at name) heatsink.Item { return heatsink.Item{"pk": text(at.key), "sk": text(at.id)} }

func strong(in *dynamodb.GetItemInput) { in.ConsistentRead = aws.Bool(true) }

// killed reports whether an operation has failed because its process was killed. Any other error is a fault.
func (p *process) killed(what string, at name, err error) bool {
	if p.ctx.Err() == nil {
		p.fail("%s of %v: %v", what, at, err)
	}
	return p.ctx.Err() != nil
}

// get reads an id, and compares.
func (p *process) get(c *cell) (value int, ok bool) {
	r := p.read(c)
	var item heatsink.Item
	err := p.call("get", func() (err error) {
		item, err = p.c.Get(p.ctx, like(c.name), strong)
		return ignoreMissing(err)
	})
	if err != nil {
		p.abandon(r)
		p.killed("get", c.name, err)
		return 0, false
	}
	p.checked()
	value = valueOf(item)
	return value, p.saw(r, value)
}

// ignoreMissing makes an item that is not there no error.
func ignoreMissing(err error) error {
	if errors.Is(err, heatsink.ErrNotFound) {
		return nil
	}
	return err
}

func conditionFailed(err error) bool {
	_, failed := errors.AsType[*types.ConditionalCheckFailedException](err)
	return failed
}

// change reads an id and changes it in one of many ways.
func (p *process) change(random *rand.Rand, c *cell) {
	if !p.claim(c) {
		return
	}
	defer p.release(c)
	was, ok := p.get(c)
	if !ok {
		return
	}
	p.settle(c, was)
	switch n := random.IntN(6); n {
	case 0:
		p.write(of("put", was), c, p.value(), func(value int) error {
			_, err := p.c.Put(p.ctx, p.item(c.name, value))
			return err
		})
	case 1: // a create, which is refused if there is an item
		err := p.write(of("put if absent", was), c, p.value(), func(value int) error {
			_, err := p.c.Put(p.ctx, p.item(c.name, value), func(in *dynamodb.PutItemInput) {
				in.ConditionExpression = aws.String("attribute_not_exists(pk)")
			})
			return err
		})
		if p.ctx.Err() == nil && conditionFailed(err) != (was != 0) {
			p.fail("create of %v, which is %d: %v", c.name, was, err)
		}
	case 2:
		p.write(of("update", was), c, was+added, func(int) error { // which creates an item that is not there
			_, err := p.c.Update(p.ctx, like(c.name), add(added))
			return err
		})
	case 3:
		p.write(of("delete", was), c, 0, func(int) error {
			_, err := p.c.Delete(p.ctx, like(c.name))
			return err
		})
	case 4: // a put that wants the value that is there, or another one
		expected := was + random.IntN(2)
		err := p.write(of("put if equal", was), c, p.value(), func(value int) error {
			_, err := p.c.Put(p.ctx, p.item(c.name, value), func(in *dynamodb.PutItemInput) {
				in.ConditionExpression, in.ExpressionAttributeNames = aws.String("#v = :was"), map[string]string{"#v": "value"}
				in.ExpressionAttributeValues = heatsink.Item{":was": number(expected)}
			})
			return err
		})
		if p.ctx.Err() == nil && conditionFailed(err) == (was != 0 && expected == was) {
			p.fail("put of %v if it is %d, which is %d: %v", c.name, expected, was, err)
		}
	case 5:
		p.transfer(random, c, was)
	}
}

// of returns the kind of a write, by what the id was before.
func of(what string, was int) string {
	if was == 0 {
		return what + absentID
	}
	return what
}

// write sends a write to an id, and notes what became of it.
func (p *process) write(what string, c *cell, value int, send func(value int) error) error {
	p.begin(c, value)
	err := p.call(what, func() error { return send(value) })
	p.end(c, p.outcome(what, c.name, err))
	return err
}

func (p *process) outcome(what string, at name, err error) outcome {
	switch {
	case err == nil:
		return done
	case conditionFailed(err):
		return refused
	}
	p.killed(what, at, err)
	return unknown
}

// add adds to the value.
func add(n int) func(*dynamodb.UpdateItemInput) {
	return func(in *dynamodb.UpdateItemInput) {
		in.UpdateExpression, in.ExpressionAttributeNames = aws.String("ADD #v :n"), map[string]string{"#v": "value"}
		in.ExpressionAttributeValues = heatsink.Item{":n": number(n)}
	}
}

// added is so much that no item comes to 0 by transfers.
const added = 1_000_000

// transfer takes 3 from one id and gives it to another, in a transaction. One of the ids may not be there: then nothing happens.
func (p *process) transfer(random *rand.Rand, from *cell, was int) {
	to := p.pick(random)
	if to == from || !p.claim(to) {
		return
	}
	defer p.release(to)
	had, ok := p.get(to)
	if !ok {
		return
	}
	p.settle(to, had)
	var t heatsink.Transaction
	for n, c := range map[int]*cell{-3: from, 3: to} {
		part, err := p.c.TransactUpdate(p.ctx, like(c.name), func(u *types.Update) {
			u.UpdateExpression, u.ConditionExpression = aws.String("ADD #v :n"), aws.String("attribute_exists(pk)")
			u.ExpressionAttributeNames, u.ExpressionAttributeValues = map[string]string{"#v": "value"}, heatsink.Item{":n": number(n)}
		})
		if err != nil {
			p.killed("a part of a transaction", c.name, err)
			return
		}
		t.Add(p.c, part)
	}
	p.begin(from, was-3)
	p.begin(to, had+3)
	err := p.call(of("transaction", min(was, had)), func() error { return t.Write(p.ctx) })
	_, canceled := errors.AsType[*types.TransactionCanceledException](err)
	became := done
	switch there := was != 0 && had != 0; {
	case canceled:
		if became = refused; there {
			p.fail("a transaction on %v and %v, which are there: %v", from.name, to.name, err)
		}
	case err != nil:
		became = unknown
		p.killed("a transaction", from.name, err)
	case !there:
		p.fail("a transaction on %v and %v, which are %d and %d, succeeds", from.name, to.name, was, had)
	}
	p.end(from, became)
	p.end(to, became)
}

// share adds 1 to an item that others add to at the same time, or reads it.
func (p *process) share(random *rand.Rand) {
	y := p.counts[fmt.Sprintf("shared-%02d", random.IntN(sharedIDs))]
	if random.IntN(2) == 0 {
		_, least := y.now()
		var item heatsink.Item
		err := p.call("get", func() (err error) {
			item, err = p.c.Get(p.ctx, like(y.name), strong)
			return err
		})
		if err != nil {
			p.killed("get", y.name, err)
			return
		}
		p.checked()
		if most, _ := y.now(); valueOf(item) < least || valueOf(item) > most {
			p.oracle.mu.Lock()
			p.faults.note(&p.faults.Stale, "%v is %d, want %d to %d", y.name, valueOf(item), least, most)
			p.oracle.mu.Unlock()
		}
		return
	}
	y.start()
	err := p.call("update", func() error {
		_, err := p.c.Update(p.ctx, like(y.name), add(1))
		return err
	})
	y.mu.Lock()
	defer y.mu.Unlock()
	if err == nil {
		y.acked++
	} else {
		y.unknown++
		p.killed("an addition", y.name, err)
	}
}

// page reads fifty items of a key, somewhere. Whole lists show whether all are there.
func (p *process) page(random *rand.Rand) {
	c := p.pick(random)
	last := c.id
	var page heatsink.Page[heatsink.Item]
	err := p.call("page", func() (err error) {
		page, err = p.c.Page(p.ctx, heatsink.Query{Key: c.key, Consistent: true, Limit: 50, Sort: heatsink.Greater(c.id)}, "")
		return err
	})
	if err != nil {
		p.killed("a page", c.name, err)
		return
	}
	for _, item := range page.Items {
		id := textOf(item, "sk")
		if id <= last {
			p.fail("a page of %q behind %q has %q behind %q", c.key, c.id, id, last)
			return
		}
		last = id
	}
}

// list reads all items of a key, and compares.
func (p *process) list(random *rand.Rand) {
	key := keyOf(random.IntN(keys))
	s := p.survey(key)
	var all []shown
	for item, err := range p.c.Query(p.ctx, heatsink.Query{Key: key, Consistent: true}) {
		if err != nil {
			p.forget(s)
			p.killed("a list", name{key: key}, err)
			return
		}
		all = append(all, shown{textOf(item, "sk"), valueOf(item)})
	}
	strangers := p.listed(s, all)
	if want := sharedIDs / keys; strangers != want {
		p.fail("a list of %q has %d ids that all processes add to, want %d", key, strangers, want)
	}
	p.sums.Lock()
	defer p.sums.Unlock()
	p.result.Lists++
	p.result.Listed += len(all)
}

// checkIDs compares everything that is stored with what was acknowledged.
func (w *world) checkIDs(m *move.Mover, now layout.Layout) {
	w.verify(m)
	stored := map[string][]shown{}
	w.scan(func(item heatsink.Item) {
		pk, sk := textOf(item, "pk"), textOf(item, "sk")
		if layout.IsControl(pk) {
			return
		}
		at, err := now.Parse(pk)
		if err != nil || item["_hs_f"] != nil || item["_hs_d"] != nil || at.Shard != now.WithShards(max(now.Shards, 1)).Shard(sk) {
			w.Logf("left: %v", item)
			w.result.Left++
			return
		}
		if y := w.counts[sk]; y != nil {
			if v := valueOf(item); v < y.acked || v > y.acked+y.unknown {
				w.wrong("%v is %d in the end, want %d", y.name, v, y.acked)
			}
			return
		}
		stored[at.Key] = append(stored[at.Key], shown{sk, valueOf(item)})
	})
	for i := range keys {
		w.result.Left += w.whole(keyOf(i), stored[keyOf(i)])
	}
}
