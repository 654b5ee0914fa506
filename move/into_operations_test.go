package move_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/move"
)

// Each operation of a collection works at each stage of a move into another table, in programs with the old table and in those with the
// new one.
func TestOperationsBetweenTables(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := twoTables(t)
		programs := map[string]*heatsink.Collection[user]{"users": x.program(four)}
		x.fill(programs["users"], 30)
		o := move.Options{Collection: users(four), Into: newTable, WCU: 10, Segments: 2}
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		result, err := x.mover(o).Run(ctx)
		if ctx.Err() == nil || result.Moved == 0 || result.Moved == 30 {
			t.Fatalf("%+v, %v: want some moves", result, err)
		}
		programs[newTable] = x.in(newTable).program(four)
		stages, round := "", 0
		for {
			for table, c := range programs {
				round++
				x.operate(c, table, round, result.Stage)
			}
			stages += " " + result.Stage.Name
			if result.Done {
				break
			}
			if result, err = x.mover(o).Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(63 * time.Minute)
		}
		if stages != " split split settling sweeping settled" {
			t.Errorf("the stages were%s", stages)
		}
		x.checkOnlyIn(newTable, four)
	})
}

// operate compares all kinds of reads with what was put, and writes with a transaction.
func (x *town) operate(c *heatsink.Collection[user], table string, round int, stage move.Stage) {
	x.t.Helper()
	ctx, name := context.Background(), fmt.Sprintf("%s, table %s", stage.Name, table)
	check := func(what string, ok bool, got ...any) {
		x.t.Helper()
		if !ok {
			x.t.Errorf("%s: %s: %v", name, what, got)
		}
	}
	active := 0
	var likes []user
	for id := range x.want {
		likes = append(likes, user{Key: id[0], ID: id[1]})
		if id[0] == "ACTIVE" {
			active++
		}
	}
	got, err := c.BatchGet(ctx, likes)
	check("BatchGet", err == nil && len(got) == len(likes), err)
	for i, u := range got {
		check("BatchGet", u.Value == x.want[[2]string{likes[i].Key, likes[i].ID}], u)
	}
	last, listed := "", 0
	for token, more := "", true; more; {
		page, err := c.Page(ctx, heatsink.Query{Key: "ACTIVE", Limit: 7}, token)
		check("Page", err == nil, err)
		for _, u := range page.Items {
			check("Page", u.ID > last && u.Value == x.want[[2]string{"ACTIVE", u.ID}], u)
			last = u.ID
			listed++
		}
		token, more = page.Next, page.Next != ""
	}
	check("Page", listed == active, listed, active)
	n, err := c.Count(ctx, heatsink.Query{Key: "ACTIVE", Consistent: true})
	check("Count", err == nil && n == active, n, err)
	spread, err := c.Distribution(ctx, heatsink.Query{Key: "ACTIVE"})
	shards := 4
	if stage.Name == "split" {
		shards = 8 // the same keys in two tables
	}
	check("Distribution", err == nil && spread.Total == active && len(spread.Counts) == shards, spread, err)

	fresh := user{Key: "ACTIVE", ID: fmt.Sprintf("t%03d", round), Value: round}
	add := func(id string) (types.TransactWriteItem, error) {
		return c.TransactUpdate(ctx, user{Key: "ACTIVE", ID: id}, func(u *types.Update) {
			u.UpdateExpression, u.ExpressionAttributeNames = aws.String("ADD #v :one"), map[string]string{"#v": "value"}
			u.ExpressionAttributeValues = heatsink.Item{":one": number("1")}
			u.ConditionExpression = aws.String("attribute_exists(pk)")
		})
	}
	first, err := add("u0000")
	second, err2 := add("u0028")
	third, err3 := c.TransactPut(ctx, fresh)
	var all heatsink.Transaction
	all.Add(c, first, second, third)
	err = errors.Join(err, err2, err3, all.Write(ctx))
	check("transaction", err == nil, err)
	x.want[[2]string{"ACTIVE", "u0000"}]++
	x.want[[2]string{"ACTIVE", "u0028"}]++
	x.want[[2]string{fresh.Key, fresh.ID}] = fresh.Value
	var twice heatsink.Transaction
	twice.Add(c, first)
	twice.Add(nil, types.TransactWriteItem{Delete: &types.Delete{TableName: aws.String(newTable), Key: heatsink.Item{"pk": text(homeOf(x.t, four, "ACTIVE", "u0000")), "sk": text("u0000")}}})
	err = twice.Write(ctx)
	check("two actions on one item", err != nil && strings.Contains(err.Error(), "multiple operations on one item"), err)

	keys, err := c.Locate(ctx, fresh)
	elsewhere := stage.Name == "split" || table == "users"
	check("Locate", elsewhere == errors.Is(err, heatsink.ErrOptions) && (elsewhere || len(keys) == 1), keys, err)
}

// docs/moving.md says what a moved item costs in each table.
func TestCostsBetweenTables(t *testing.T) {
	for kilobytes, size := range map[float64]int{1: 500, 2: 1500, 4: 3500} {
		bubble.Test(t, func(t *testing.T) {
			x := twoTables(t)
			c := x.program(four)
			const items = 20
			for i := range items {
				x.put(c, user{Key: "ACTIVE", ID: fmt.Sprintf("u%04d", i), Value: 1, Text: strings.Repeat("x", size)})
			}
			client := &priced{Client: x.client, writes: map[string]float64{}, reads: map[string]float64{}}
			m, err := move.New(client, move.Options{Collection: users(four), Into: newTable, Wait: true})
			if err != nil {
				t.Fatal(err)
			}
			result, err := m.Run(t.Context())
			if err != nil || result.Moved != items {
				t.Fatalf("%+v, %v", result, err)
			}
			old, moved := client.writes["users"]/items, client.writes[newTable]/items
			if old != 2*kilobytes+1 || moved != kilobytes {
				t.Errorf("an item of %v KB takes %v write units in the old table and %v in the new one, want %v and %v", kilobytes, old, moved, 2*kilobytes+1, kilobytes)
			}
			if old, moved := client.reads["users"]/items, client.reads[newTable]/items; old != 2 || moved != 1 {
				t.Errorf("an item of %v KB takes %v read units in the old table and %v in the new one, want 2 and 1", kilobytes, old, moved)
			}
			if f := result.Forecast; result.WriteUnits != f.WriteUnits || result.ReadUnits > 1.1*f.ReadUnits || result.ReadUnits < 0.9*f.ReadUnits {
				t.Errorf("it took %v and %v units, and the forecast was %v and %v", result.WriteUnits, result.ReadUnits, f.WriteUnits, f.ReadUnits)
			}
		})
	}
}

// priced is a client that adds up the units of items by table. Control items do not report theirs.
type priced struct {
	move.Client
	mu            sync.Mutex
	writes, reads map[string]float64
}

func (p *priced) add(to map[string]float64, c *types.ConsumedCapacity) {
	if c != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		to[*c.TableName] += *c.CapacityUnits
	}
}

func (p *priced) GetItem(ctx context.Context, in *dynamodb.GetItemInput, with ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	out, err := p.Client.GetItem(ctx, in, with...)
	if err == nil {
		p.add(p.reads, out.ConsumedCapacity)
	}
	return out, err
}

func (p *priced) PutItem(ctx context.Context, in *dynamodb.PutItemInput, with ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	out, err := p.Client.PutItem(ctx, in, with...)
	if err == nil {
		p.add(p.writes, out.ConsumedCapacity)
	}
	return out, err
}

func (p *priced) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, with ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	out, err := p.Client.UpdateItem(ctx, in, with...)
	if err == nil {
		p.add(p.writes, out.ConsumedCapacity)
	}
	return out, err
}

func (p *priced) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, with ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	out, err := p.Client.DeleteItem(ctx, in, with...)
	if err == nil {
		p.add(p.writes, out.ConsumedCapacity)
	}
	return out, err
}
