package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/move"
)

// fillOrders writes orders of one status, unsharded.
func (s *ledgerServer) fillOrders(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		_, err := s.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: heatsink.Item{
			"pk": &types.AttributeValueMemberS{Value: fmt.Sprint("o", i)}, "sk": &types.AttributeValueMemberS{Value: "x"},
			"status": &types.AttributeValueMemberS{Value: "OPEN"}, "seen": &types.AttributeValueMemberS{Value: "2026-11-16T10:00:00Z"},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func contains(t *testing.T, text string, all ...string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(text, want) {
			t.Errorf("got %q, want %q", text, want)
		}
	}
}

// The whole way: what it would cost, the move, the proof, and back.
func TestMoveThereAndBack(t *testing.T) {
	s := serveOrders(t)
	s.fillOrders(t, 100)
	args := []string{"move", "orders", "--endpoint", s.endpoint}
	there := append(args, "--from", "unsharded", "--to", "16")
	stdout, stderr, code := command(t, append(there, "--dry-run")...)
	if code != 0 {
		t.Fatal(stderr)
	}
	contains(t, stdout, "100 moves of 100 items", "300 units, of which 200 are of indexes", "point-in-time recovery is off", "calculated by xxhash over 16 shards", "on demand, at the prices of us-east-1")
	if _, _, code = command(t, append(there, "--verify")...); code != 1 {
		t.Errorf("verify before the move exits with %d", code)
	}
	if _, stderr, code = command(t, there...); code != 2 || !strings.Contains(stderr, "add --yes") {
		t.Errorf("without point-in-time recovery: %d, %s", code, stderr)
	}
	stdout, stderr, code = command(t, append(there, "--yes")...)
	if code != 0 {
		t.Fatal(stderr)
	}
	contains(t, stdout, "100 items moved in 2 passes", "writes   300 units, forecast 300", "every item is where the layout has it: 100")
	if stdout, stderr, code = command(t, append(there, "--verify")...); code != 0 {
		t.Error(stderr)
	}
	contains(t, stdout, "100 items read, 100 listed", "100  where the layout has them")
	stdout, stderr, code = command(t, append(args, "--from", "16", "--to", "unsharded", "--yes", "--json")...)
	if code != 0 {
		t.Fatal(stderr)
	}
	var last struct{ Result move.Result }
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Result.Moved != 100 || last.Result.Right != 100 {
		t.Errorf("%s: %v", lines[len(lines)-1], err)
	}
	if !strings.HasPrefix(lines[0], `{"forecast":{"items":100`) || !strings.HasPrefix(lines[1], `{"progress":`) {
		t.Errorf("%q", lines[:2])
	}
}

// A key that reads like a shard of the new layout stays, and is shown before, while and after others move.
func TestMoveShowsAmbiguousKeys(t *testing.T) {
	s := serveOrders(t)
	s.fillOrders(t, 10)
	for i := range 8 { // at least 6 of them are not in the calculated shard
		_, err := s.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: heatsink.Item{
			"pk": &types.AttributeValueMemberS{Value: fmt.Sprint("t", i)}, "sk": &types.AttributeValueMemberS{Value: "x"},
			"status": &types.AttributeValueMemberS{Value: "TENANT#3"}, "seen": &types.AttributeValueMemberS{Value: "2026-11-16T10:00:00Z"},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"move", "orders", "--endpoint", s.endpoint, "--from", "unsharded", "--to", "8 {key}#{shard}"}
	stdout, stderr, code := command(t, append(args, "--dry-run")...)
	if code != 0 {
		t.Error(stderr)
	}
	contains(t, stdout, "10 moves of 18 items", "would stay where they are: their keys may be of two logical keys", `it may be of key "TENANT" or of key "TENANT#3"`)
	stdout, stderr, code = command(t, append(args, "--to", "8 {key}~{shard}", "--dry-run")...) // as the text advises
	if code != 0 || !strings.Contains(stdout, "18 moves of 18 items") || strings.Contains(stdout, "two logical keys") {
		t.Errorf("another spelling: %d, %s, %s", code, stdout, stderr)
	}
	stdout, stderr, code = command(t, append(args, "--yes")...)
	if code != 1 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	contains(t, stdout, "10 items moved", "ambiguous")
	contains(t, stderr, "choose a Format")
	stdout, _, code = command(t, append(args, "--verify")...)
	if code != 1 {
		t.Errorf("verify exits with %d", code)
	}
	contains(t, stdout, "under a key that may be of two logical keys")
}

// A collection with a charter needs no layout from the flags.
func TestMoveOfACharteredCollection(t *testing.T) {
	for _, adaptive := range []bool{false, true} {
		s := serveOrders(t)
		s.fillOrders(t, 40)
		c := s.open(t, func(o *heatsink.Options) {
			o.Index = heatsink.Index{Name: "byStatus", PartitionKey: "status", SortKey: "seen"}
			o.Layout, o.Older = layout.Layout{Shards: 8, Strategy: layout.Calculated}, []layout.Layout{{}}
			o.Adaptive, o.Recorded = nil, true
			if adaptive {
				o.Adaptive, o.Layout.Shards = &heatsink.Adaptive{}, 0
			}
		})
		if _, err := c.Count(t.Context(), heatsink.Query{Key: "OPEN"}); err != nil {
			t.Fatal(err)
		}
		if adaptive {
			if _, err := c.Ledgers().Grow(t.Context(), "OPEN", time.Time{}, 8, "test"); err != nil {
				t.Fatal(err)
			}
		}
		stdout, stderr, code := command(t, "move", "orders", "--endpoint", s.endpoint, "--yes")
		if code != 0 || !strings.Contains(stdout, "every item is where the layout has it: 40") || strings.Contains(stdout, "\n0 items moved") {
			t.Errorf("adaptive %t: %d, %s, %s", adaptive, code, stdout, stderr)
		}
		if _, stderr, code = command(t, "move", "orders", "--endpoint", s.endpoint, "--to", "16"); code != 2 || !strings.Contains(stderr, "has a charter") {
			t.Errorf("--to beside a charter: %d, %s", code, stderr)
		}
	}
}

// A move that is stopped says how to go on, and goes on.
func TestMoveIsStopped(t *testing.T) {
	t.Parallel()
	s := serveOrders(t)
	s.fillOrders(t, 200)
	args := []string{"move", "orders", "--endpoint", s.endpoint, "--from", "unsharded", "--to", "16", "--yes"}
	if stdout, stderr, code := s.stopped(t, args...); code != 2 || !strings.Contains(stdout, "the same command goes on") {
		t.Errorf("%d, %s, %s", code, stdout, stderr)
	}
	text, errors, code := command(t, append(args, "--wcu", "100000")...)
	contains(t, text, "the moves and writes are those that are left", "forecast for what was left")
	if code != 0 || !strings.Contains(text, "the checkpoint of an earlier run") || !strings.Contains(text, "every item is where the layout has it: 200") {
		t.Errorf("%d, %s, %s", code, text, errors)
	}
}

// Machines learn from the last line whether a move is through, and why not.
func TestMoveJSONSaysHowItEnded(t *testing.T) {
	t.Parallel()
	s := serveOrders(t)
	s.fillOrders(t, 200)
	type line struct {
		Result, Report *struct {
			Complete *bool
			Error    string
			Moved    int64
			Listed   int64
			Findings []move.Finding
		}
	}
	last := func(text string) (l line) {
		lines := strings.Split(strings.TrimSpace(text), "\n")
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &l); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return l
	}
	args := []string{"move", "orders", "--endpoint", s.endpoint, "--from", "unsharded", "--to", "16", "--json"}
	stdout, stderr, code := s.stopped(t, append(args, "--yes")...)
	if code != 2 {
		t.Errorf("%d, %s", code, stderr)
	}
	r := last(stdout).Result
	if r == nil || r.Complete == nil || *r.Complete || r.Error == "" || len(r.Findings) != 0 {
		t.Errorf("stopped: %s", stdout)
	}
	text, _, _ := command(t, append(args, "--yes")...)
	if r := last(text).Result; r == nil || r.Complete == nil || !*r.Complete || r.Error != "" {
		t.Errorf("through: %s", text)
	}
	text, _, _ = command(t, append(args, "--verify")...)
	if r := last(text).Report; r == nil || r.Complete == nil || !*r.Complete || r.Listed != 200 {
		t.Errorf("verified: %s", text)
	}
}

// A key that no item has is said: it may be misspelt.
func TestMoveOfAKeyThatNoItemHas(t *testing.T) {
	s := serveOrders(t)
	s.fillOrders(t, 10)
	args := []string{"move", "orders", "--endpoint", s.endpoint, "--from", "unsharded", "--to", "16"}
	for _, mode := range []string{"--dry-run", "--verify", "--yes"} {
		for flag, want := range map[string]string{"--key": `no item matches --key "OPNE"`, "--prefix": `no item matches --prefix "OPNE"`} {
			stdout, stderr, code := command(t, append(args, mode, flag, "OPNE")...)
			if code != 0 {
				t.Errorf("%s %s: %d, %s", mode, flag, code, stderr)
			}
			contains(t, stdout, want)
			if strings.Contains(stdout, "every item is where") {
				t.Errorf("%s %s: %s", mode, flag, stdout)
			}
		}
	}
}

// A forecast from a sample says how far off it may be.
func TestMoveForecastHasAMargin(t *testing.T) {
	var stdout bytes.Buffer
	out := moveOutput{results: newScreen(&stdout)}
	out.forecast(&mover{table: "orders"}, move.Options{}, move.Forecast{Items: 100_000, Moves: 50_000, MovesMargin: 1200})
	contains(t, stdout.String(), "about 50,000 moves (give or take 1,200) of 100,000 items")
}

// Amounts that are bounds already are not about, and long keys are cut.
func TestMoveTexts(t *testing.T) {
	if got := aboutDollars(0.001, "about "); got != "less than $0.01" {
		t.Error(got)
	}
	if got := aboutDollars(2, "about "); got != "about $2.00" {
		t.Error(got)
	}
	var stdout bytes.Buffer
	out := moveOutput{results: newScreen(&stdout)}
	long := strings.Repeat("k", 2000)
	out.findings([]move.Finding{{Kind: "old", Key: `id "a"`, Stored: long, Want: long}})
	if n := stdout.Len(); n > 300 || !strings.Contains(stdout.String(), "(2000 bytes)") {
		t.Errorf("%d bytes: %s", n, stdout.String())
	}
}

// What the flags do not say, or say wrongly, is asked for.
func TestMoveFlags(t *testing.T) {
	s := serveOrders(t)
	db := local.Start(t)
	if err := db.CreateTable(t.Context(), "orders", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	bare := httptest.NewServer(db.Handler())
	t.Cleanup(bare.Close)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{}, "--to LAYOUT"},
		{[]string{"--from", "unsharded"}, "add --to LAYOUT"},
		{[]string{"--to", "16"}, "add --from LAYOUT"},
		{[]string{"--from", "unsharded", "--to", "many"}, `"many" is not understood`},
		{[]string{"--from", "4 4", "--to", "16"}, "twice"},
		{[]string{"--from", "0", "--to", "16"}, "want 1 or more"},
		{[]string{"--from", "fnv", "--to", "16"}, "no number of shards"},
		{[]string{"--from", "unsharded fnv", "--to", "16"}, "leave them out"},
		{[]string{"--from", "unsharded", "--to", "16 per fortnight"}, "fortnight"},
		{[]string{"--from", "unsharded", "--to", "16 {key}"}, ""},
		{[]string{"--from", "unsharded", "--to", "16 per day"}, "EventTime"},
		{[]string{"--from", "unsharded", "--to", "16 per day", "--event-time", "seen=hours"}, "NAME=milliseconds"},
		{[]string{"--from", "unsharded", "--to", "random 16"}, "Calculated"},
		{[]string{"--from", "16", "--to", "16"}, "is the layout that the collection has now"},
		{[]string{"--from", "unsharded", "--to", "16", "--index", "other"}, "table orders has byStatus"},
		{[]string{"--from", "unsharded", "--to", "16", "--rcu", "0.5"}, "RCU is 0.5"},
		{[]string{"--from", "unsharded", "--to", "16", "--rcu", "0"}, "--rcu 0: nothing would be read"},
		{[]string{"--from", "unsharded", "--to", "16", "--wcu", "0"}, "--wcu 0: nothing would be moved"},
		{[]string{"--from", "unsharded", "--to", "16", "--segments", "0"}, "--segments 0: nothing would be read"},
		{[]string{"--from", "unsharded", "--to", "16", "--key", "OPEN#SHARD_3"}, "name the logical key"},
		{[]string{"--from", "unsharded", "--to", "16", "--dry-run", "--verify"}, "leave one of them out"},
		{[]string{"--from", "unsharded", "--to", "16", "--endpoint", bare.URL}, "no movable collection"},
	} {
		_, stderr, code := command(t, append([]string{"move", "orders", "--endpoint", s.endpoint}, test.args...)...)
		if code != 2 || !strings.Contains(stderr, test.want) {
			t.Errorf("%q: %d, %s, want %s", test.args, code, stderr, test.want)
		}
	}
}

func TestMoveLayoutFlag(t *testing.T) {
	for text, want := range map[string]layout.Layout{
		"unsharded":                {},
		"not sharded":              {},
		"unsharded per day":        {Bucket: layout.Day},
		"16":                       {Shards: 16, Strategy: layout.Calculated},
		"random 4":                 {Shards: 4},
		"8 fnv {key}#{shard}":      {Shards: 8, Strategy: layout.Calculated, Hash: layout.FNV, Format: layout.PlainNumber()},
		"calculated 4 md5 per day": {Shards: 4, Strategy: layout.Calculated, Hash: layout.MD5, Bucket: layout.Day},
	} {
		if got, err := parseLayoutFlag(text); err != nil || got != want {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
	}
}

// A name that no charter has is refused, and nothing is moved.
func TestMoveRefusesANameWithoutCharter(t *testing.T) {
	s := serveOrders(t)
	s.fillOrders(t, 10)
	_, stderr, code := command(t, "move", "orders", "--endpoint", s.endpoint, "--from", "unsharded", "--to", "16", "--name", "openorders", "--yes")
	if code != 2 {
		t.Errorf("exit code %d", code)
	}
	contains(t, stderr, "--name openorders", "has no charter")
	if s.sent["UpdateItem"] {
		t.Error("something was moved")
	}
}

// An empty key is a mistake of a script, and not all keys.
func TestMoveRefusesAnEmptyKey(t *testing.T) {
	s := serveOrders(t)
	for _, flag := range []string{"--key", "--prefix"} {
		_, stderr, code := command(t, "move", "orders", "--endpoint", s.endpoint, "--from", "unsharded", "--to", "16", flag, "", "--dry-run")
		if code != 2 || !strings.Contains(stderr, flag+" is empty") {
			t.Errorf("%s: %d, %s", flag, code, stderr)
		}
	}
}
