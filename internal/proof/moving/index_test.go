package main

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// orders returns the options of orders that an index lists by their status.
func orders(now layout.Layout, older ...layout.Layout) heatsink.Options {
	return heatsink.Options{
		Table: table, PartitionKey: "id", Layout: now, Older: older,
		Index: heatsink.Index{Name: "byStatus", PartitionKey: "status", SortKey: "created"},
	}
}

// A listing by status moves from the bare status to 16 shards.
func TestIndex(t *testing.T) {
	var r shapeResult
	bubble.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fillOrders(*items)
		both := orders(sixteen, layout.Layout{})
		for range idProcesses {
			o := &shop{process{w, w.open(both), w.ctx}}
			w.user(idProcesses, o.act)
		}
		for _, status := range statuses {
			l := &listing{process: process{w, w.open(both), w.ctx}, status: status}
			w.lister(l.list)
		}
		w.quiet()
		m := w.move(move.Options{Collection: both})
		w.stop()
		w.checkOrders(m)
		r = w.sum()
	})
	writeResult(t, r)
	judgeShape(t, r)
}

var statuses = [2]string{"OPEN", "CLOSED"}

// statusOf returns the status of an order, which its value tells.
func statusOf(value int) string { return statuses[value%2] }

func (w *world) fillOrders(n int) {
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
	}
	_, err := w.db.Client().CreateTable(w.ctx, &dynamodb.CreateTableInput{
		TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{attribute("id"), attribute("status"), attribute("created")},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byStatus"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String("status"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("created"), KeyType: types.KeyTypeRange},
			},
		}},
	})
	if err != nil {
		w.Fatal(err)
	}
	c, err := heatsink.Open[heatsink.Item](w.db.Client(), orders(layout.Layout{}))
	if err != nil {
		w.Fatal(err)
	}
	var batch []heatsink.Item
	for i := range n + n/10 {
		at := name{"", fmt.Sprintf("order-%06d", i)}
		value := 0
		if i < n {
			value = w.value() + i%2
			batch = append(batch, order(at, value))
		}
		w.add(at, value)
	}
	if err := c.BatchPut(w.ctx, batch); err != nil {
		w.Fatal(err)
	}
	w.result.Items = n
}

func order(at name, value int) heatsink.Item {
	return heatsink.Item{
		"id": text(at.id), "status": text(statusOf(value)), "created": text("since " + at.id), "value": number(value),
		"text": text("some text that is part of each order"),
	}
}

// shop is a program that changes orders.
type shop struct{ process }

func (p *shop) act(random *rand.Rand) {
	c := p.pick(random)
	if random.IntN(2) == 0 {
		p.get(c)
		return
	}
	if !p.claim(c) {
		return
	}
	defer p.release(c)
	was, ok := p.get(c)
	if !ok {
		return
	}
	p.settle(c, was)
	like := heatsink.Item{"id": text(c.id)}
	switch n := random.IntN(4); {
	case n == 0 || was == 0:
		p.write("put", c, p.value()+random.IntN(2), func(value int) error {
			_, err := p.c.Put(p.ctx, order(c.name, value))
			return err
		})
	case n == 1: // the listing stays as it is
		p.write("update", c, was+2, func(int) error {
			_, err := p.c.Update(p.ctx, like, add(2))
			return err
		})
	case n == 2: // another status
		p.write("update of the status", c, was+1, func(value int) error {
			_, err := p.c.Update(p.ctx, heatsink.Item{"id": text(c.id), "status": text(statusOf(value))}, add(1))
			return err
		})
	case n == 3:
		p.write("delete", c, 0, func(int) error {
			_, err := p.c.Delete(p.ctx, like)
			return err
		})
	}
}

// get reads an order, and compares its value and its status.
func (p *shop) get(c *cell) (value int, ok bool) {
	r := p.read(c)
	var item heatsink.Item
	err := p.call("get", func() (err error) {
		item, err = p.c.Get(p.ctx, heatsink.Item{"id": text(c.id)}, strong)
		return ignoreMissing(err)
	})
	if err != nil {
		p.abandon(r)
		p.killed("get", c.name, err)
		return 0, false
	}
	p.checked()
	value = valueOf(item)
	if item != nil && textOf(item, "status") != statusOf(value) {
		p.fail("order %q with the value %d has the status %q", c.id, value, textOf(item, "status"))
	}
	return value, p.saw(r, value)
}

// listing is a program that lists orders of one status. An order that moves during a listing may be missing from it, and is in the
// next one.
type listing struct {
	process
	status  string
	missing map[int]bool
}

func (l *listing) list(*rand.Rand) {
	s := l.survey("")
	var all []shown
	for item, err := range l.c.Query(l.ctx, heatsink.Query{Key: l.status}) {
		if err != nil {
			l.forget(s)
			l.killed("a list", name{key: l.status}, err)
			return
		}
		all = append(all, shown{textOf(item, "id"), valueOf(item)})
	}
	l.missing = l.listedIf(s, all, func(value int) bool { return value != 0 && statusOf(value) == l.status }, l.missing)
	l.sums.Lock()
	defer l.sums.Unlock()
	l.result.Lists++
	l.result.Listed += len(all)
}

// checkOrders compares everything that is stored with what was acknowledged, and with the listings of the new layout alone.
func (w *world) checkOrders(m *move.Mover) {
	report, err := m.Verify(w.ctx)
	if err != nil {
		w.wrong("verify: %v", err)
	}
	w.result.Damaged = report.Damaged()
	var stored []shown
	w.scan(func(item heatsink.Item) {
		if id := textOf(item, "id"); !layout.IsControl(id) {
			stored = append(stored, shown{id, valueOf(item)})
		}
	})
	w.result.Left += w.whole("", stored)
	var listed []shown
	c := w.open(orders(sixteen))
	for _, status := range statuses {
		for item, err := range c.Query(w.ctx, heatsink.Query{Key: status}) {
			if err != nil {
				w.Fatal(err)
			}
			if listed = append(listed, shown{textOf(item, "id"), valueOf(item)}); statusOf(valueOf(item)) != status {
				w.wrong("order %v is listed as %s", item, status)
			}
		}
	}
	w.result.Left += w.whole("", listed)
}
