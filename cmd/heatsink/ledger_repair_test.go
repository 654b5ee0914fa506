package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
)

func TestLedgerRepair(t *testing.T) {
	s := serveOrders(t)
	c := s.open(t)
	if _, err := c.Ledgers().Grow(t.Context(), "NEW", time.Time{}, 16, "by hand"); err != nil {
		t.Fatal(err)
	}
	largest := s.put(t, c, "NEW", 60)
	if _, err := s.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("orders"), Key: heatsink.Item{"pk": str("_hs#L#table##NEW"), "sk": str("-")}}); err != nil {
		t.Fatal(err)
	}
	found := fmt.Sprintf("the largest shard of key NEW with an item is %d; the latest generation of an item is 1", largest)
	inOrder(t, s.succeeds(t, "repair", "NEW", "--dry-run", "--why", "a trial"),
		found, "what is stored:", "no ledger is stored", "what repair would write:", "16 shards written, 16 read", "generation", "2", "a trial", "nothing was changed")
	inOrder(t, s.succeeds(t, "show", "NEW"), "no ledger is stored")
	var plan repairDocument
	if err := json.Unmarshal([]byte(s.succeeds(t, "repair", "NEW", "--dry-run", "--width", "32", "--json")), &plan); err != nil || plan.Largest != largest || plan.Generation != 1 ||
		plan.Before.Generation != 0 || plan.Before.Width != 1 || plan.After != nil || plan.Planned == nil || plan.Planned.Generation != 2 || plan.Planned.Width != 32 {
		t.Errorf("got %+v, %v", plan, err)
	}
	inOrder(t, s.succeeds(t, "repair", "none", "--dry-run"), "no shard of key none has an item", "what is stored:", "no ledger is stored", "repair would write nothing", "nothing was changed")
	inOrder(t, s.succeeds(t, "repair", "NEW", "--width", "32", "--why", "deleted by mistake"), found, "32 shards written, 32 read", "generation", "2", "deleted by mistake")
	n, err := s.open(t).Count(t.Context(), heatsink.Query{Key: "NEW", Consistent: true})
	if n != 60 || err != nil {
		t.Errorf("a new process reads %d items, %v", n, err)
	}
	var got repairDocument
	if err := json.Unmarshal([]byte(s.succeeds(t, "repair", "none", "--json")), &got); err != nil || got.Largest != -1 || got.After == nil || got.After.Generation != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	// Of a ledger that is stored, the plan is what the repair then writes.
	plan = repairDocument{}
	if err := json.Unmarshal([]byte(s.succeeds(t, "repair", "NEW", "--dry-run", "--width", "64", "--why", "wider", "--json")), &plan); err != nil {
		t.Fatal(err)
	}
	got = repairDocument{}
	if err := json.Unmarshal([]byte(s.succeeds(t, "repair", "NEW", "--width", "64", "--why", "wider", "--json")), &got); err != nil || got.After == nil || plan.Planned == nil {
		t.Fatalf("got %+v and %+v, %v", plan, got, err)
	}
	plan.Planned.At, got.After.At = nil, nil
	plan.Planned.By, got.After.By = "", ""
	if !reflect.DeepEqual(plan.Planned, got.After) || !reflect.DeepEqual(plan.Before, got.Before) || plan.Before.Generation != 2 || got.After.Generation != 3 {
		t.Errorf("planned %+v of %+v, and wrote %+v of %+v", plan.Planned, plan.Before, got.After, got.Before)
	}
	s.set(t, "_hs#L#table##NEW", "_hs_R", str("four"))
	s.fails(t, "aws dynamodb delete-item --table-name orders", "repair", "NEW", "--dry-run")
	s.fails(t, "--width -1", "repair", "NEW", "--width", "-1")
}

// The command that deletes a damaged ledger of a time bucket names that ledger.
func TestLedgerRepairOfADamagedBucket(t *testing.T) {
	s := serveOrders(t)
	day := func(o *heatsink.Options) {
		o.Layout.Bucket, o.EventTime = layout.Day, heatsink.EventTime{Attribute: "at"}
	}
	at := time.Date(2026, 6, 22, 1, 0, 0, 0, time.UTC)
	if _, err := s.open(t, day).Ledgers().Grow(t.Context(), "k", at, 2, "a test"); err != nil {
		t.Fatal(err)
	}
	const key = "_hs#L#table#2026-06-22#k"
	s.set(t, key, "_hs_R", str("?"))
	s.fails(t, `"pk":{"S":"`+key+`"}`, "repair", "k", "--at", "2026-06-22T13:00:00Z")
}

// The command that deletes a damaged ledger deletes it, whatever the type of the table's sort key.
func TestLedgerRepairNamesTheWholeKey(t *testing.T) {
	s := serveOrders(t)
	s.create(t, "numbers", "N")
	s.create(t, "bytes", "B")
	s.create(t, "listed", "S", "N")
	if err := heatsink.SetupControlTable(t.Context(), s.client, "control"); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ table, control, sort, want string }{
		"string":        {"orders", "", "S", `"sk":{"S":"-"}`},
		"other number":  {"listed", "", "S", `"sk":{"S":"-"}`},
		"number":        {"numbers", "", "N", `"sk":{"N":"0"}`},
		"binary":        {"bytes", "", "B", `"sk":{"B":"LQ=="}`},
		"control table": {"numbers", "control", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			open := func() heatsink.Ledgers {
				return s.open(t, func(o *heatsink.Options) { o.Table, o.ControlTable, o.Name = c.table, c.control, "own" }).Ledgers()
			}
			if _, err := open().Grow(t.Context(), "k", time.Time{}, 4, "by hand"); err != nil {
				t.Fatal(err)
			}
			args := []string{"ledger", "repair", "k", "--name", "own", "--table", c.table, "--endpoint", s.endpoint}
			table := c.table
			if c.control != "" {
				args, table = append(args, "--control-table", c.control), c.control
			}
			key := s.damage(t, table, "_hs#L#own##k")
			_, stderr, code := command(t, args...)
			if code != 2 || c.sort != "" && !strings.Contains(stderr, c.want) {
				t.Fatalf("exit %d, %s, want %s", code, stderr, c.want)
			}
			_, text, _ := strings.Cut(stderr, "--key '")
			text, _, _ = strings.Cut(text, "'")
			var named map[string]map[string]string
			if err := json.Unmarshal([]byte(text), &named); err != nil || len(named) != len(key) {
				t.Fatalf("the command has the key %q, %v, want the %d attributes of %v", text, err, len(key), key)
			}
			if !strings.Contains(stderr, "--table-name "+table+" ") {
				t.Errorf("got %s, want the table %s", stderr, table)
			}
			if _, err := s.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &table, Key: valuesOf(t, named)}); err != nil {
				t.Fatal(err)
			}
			if stdout, stderr, code := command(t, args...); code != 0 {
				t.Errorf("after the delete: exit %d, %s%s", code, stdout, stderr)
			}
		})
	}
}

// damage makes a control item one that cannot be understood, and returns its key.
func (s *ledgerServer) damage(t *testing.T, table, control string) (key heatsink.Item) {
	t.Helper()
	out, err := s.client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range out.Items {
		key = heatsink.Item{}
		for _, name := range []string{"pk", "sk"} {
			if v, ok := item[name]; ok {
				key[name] = v
			}
		}
		for _, v := range key {
			if text, ok := v.(*types.AttributeValueMemberS); !ok || text.Value != control {
				continue
			}
			item["_hs_R"] = str("four")
			if _, err := s.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
				t.Fatal(err)
			}
			return key
		}
	}
	t.Fatalf("table %s has no item %s", table, control)
	return nil
}

// valuesOf reads a key as the AWS command line has it.
func valuesOf(t *testing.T, key map[string]map[string]string) heatsink.Item {
	t.Helper()
	item := heatsink.Item{}
	for name, v := range key {
		switch {
		case v["S"] != "":
			item[name] = str(v["S"])
		case v["N"] != "":
			item[name] = &types.AttributeValueMemberN{Value: v["N"]}
		default:
			b, err := base64.StdEncoding.DecodeString(v["B"])
			if err != nil {
				t.Fatal(err)
			}
			item[name] = &types.AttributeValueMemberB{Value: b}
		}
	}
	return item
}
