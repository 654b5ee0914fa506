package main

import (
	"bytes"
	"context"
	"encoding/json"
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
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/move"
)

// userTable is a table of users found by id, and the command that moves them, in virtual time.
type userTable struct {
	t      *testing.T
	client *dynamodb.Client
}

var unspread = layout.Layout{Strategy: layout.Calculated}

func newUserTable(t *testing.T, items int, how local.Options) *userTable {
	t.Helper()
	db, err := local.New(how)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	u := &userTable{t: t, client: db.Client()}
	_, err = u.client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("users"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}, {AttributeName: aws.String("sk"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}, {AttributeName: aws.String("sk"), KeyType: "RANGE"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := u.open(unspread)
	for i := range items {
		if _, err := c.Put(t.Context(), u.user(i)); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

func (u *userTable) user(i int) heatsink.Item {
	return heatsink.Item{
		"pk": &types.AttributeValueMemberS{Value: []string{"STATUS#ACTIVE", "STATUS#IDLE"}[i%2]}, "sk": &types.AttributeValueMemberS{Value: fmt.Sprintf("user-%04d", i)},
		"name": &types.AttributeValueMemberS{Value: "Ada"},
	}
}

func (u *userTable) open(with layout.Layout) *heatsink.Collection[heatsink.Item] {
	u.t.Helper()
	c, err := heatsink.Open[heatsink.Item](u.client, heatsink.Options{Table: "users", PartitionKey: "pk", SortKey: "sk", Movable: true, Layout: with})
	if err != nil {
		u.t.Fatal(err)
	}
	return c
}

// run runs heatsink move users with arguments.
func (u *userTable) run(args ...string) (stdout, stderr string, err error) {
	return u.runOn("users", args...)
}

// runOn runs heatsink move for a table.
func (u *userTable) runOn(table string, args ...string) (stdout, stderr string, err error) {
	m := &mover{connect: func(context.Context) (clients, error) { return clients{tables: u.client}, nil }}
	cmd := m.command()
	var out, screen bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&screen)
	cmd.SetIn(strings.NewReader(""))
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(append([]string{table}, args...))
	err = cmd.ExecuteContext(context.Background())
	return out.String(), screen.String(), err
}

// want runs the command, and wants texts in what it prints.
func (u *userTable) want(args string, all ...string) {
	u.t.Helper()
	stdout, _, err := u.run(strings.Fields(args)...)
	if err != nil {
		u.t.Errorf("move users %s: %v", args, err)
	}
	contains(u.t, stdout, all...)
}

// refused runs the command, and wants texts in its error.
func (u *userTable) refused(args string, all ...string) error {
	u.t.Helper()
	_, _, err := u.run(strings.Fields(args)...)
	if err == nil {
		u.t.Errorf("move users %s: no error, want one with %q", args, all)
		return nil
	}
	contains(u.t, err.Error(), all...)
	return err
}

// The whole way of a move by id, as an operator sees it: stage by stage, each with what comes next.
func TestMoveByIDStageByStage(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		u := newUserTable(t, 100, local.Options{Signatures: true})
		u.want("--stage", "table users is settled, generation 1", "items    not sharded: {key}", "means    nothing moves")
		u.want("--to 16 --dry-run", "move of table users, items found by id", "from       not sharded", "to         calculated by xxhash over 16 shards", "stage      settled: nothing moves",
			"100 moves of 10", "400 units, of which 0 are of indexes", "units, in 6 passes", "of work at 1,000 write", "waits      3h6m", "point-in-time recovery is off")
		u.refused("--to 16", "add --yes")
		u.refused("--finish --yes", "nothing to finish")
		u.refused("--back", "nothing moves")
		u.want("--to 16 --yes", "100 items moved and 0 marks removed", "writes   300 units", "stage    split since", "next     closed at 2000-01-01 01:0", "in 1h2m", "the same command goes on then")
		u.want("--stage", "table users is split, generation 3", "move to  calculated by xxhash over 16 shards", "next     closed at", "noted    heatsink move: split, by ")
		u.refused("--to 8 --yes", "a move to calculated by xxhash over 16 shards", "is in progress")
		u.refused("--finish --yes", "the move is not over")
		time.Sleep(63 * time.Minute)
		u.want("--stage", "next     closed: the same command goes on")
		u.want("--to 16", "stage    settling since", "next     sweeping at", "0 items moved")
		u.refused("--back", "goes back only while it is split")
		u.want("--verify", "100  where the layout has them")
		time.Sleep(63 * time.Minute)
		u.want("--to 16", "100 marks removed", "stage    sweeping since", "next     settled at")
		time.Sleep(63 * time.Minute)
		u.want("--to 16", "the move is over: every item is under calculated by xxhash over 16 shards", "Options.Layout", "--finish")
		u.want("--stage", "former   programs may still have not sharded", "until --finish")
		u.refused("--finish", "programs whose Options.Layout is still not sharded", "add --yes")
		u.want("--finish --yes", "the move is finished: programs must have calculated by xxhash over 16 shards")
		if _, err := u.open(unspread).Get(t.Context(), u.user(1)); !errors.Is(err, heatsink.ErrCharter) {
			t.Errorf("a program with the layout of before: %v, want ErrCharter", err)
		}
		u.want("--verify", "100  where the layout has them")
		stdout, _, err := u.run("--verify", "--json")
		var last struct {
			Report struct {
				move.Report
				Complete bool
			}
		}
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		if json.Unmarshal([]byte(lines[len(lines)-1]), &last) != nil || err != nil || !last.Report.Complete || last.Report.Right != 100 {
			t.Errorf("%s: %v", stdout, err)
		}
	})
}

// --wait takes a move through all stages, with JSON for machines, and --keys moves one key.
func TestMoveByIDWaits(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		u := newUserTable(t, 100, local.Options{Signatures: true})
		stdout, _, err := u.run("--keys", "STATUS#ACTIVE=8", "--wait", "--yes", "--json")
		if err != nil {
			t.Fatal(err)
		}
		var last struct {
			Result struct {
				Done, Complete bool
				Moved          int
				Stage          struct {
					Stage string
					Now   struct{ Widths map[string]int }
				}
			}
		}
		waits := 0
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		for _, line := range lines {
			var one struct {
				Progress struct {
					Stage string
					Until time.Time
				}
			}
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				t.Fatal(err)
			}
			if one.Progress.Stage == "split" && !one.Progress.Until.IsZero() {
				waits++
			}
		}
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
			t.Fatal(err)
		}
		r := last.Result
		if !r.Done || !r.Complete || r.Moved < 30 || r.Moved > 50 || r.Stage.Stage != "settled" || r.Stage.Now.Widths["STATUS#ACTIVE"] != 8 || waits < 300 || waits > 400 { // an hour, with a line every ten seconds
			t.Errorf("%+v, %d lines of a wait", r, waits)
		}
		u.want("--stage", `"STATUS#ACTIVE" over 8`)
		u.want("--verify", "100  where the layout has them")
	})
}

// A move that is announced says so, and how it is withdrawn. The mover whose announcement --back withdraws stops.
func TestMoveByIDAnnounced(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		u := newUserTable(t, 40, local.Options{Signatures: true})
		var running sync.WaitGroup
		var shown string
		var failed error
		running.Go(func() { shown, _, failed = u.run("--to", "16 {key}#{shard}", "--yes", "--json") })
		time.Sleep(10 * time.Second)
		u.want("--stage", "table users is announced, generation 2", "move to  calculated by xxhash over 16 shards: {key}#{shard}", "withdrawn (--back)", "next     split at", "the same command goes on then")
		u.want("--stage --json", `"stage":"announced"`, `"next":{`, `"then":"split"`, `"until":`)
		u.want("--dry-run", "to         calculated by xxhash over 16 shards", "stage      announced: nothing moves yet", "in 5 passes", "waits      3h6m")
		u.refused("--to 8", "is announced since", "--back")
		u.refused("--finish --yes", "the move is not over, it is announced")
		u.want("--back", "0 items moved", "stage    settled", "every item is under not sharded")
		running.Wait()
		if failed == nil || !strings.Contains(failed.Error(), "taken the items back meanwhile") || !strings.Contains(shown, `"stage":"announced","until":"2000-01-01T00:01:15Z"`) {
			t.Errorf("%v, and shown: %s", failed, shown)
		}
		u.want("--to 16 --yes", "stage    split")
	})
}

// --back takes a move back, and says what comes next.
func TestMoveByIDBack(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		u := newUserTable(t, 40, local.Options{Signatures: true})
		u.want("--to 16 --yes", "stage    split")
		u.want("--back", "stage    back since", "next     returned at", "the same command goes on with --back then")
		u.refused("--to 16", "on their way back", "--back")
		u.want("--back --wait", "40 items moved", "the move is over: every item is under not sharded")
		u.want("--verify", "40  where the layout has them")
	})
}

// A server that does not check signatures is said to be one.
func TestMoveByIDRests(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		u := newUserTable(t, 10, local.Options{})
		u.want("--to 16 --yes --wait", "10 items moved", "rests    this server does not check when requests were signed (DynamoDB Local, DAX, some proxies): the move rests in its split phase: reads and writes are right, and new ids cost more writes")
		stdout, _, err := u.run("--stage")
		contains(t, stdout, "table users is split", "rests    this server does not check when requests were signed")
		if err != nil || strings.Contains(stdout, "next ") {
			t.Errorf("got %s, %v: want no time at which the move goes on", stdout, err)
		}
	})
}

// What contradicts itself is refused, with what to do.
func TestMoveByIDRefusesFlags(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		u := newUserTable(t, 10, local.Options{Signatures: true})
		for args, want := range map[string]string{
			"--stage --verify":          "--stage and --verify: choose one",
			"--back --finish":           "choose one of them",
			"--to 16 --from unsharded":  "--from: the items of a movable collection are where its record says",
			"--to 16 --key A":           "--keys moves single keys",
			"--to x":                    `--to "x"`,
			"--keys A":                  "want KEY=SHARDS",
			"--keys A=x":                `"x" is no number of shards`,
			"--keys A=0":                "want 1 to",
			"--keys A=2,A=3":            `gives "A" twice`,
			"--prefix A":                `--prefix "A": want PREFIX=SHARDS`,
			"--prefix =4":               "want PREFIX=SHARDS",
			"--prefix A=4=x":            `"x" is no number of shards`,
			"--prefix A=2 --prefix A=3": `--prefix gives "A" twice`,
			"--prefix _hs#=2":           "heatsink's own items",
			"":                          "name a layout",
			"--name other --to 16":      "has no global index, and no movable collection",
			"--name other --stage":      "--stage is for items that are found by id",
		} {
			u.refused(args, want)
		}
		damage := heatsink.Item{"pk": &types.AttributeValueMemberS{Value: "A#SHARD_3"}, "sk": &types.AttributeValueMemberS{Value: "x"}}
		if _, err := u.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("users"), Item: damage}); err != nil {
			t.Fatal(err)
		}
		if err := u.refused("--to 16 --dry-run", "1 item in its way"); !errors.As(err, new(*badNews)) {
			t.Errorf("got %v, want bad news", err)
		}
		u.refused("--to 16 --yes", "the move has not begun")
		if err := u.refused("--verify", "not where the layout has them"); !errors.As(err, new(*badNews)) {
			t.Errorf("got %v, want bad news", err)
		}
	})
}

// --prefix moves the keys that begin alike, and the way back gives them one shard again.
func TestMoveByIDOfAPrefix(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		u := newUserTable(t, 100, local.Options{Signatures: true})
		u.want("--prefix STATUS#A=8 --dry-run", "from       not sharded: {key}", `to         not sharded: {key}, keys that begin with "STATUS#A" over 8`, "of 102 items")
		u.want("--prefix STATUS#A=8 --wait --yes", `every item is under not sharded: {key}, keys that begin with "STATUS#A" over 8`)
		u.want("--stage", `keys that begin with "STATUS#A" over 8`)
		u.want("--verify", "100  where the layout has them")
		shards := map[string]int{}
		out, err := u.client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("users")})
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range out.Items {
			shards[item["pk"].(*types.AttributeValueMemberS).Value]++
		}
		if shards["STATUS#ACTIVE#SHARD_7"] == 0 || shards["STATUS#IDLE"] != 50 {
			t.Errorf("items are in %v, want shards of STATUS#ACTIVE alone", shards)
		}
		u.want("--prefix STATUS#A=1 --wait --yes", "the move is over: every item is under not sharded: {key}\n")
	})
}

// Items found by id move to buckets by the time in their sort keys, and back to none.
func TestMoveByIDToBuckets(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Signatures: true})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		if err := db.CreateTable(t.Context(), "users", "pk", "sk"); err != nil {
			t.Fatal(err)
		}
		u := &userTable{t: t, client: db.Client()}
		o := heatsink.Options{Table: "users", PartitionKey: "pk", SortKey: "sk", Movable: true, Layout: layout.Layout{Strategy: layout.Calculated}}
		o.EventTime.Attribute = "sk"
		c, err := heatsink.Open[heatsink.Item](u.client, o)
		if err != nil {
			t.Fatal(err)
		}
		day := time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)
		put := func(sk string) {
			item := heatsink.Item{"pk": &types.AttributeValueMemberS{Value: "PAGE"}, "sk": &types.AttributeValueMemberS{Value: sk}}
			if _, err := c.Put(t.Context(), item); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 40 {
			put(day.Add(time.Duration(i) * time.Hour).Format(time.RFC3339))
		}
		move := func(want string, args ...string) {
			t.Helper()
			if out, _, err := u.run(args...); err != nil || !strings.Contains(out, want) {
				t.Errorf("%v: %v: %s, want %q", args, err, out, want)
			}
		}
		refused := func(want string, args ...string) {
			t.Helper()
			if _, _, err := u.run(args...); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: got %v, want %q", args, err, want)
			}
		}
		refused("--event-time is for layouts in buckets", "--to", "4", "--event-time", "sk", "--yes")
		refused(`name the sort key "sk" in EventTime`, "--to", "4 per day", "--event-time", "at", "--yes")
		refused(`the sort key "sk" has the type S`, "--to", "4 per day", "--event-time", "sk=seconds", "--yes")
		put("profile")
		refused("the move would not begin: 1 item in its way", "--to", "4 per day", "--dry-run")
		if _, err := c.Delete(t.Context(), heatsink.Item{"pk": &types.AttributeValueMemberS{Value: "PAGE"}, "sk": &types.AttributeValueMemberS{Value: "profile"}}); err != nil {
			t.Fatal(err)
		}
		move("every item is under calculated by xxhash over 4 shards per day: {key}#{bucket}#SHARD_{shard}", "--to", "4 per day", "--wait", "--yes")
		move("per day", "--stage")
		move("40  where the layout has them", "--verify")
		move("programs must have calculated by xxhash over 4 shards per day", "--finish", "--yes")
		o.Layout = layout.Layout{Strategy: layout.Calculated, Shards: 4, Bucket: layout.Day}
		if c, err = heatsink.Open[heatsink.Item](u.client, o); err != nil {
			t.Fatal(err)
		}
		n, err := c.Count(t.Context(), heatsink.Query{Key: "PAGE", From: day, To: day.AddDate(0, 0, 1), Consistent: true})
		if err != nil || n != 24 {
			t.Errorf("%d items of the first day, %v, want 24", n, err)
		}
		move("every item is under not sharded: {key}\n", "--to", "unsharded", "--wait", "--yes")
		move("40  where the layout has them", "--verify")
	})
}

// A list moves as well. Its layouts need no strategy, and it does not go back.
func TestMoveListByCommand(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Signatures: true})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		u := &userTable{t: t, client: db.Client()}
		if err := db.CreateTable(t.Context(), "users", "pk", "sk"); err != nil {
			t.Fatal(err)
		}
		var items []heatsink.Item
		for i := range 160 {
			items = append(items, u.user(i))
		}
		if err := u.open(layout.Layout{Shards: 16}).BatchPut(t.Context(), items); err != nil {
			t.Fatal(err)
		}
		u.want("--to 4 --dry-run", "move of table users, an append-only list", "from       random over 16 shards", "to         random over 4 shards", "units, in 4 passes", "waits      4h8m")
		u.refused("--to 4 --back", "a list does not go back", "let the move end")
		u.refused("--to {key}#{shard}", "no number of shards")
		if _, _, err := u.run("--to", "4 calculated", "--yes"); err == nil || !strings.Contains(err.Error(), "is a list") {
			t.Errorf("another strategy: %v", err)
		}
		u.want("--to 4 --yes", "stage    split since")
		u.refused("--back", "a list does not go back")
		u.want("--to 4 --wait", "the move is over: every item is under random over 4 shards")
		u.want("--finish --yes", "programs must have random over 4 shards")
		u.want("--to unsharded --wait --yes", "160 items moved", "the move is over: every item is under not sharded")
		u.want("--finish --yes", "programs must have not sharded")
		u.want("--to 8 --wait --yes", "160 items moved", "the move is over: every item is under random over 8 shards")
		u.want("--verify", "160  where the layout has them")
		n, err := u.open(layout.Layout{Shards: 8}).Count(t.Context(), heatsink.Query{Key: "STATUS#ACTIVE", Consistent: true})
		if err != nil || n != 80 {
			t.Errorf("%d items, want 80: %v", n, err)
		}
	})
}
