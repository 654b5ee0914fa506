package move_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/move"
)

// Each operation of a collection works at each stage of a move into another table, in programs with the old table and in those with the
// new one.
func TestOperationsBetweenTables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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
