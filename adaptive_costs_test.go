package heatsink

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
)

// costRows returns the rows of the tables in docs/adaptive.md, by their first columns, with the numbers of the others.
func costRows(t *testing.T, names, numbers int) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("docs/adaptive.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## What it costs\n")
	if !ok {
		t.Fatal("docs/adaptive.md has no section \"What it costs\"")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	rows := map[string][]string{}
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != names+numbers || strings.HasPrefix(cells[0], "---") || strings.Contains(line, "RCU |") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		name := strings.TrimSpace(strings.ReplaceAll(strings.Join(cells[:names], " "), "`", ""))
		if rows[name] != nil {
			t.Errorf("the row %q is there twice", name)
		}
		rows[name] = cells[names:]
	}
	return rows
}

// costly is a collection of which each operation can be measured.
type costly struct {
	*Collection[Item]
	client *faulty.Client
}

// deepID returns a sort key that has as many homes as there can be with so many shards.
func deepID(shards int) string {
	for i := 0; ; i++ {
		id, homes := fmt.Sprintf("deep-%d", i), map[int]bool{}
		for n := 1; n <= shards; n *= 2 {
			homes[layout.XXHash.Shard(id, n)] = true
		}
		if 1<<(len(homes)-1) == shards {
			return id
		}
	}
}

// newCostly returns a key of so many shards with items, in a process that has used it. Control items are answered before data,
// so that what an operation gives up is always the same.
func newCostly(t *testing.T, strategy layout.Strategy, shards int) costly {
	t.Helper()
	client := faulty.On(t, onItems(t), nil)
	client.Delay(func(r faulty.Request) time.Duration {
		if strings.HasPrefix(r.Key("pk"), layout.ControlPrefix) {
			return time.Millisecond
		}
		return 2 * time.Millisecond
	})
	c := openItems(t, client, Options{Adaptive: &Adaptive{}, Layout: layout.Layout{Strategy: strategy}})
	if _, err := c.Ledgers().Freeze(context.Background(), "k", time.Time{}, "a generation to be causal about"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Ledgers().Thaw(context.Background(), "k", time.Time{}, ""); err != nil {
		t.Fatal(err)
	}
	if shards > 1 {
		widen(t, c, "k", shards)
	}
	putSome(t, c, "k", 0, 20)
	if _, err := c.Put(context.Background(), ov("pk", "k", "sk", deepID(shards))); err != nil {
		t.Fatal(err)
	}
	return costly{c, client}
}

// measure returns what an operation costs, as a row has it, and checks that the meter has seen every request.
func (c costly) measure(t *testing.T, use func(context.Context) error) []string {
	t.Helper()
	before := len(c.client.Requests())
	var m Meter
	if err := use(WithMeter(context.Background(), &m)); err != nil {
		t.Error(err)
	}
	cost := m.Cost()
	sent := 0
	for _, r := range c.client.Requests()[before:] {
		if r.Operation != "DescribeTable" { // which takes no units
			sent++
		}
	}
	if sent != cost.Requests {
		t.Errorf("%d requests were sent, and the meter has %d", sent, cost.Requests)
	}
	return []string{fmt.Sprint(cost.Requests), fmt.Sprint(cost.ReadUnits), fmt.Sprint(cost.WriteUnits)}
}

// The costs in docs/adaptive.md are what operations cost.
func TestAdaptiveCosts(t *testing.T) {
	strong := func(o *dynamodb.GetItemInput) { o.ConsistentRead = aws.Bool(true) }
	eventual := func(*dynamodb.GetItemInput) {}
	reads := map[string]Query{"eventual": {Key: "k"}, "causal": {Key: "k", AtLeast: 2}, "strong": {Key: "k", Consistent: true}}
	type use = func(ctx context.Context, c costly, shards int) error
	random, calculated := map[string]use{}, map[string]use{}
	for mode, q := range reads {
		random["Query of all items "+mode] = func(ctx context.Context, c costly, _ int) error {
			n := 0
			for _, err := range c.Query(ctx, q) {
				if n++; err != nil {
					return err
				}
			}
			return wantCount(n, 21)
		}
		random["Page of all items "+mode] = func(ctx context.Context, c costly, _ int) error {
			q := q
			q.Limit = 1000
			page, err := c.Page(ctx, q, "")
			return errors.Join(err, wantCount(len(page.Items), 21))
		}
		random["Count "+mode] = func(ctx context.Context, c costly, _ int) error {
			n, err := c.Count(ctx, q)
			return errors.Join(err, wantCount(n, 21))
		}
	}
	random["Put"] = func(ctx context.Context, c costly, _ int) error {
		_, err := c.Put(ctx, ov("pk", "k", "sk", "new"))
		return err
	}
	random["BatchPut of 25"] = func(ctx context.Context, c costly, _ int) error {
		var items []Item
		for i := range 25 {
			items = append(items, ov("pk", "k", "sk", fmt.Sprint("new ", i)))
		}
		return c.BatchPut(ctx, items)
	}
	for layoutName, all := range map[string]map[string]use{", Random": random, ", Calculated": calculated} {
		for mode, edit := range map[string]func(*dynamodb.GetItemInput){" strong": strong, " eventual": eventual} {
			all["Get"+layoutName+mode] = func(ctx context.Context, c costly, shards int) error {
				_, err := c.Get(ctx, ov("pk", "k", "sk", deepID(shards)), edit)
				return err
			}
			if layoutName == ", Calculated" {
				all["Get, Calculated, not there"+mode] = func(ctx context.Context, c costly, shards int) error {
					if _, err := c.Get(ctx, ov("pk", "k", "sk", deepID(shards)), edit); !errors.Is(err, ErrNotFound) {
						return fmt.Errorf("got %w, want ErrNotFound", err)
					}
					return nil
				}
			}
		}
		all["Update"+layoutName] = func(ctx context.Context, c costly, shards int) error {
			_, err := c.Update(ctx, ov("pk", "k", "sk", deepID(shards)), func(in *dynamodb.UpdateItemInput) {
				in.UpdateExpression, in.ExpressionAttributeValues = aws.String("SET n = :n"), ov(":n", 1)
			})
			return err
		}
		all["Delete"+layoutName] = func(ctx context.Context, c costly, shards int) error {
			_, err := c.Delete(ctx, ov("pk", "k", "sk", deepID(shards)))
			return err
		}
	}
	rows := costRows(t, 2, 6)
	for strategy, uses := range map[layout.Strategy]map[string]use{layout.Random: random, layout.Calculated: calculated} {
		for name, use := range uses {
			want := rows[name]
			if want == nil {
				t.Errorf("docs/adaptive.md has no row for %s", name)
				continue
			}
			delete(rows, name)
			var got []string
			for _, shards := range []int{1, 8} {
				bubble.Test(t, func(t *testing.T) {
					c := newCostly(t, strategy, shards)
					if strings.Contains(name, "not there") {
						if _, err := c.Collection.Delete(context.Background(), ov("pk", "k", "sk", deepID(shards))); err != nil {
							t.Fatal(err)
						}
					}
					got = append(got, c.measure(t, func(ctx context.Context) error { return use(ctx, c, shards) })...)
				})
			}
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("%s costs %v, and docs/adaptive.md says %v", name, got, want)
			}
		}
	}
	for name := range rows {
		t.Errorf("nobody has measured the row %q of docs/adaptive.md", name)
	}
}

func wantCount(got, want int) error {
	if got != want {
		return fmt.Errorf("got %d items, want %d", got, want)
	}
	return nil
}

// What first uses, growth and reports add is what docs/adaptive.md says.
func TestAdaptiveAddedCosts(t *testing.T) {
	minus := func(t *testing.T, all, usual []string) []string {
		t.Helper()
		left := make([]string, 3)
		for i := range left {
			var a, b float64
			fmt.Sscan(all[i], &a)
			fmt.Sscan(usual[i], &b)
			left[i] = fmt.Sprint(a - b)
		}
		return left
	}
	put := func(c costly, sk string) func(context.Context) error {
		return func(ctx context.Context) error { _, err := c.Put(ctx, ov("pk", "k", "sk", sk)); return err }
	}
	query := func(c costly, q Query) func(context.Context) error {
		return func(ctx context.Context) error { _, err := c.Count(ctx, q); return err }
	}
	once := []string{"1", "0", "1"}
	open := func(t *testing.T, client *faulty.Client) costly {
		return costly{openItems(t, client, Options{Adaptive: &Adaptive{}, Retry: Retry{Base: time.Microsecond}}), client}
	}
	rows := costRows(t, 1, 3)
	for name, measure := range map[string]func(t *testing.T) []string{
		"the charter, when the first process uses the collection": func(t *testing.T) []string {
			c := open(t, faulty.On(t, onItems(t), nil))
			return minus(t, c.measure(t, put(c, "1")), once)
		},
		"the charter, when another process uses it first, and once a minute": func(t *testing.T) []string {
			first := newCostly(t, layout.Random, 1)
			time.Sleep(61 * time.Second)
			again := minus(t, first.measure(t, put(first, "1")), once)
			c := open(t, first.client)
			other := minus(t, c.measure(t, put(c, "2")), once)
			if strings.Join(again, " ") != strings.Join(other, " ") {
				t.Errorf("once a minute %v, and first %v", again, other)
			}
			return other
		},
		"the ledger, for the first eventual read of a key and every Keep": func(t *testing.T) []string {
			c := newCostly(t, layout.Random, 8)
			time.Sleep(31 * time.Second)
			return minus(t, c.measure(t, query(c, Query{Key: "k"})), []string{"8", "4", "0"})
		},
		"the ledger, for a causal read of a generation that the process does not know": func(t *testing.T) []string {
			first := newCostly(t, layout.Random, 8)
			c := open(t, first.client)
			c.measure(t, query(c, Query{Key: "another"}))
			return minus(t, c.measure(t, query(c, Query{Key: "k", AtLeast: 3})), []string{"8", "8", "0"})
		},
		"the ledger, for a write that is throttled, at most once a second and key": func(t *testing.T) []string {
			c := newCostly(t, layout.Random, 8)
			c.client.Decide(faulty.Script(faulty.Throttled, faulty.None, faulty.Throttled).Of("PutItem"))
			return minus(t, c.measure(t, put(c, "1")), []string{"2", "0", "1"})
		},
		"a growth by hand": func(t *testing.T) []string {
			c := newCostly(t, layout.Random, 8)
			return c.measure(t, func(ctx context.Context) error {
				_, err := c.Ledgers().Grow(ctx, "k", time.Time{}, 16, "")
				return err
			})
		},
		"a growth by hand, of a key whose ledger the process has not read": func(t *testing.T) []string {
			c := newCostly(t, layout.Random, 8)
			return c.measure(t, func(ctx context.Context) error {
				_, err := c.Ledgers().Grow(ctx, "another", time.Time{}, 16, "")
				return err
			})
		},
		"a report of a hot key, every 5 s and process": func(t *testing.T) []string { return reportCost(t, 1) },
		"the ledger, for the first report of a key":    func(t *testing.T) []string { return minus(t, reportCost(t, 0), once) },
	} {
		want := rows[name]
		if want == nil {
			t.Errorf("docs/adaptive.md has no row for %q", name)
			continue
		}
		delete(rows, name)
		bubble.Test(t, func(t *testing.T) {
			if got := measure(t); strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("%s: it costs %v, and docs/adaptive.md says %v", name, got, want)
			}
		})
	}
	for name := range rows {
		t.Errorf("nobody has measured the row %q of docs/adaptive.md", name)
	}
}

// reportCost returns what the nth report of a warm key costs, without the puts that it runs beside. Reports are five seconds
// apart.
func reportCost(t *testing.T, nth int) []string {
	t.Helper()
	client := faulty.On(t, onItems(t), nil)
	c := costly{openItems(t, client, Options{Adaptive: &Adaptive{}}), client}
	putSome(t, c.Collection, "other", 0, 1)
	var reports []time.Time
	for i := range 2000 {
		sent := client.Count("UpdateItem")
		got := c.measure(t, func(ctx context.Context) error { _, err := c.Put(ctx, ov("pk", "k", "sk", fmt.Sprint(i))); return err })
		if client.Count("UpdateItem") > sent {
			if reports = append(reports, time.Now()); len(reports) == nth+1 {
				if nth > 0 && reports[nth].Sub(reports[nth-1]).Round(time.Second) != 5*time.Second {
					t.Errorf("reports at %v, want every five seconds", reports)
				}
				var requests, reads, writes float64
				for j, n := range []*float64{&requests, &reads, &writes} {
					fmt.Sscan(got[j], n)
				}
				return []string{fmt.Sprint(requests - 1), fmt.Sprint(reads), fmt.Sprint(writes - 1)}
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("there was no report")
	return nil
}
