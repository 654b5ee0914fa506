package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// ledgerServer is an engine with a table orders, and the requests that it was sent.
type ledgerServer struct {
	endpoint string
	client   *dynamodb.Client // on the same engine, without a port

	mu    sync.Mutex
	sent  map[string]bool                             // operations
	scans int                                         // that the present command has sent
	wrong func(w http.ResponseWriter, scans int) bool // answers a Scan in the engine's place, if it returns true; nil: none
}

func serveOrders(t *testing.T) *ledgerServer {
	t.Helper()
	db := local.Start(t)
	s := &ledgerServer{client: db.Client(), sent: map[string]bool{}}
	handler := db.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		s.mu.Lock()
		s.sent[operation] = true
		answered := false
		if operation == "Scan" && s.wrong != nil {
			s.scans++
			answered = s.wrong(w, s.scans)
		}
		s.mu.Unlock()
		if answered {
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.endpoint = server.URL
	s.create(t, "orders", "S")
	return s
}

// create creates a table with the keys pk and sk, and a global index byStatus with the sort key seen, a string unless another type
// is given.
func (s *ledgerServer) create(t *testing.T, name string, sort types.ScalarAttributeType, seen ...types.ScalarAttributeType) {
	t.Helper()
	seen = append(seen, "S")
	attribute := func(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: kind}
	}
	key := func(name string, kind types.KeyType) types.KeySchemaElement {
		return types.KeySchemaElement{AttributeName: &name, KeyType: kind}
	}
	_, err := s.client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{attribute("pk", "S"), attribute("sk", sort), attribute("status", "S"), attribute("seen", seen[0])},
		KeySchema:            []types.KeySchemaElement{key("pk", types.KeyTypeHash), key("sk", types.KeyTypeRange)},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byStatus"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: []types.KeySchemaElement{key("status", types.KeyTypeHash), key("seen", types.KeyTypeRange)},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (s *ledgerServer) open(t *testing.T, edit ...func(*heatsink.Options)) *heatsink.Collection[heatsink.Item] {
	t.Helper()
	o := heatsink.Options{Table: "orders", PartitionKey: "pk", SortKey: "sk", Adaptive: &heatsink.Adaptive{}}
	for _, edit := range edit {
		edit(&o)
	}
	c, err := heatsink.Open[heatsink.Item](s.client, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// put stores n items of a key.
func (s *ledgerServer) put(t *testing.T, c *heatsink.Collection[heatsink.Item], key string, n int) (largest int) {
	t.Helper()
	for i := range n {
		w, err := c.Put(t.Context(), heatsink.Item{"pk": str(key), "sk": str(fmt.Sprintf("%04d", i)), "at": str("2026-06-22T01:00:00Z")})
		if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, w.Shard)
	}
	return largest
}

// ledger runs heatsink ledger on the table orders.
func (s *ledgerServer) ledger(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	s.mu.Lock()
	s.scans = 0
	s.mu.Unlock()
	return command(t, append([]string{"ledger"}, append(args, "--table", "orders", "--endpoint", s.endpoint)...)...)
}

// succeeds runs a command that must, and returns what it prints.
func (s *ledgerServer) succeeds(t *testing.T, args ...string) (stdout string) {
	t.Helper()
	stdout, stderr, code := s.ledger(t, args...)
	if code != 0 {
		t.Fatalf("%v: exit %d: %s", args, code, stderr)
	}
	return stdout
}

// fails runs a command that must fail, and compares its error.
func (s *ledgerServer) fails(t *testing.T, want string, args ...string) {
	t.Helper()
	if stdout, stderr, code := s.ledger(t, args...); code != 2 || !strings.Contains(stderr, want) {
		t.Errorf("%v: exit %d, %q, %q, want %q", args, code, stdout, stderr, want)
	}
}

// set changes an attribute of a control item.
func (s *ledgerServer) set(t *testing.T, key, name string, v types.AttributeValue) {
	t.Helper()
	_, err := s.client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String("orders"), Key: heatsink.Item{"pk": str(key), "sk": str("-")}, UpdateExpression: aws.String("SET #n = :v"),
		ExpressionAttributeNames: map[string]string{"#n": name}, ExpressionAttributeValues: heatsink.Item{":v": v},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLedgerShowAndGrow(t *testing.T) {
	s := serveOrders(t)
	c := s.open(t)
	s.put(t, c, "NEW", 3)
	inOrder(t, s.succeeds(t, "show", "NEW"), "key NEW", "1 shard, the bare key: no ledger is stored", "collection table", "widths", "adaptive", "{key}[#SHARD_{shard}]", "key", "pk, sk", "growth", "not frozen")

	out := s.succeeds(t, "grow", "NEW", "16", "--why", "sale on Friday", "--dry-run")
	inOrder(t, out, "key NEW would grow from 1 to 16 shards", "sends 15 requests more: 7.5 read units if the added shards are empty", "nothing was changed")
	if l, err := c.Ledgers().Show(t.Context(), "NEW", time.Time{}); err != nil || l.Generation != 0 {
		t.Errorf("after a dry run: %+v, %v", l, err)
	}
	inOrder(t, s.succeeds(t, "grow", "NEW", "16", "--why", "sale on Friday"), "key NEW has grown from 1 to 16 shards")
	if l, err := c.Ledgers().Show(t.Context(), "NEW", time.Time{}); err != nil || l.Width.Write != 16 || l.Why != "sale on Friday" {
		t.Errorf("got %+v, %v", l, err)
	}
	inOrder(t, s.succeeds(t, "grow", "NEW", "8", "--why", "again"), "key NEW has 16 shards already: nothing changes")
	inOrder(t, s.succeeds(t, "show", "NEW"), "16 shards written, 16 read", "generation", "1", "frozen", "no", "ago, by ", "sale on Friday", "before", "1")

	var got struct {
		Ledger  ledgerDocument
		Charter map[string]any
	}
	if err := json.Unmarshal([]byte(s.succeeds(t, "show", "NEW", "--json")), &got); err != nil || got.Ledger.Width != 16 || got.Ledger.ReadWidth != 16 ||
		got.Ledger.Generation != 1 || len(got.Ledger.History) != 1 || got.Ledger.At == nil || got.Charter["widths"] != "adaptive" {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"no reason given: add --why", []string{"grow", "NEW", "32"}},
		{`width "many": want a number`, []string{"grow", "NEW", "many", "--why", "x"}},
		{"a key has 1 to 1024 shards", []string{"grow", "NEW", "1025", "--why", "x"}},
		{"a key has at most 1024 shards", []string{"grow", "NEW", "1025", "--why", "x", "--dry-run"}},
		{"want a key and a width", []string{"grow", "NEW", "--why", "x"}},
		{"no key given", []string{"show"}},
		{"one key at a time", []string{"show", "a", "b"}},
		{"the layout has no buckets: leave --at out", []string{"show", "NEW", "--at", "now"}},
		{`"_hs#L#x##y" is the key of a control item`, []string{"show", "_hs#L#x##y"}},
		{"give one of its commands first: charter, freeze, grow", []string{"grwo", "NEW"}},
	} {
		s.fails(t, c.want, c.args...)
	}
	if _, stderr, code := command(t, "ledger", "grwo"); code != 2 || !strings.Contains(stderr, `unknown command "grwo" for "heatsink ledger"`) {
		t.Errorf("exit %d, %s", code, stderr)
	}
	if _, stderr, code := command(t, "ledger", "ls"); code != 2 || !strings.Contains(stderr, "no table given: add --table NAME") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	if _, stderr, code := command(t, "ledger", "ls", "--table", "nothing", "--endpoint", s.endpoint); code != 2 || !strings.Contains(stderr, `table "nothing" not found at http`) {
		t.Errorf("exit %d, %s", code, stderr)
	}
	if _, stderr, code := command(t, "ledger", "ls", "--table", "orders", "--control-table", "nothing", "--endpoint", s.endpoint); code != 2 || !strings.Contains(stderr, `table "nothing" not found at http`) {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

func TestLedgerFreezeAndThaw(t *testing.T) {
	s := serveOrders(t)
	c := s.open(t)
	s.put(t, c, "NEW", 1)
	inOrder(t, s.succeeds(t, "freeze", "NEW", "--why", "reads became too slow"), "frozen", "yes", "reads became too slow")
	s.fails(t, "frozen", "grow", "NEW", "4", "--why", "x")
	s.fails(t, `key "NEW" is frozen by `, "grow", "NEW", "4", "--why", "x", "--dry-run")
	inOrder(t, s.succeeds(t, "thaw", "NEW"), "frozen", "no")

	inOrder(t, s.succeeds(t, "freeze", "--all", "--why", "incident 7"), "collection table is frozen at ", "incident 7")
	if _, err := c.Ledgers().Grow(t.Context(), "NEW", time.Time{}, 4, "x"); err == nil {
		t.Error("a process has made a key wider of a frozen collection")
	}
	s.fails(t, `collection "table" of table orders is frozen at `, "grow", "NEW", "4", "--why", "x")
	s.fails(t, `collection "table" is frozen at `, "grow", "NEW", "4", "--why", "x", "--dry-run")
	inOrder(t, s.succeeds(t, "ls"), "the collection is frozen at ")
	inOrder(t, s.succeeds(t, "charter"), "growth", "frozen at ", "incident 7")
	if out := s.succeeds(t, "thaw", "--all"); out != "collection table is not frozen\n" {
		t.Errorf("got %s", out)
	}
	s.succeeds(t, "grow", "NEW", "4", "--why", "x")
	if out := s.succeeds(t, "freeze", "--all", "--json"); !strings.Contains(out, `"frozen":{`) {
		t.Errorf("got %s", out)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"no key given: use heatsink ledger freeze KEY, or --all", []string{"freeze"}},
		{"--all is about every key", []string{"thaw", "NEW", "--all"}},
		{"leave --at out, or --all", []string{"freeze", "--all", "--at", "now"}},
		{"leave --why out", []string{"thaw", "--all", "--why", "x"}},
	} {
		s.fails(t, c.want, c.args...)
	}
}

// The charter tells everything that a command needs, whatever the layout.
func TestLedgerOfEveryLayout(t *testing.T) {
	s := serveOrders(t)
	s.create(t, "numbers", "N")
	if err := heatsink.SetupControlTable(t.Context(), s.client, "control"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		edit func(*heatsink.Options)
		args []string
	}{
		{"random", func(o *heatsink.Options) { o.Name = "a" }, nil},
		{"calculated", func(o *heatsink.Options) {
			o.Name, o.Layout = "b", layout.Layout{Strategy: layout.Calculated, Hash: layout.FNV, Format: layout.Format{ShardPrefix: "."}}
			o.ShardBy, o.Older = []string{"user", "sk"}, []layout.Layout{{Shards: 4}}
		}, nil},
		{"buckets", func(o *heatsink.Options) {
			o.Name, o.Layout.Bucket, o.EventTime = "c", layout.Hour, heatsink.EventTime{Attribute: "at", Unit: heatsink.UnixMilliseconds}
		}, []string{"--at", "2026-06-22T01:00:00Z"}},
		{"index", func(o *heatsink.Options) {
			o.Name, o.Layout.Strategy, o.Index = "d", layout.Calculated, heatsink.Index{Name: "byStatus", PartitionKey: "status", SortKey: "seen"}
			o.Version, o.TTL = "ver", "ttl"
		}, nil},
		{"control table", func(o *heatsink.Options) { o.Name, o.ControlTable = "e", "control" }, []string{"--control-table", "control"}},
		{"a sort key that is a number", func(o *heatsink.Options) { o.Name, o.Table = "f", "numbers" }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := heatsink.Options{}
			c.edit(&o)
			collection := s.open(t, c.edit)
			at := time.Date(2026, 6, 22, 1, 0, 0, 0, time.UTC)
			if _, err := collection.Ledgers().Grow(t.Context(), "k", at, 2, "by hand"); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"--name", o.Name, "--endpoint", s.endpoint, "--table", "orders"}, c.args...)
			if o.Table != "" {
				args[5] = o.Table
			}
			for _, sub := range [][]string{{"show", "k"}, {"grow", "k", "4", "--why", "x"}, {"freeze", "k"}, {"thaw", "k"}, {"repair", "k"}} {
				if stdout, stderr, code := command(t, slices.Concat([]string{"ledger"}, sub, args)...); code != 0 || !strings.Contains(stdout, "key k ") && !strings.Contains(stdout, "key k\n") {
					t.Errorf("%v: exit %d, %s%s", sub, code, stdout, stderr)
				}
			}
			without := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "--at" || strings.HasPrefix(a, "2026") })
			for _, sub := range []string{"ls", "charter"} {
				if stdout, stderr, code := command(t, append([]string{"ledger", sub}, without...)...); code != 0 || sub == "ls" && !strings.Contains(stdout, "k  ") {
					t.Errorf("%s: exit %d, %s%s", sub, code, stdout, stderr)
				}
			}
			if l, err := collection.Ledgers().Show(t.Context(), "k", at); err != nil || l.Width.Write != 4 {
				t.Errorf("got %+v, %v", l, err)
			}
		})
	}
	for want, args := range map[string][]string{
		"add --at TIME, or --at now":                                                  {"show", "k", "--name", "c"},
		"--at \"noon\": want now, or a time":                                          {"show", "k", "--name", "c", "--at", "noon"},
		`no collection is recorded as "x"`:                                            {"show", "k", "--name", "x"},
		"no collection is recorded as table or byStatus in table orders: give --name": {"show", "k"},
	} {
		s.fails(t, want, args...)
	}
}

// A collection is found without its name, unless there are several.
func TestLedgerFindsTheCollection(t *testing.T) {
	s := serveOrders(t)
	index := func(o *heatsink.Options) {
		o.Layout.Strategy, o.Index = layout.Calculated, heatsink.Index{Name: "byStatus", PartitionKey: "status", SortKey: "seen"}
	}
	if _, err := s.open(t, index).Ledgers().Grow(t.Context(), "k", time.Time{}, 2, "x"); err != nil {
		t.Fatal(err)
	}
	inOrder(t, s.succeeds(t, "charter"), "collection byStatus", "index", "byStatus: status, seen")
	s.put(t, s.open(t), "k", 1)
	s.fails(t, "table orders has the collections table, byStatus: choose one with --name", "ls")
	inOrder(t, s.succeeds(t, "charter", "--name", "table"), "collection table")
}

func TestLedgerCharter(t *testing.T) {
	s := serveOrders(t)
	fixed := func(o *heatsink.Options) { o.Adaptive, o.Recorded, o.Layout.Shards = nil, true, 16 }
	s.put(t, s.open(t, fixed), "NEW", 40)
	inOrder(t, s.succeeds(t, "charter"), "collection table", "widths", "fixed, 16 shards", "strategy", "random", "format", "{key}#SHARD_{shard}", "written", "growth", "not frozen")
	s.fails(t, `collection "table" of table orders has no ledgers: its widths are not adaptive`, "ls")

	stored := s.succeeds(t, "charter", "--json")
	file := filepath.Join(t.TempDir(), "charter.json")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(stored)
	if _, stderr, code := s.ledger(t, "charter", "--from", file); code != 0 || !strings.Contains(stderr, "is the layout that is stored") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	write(strings.Replace(stored, `"fixed 16"`, `"adaptive"`, 1))
	_, stderr, code := s.ledger(t, "charter", "--from", file)
	if code != 0 {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	inOrder(t, stderr, "widths changes from fixed 16 to adaptive", `warning: items that are stored under the layout "random 16 {key}#SHARD_{shard}" are not read any more: add it to older`, "nothing was changed: add --force")

	adaptive := strings.Replace(strings.Replace(stored, `"fixed 16"`, `"adaptive"`, 1), `"older": []`, `"older": ["random 16 {key}#SHARD_{shard}"]`, 1)
	adaptive = strings.Replace(adaptive, `#SHARD_{shard}",`, `[#SHARD_{shard}]",`, 1)
	write(adaptive)
	stdout, stderr, code := s.ledger(t, "charter", "--from", file, "--force")
	if code != 0 || strings.Contains(stderr, "warning") || !strings.Contains(stderr, "the charter was replaced") {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	inOrder(t, stdout, "widths", "adaptive", "older", "written", "by heatsink ledger charter")
	now := s.open(t, func(o *heatsink.Options) { o.Older = []layout.Layout{{Shards: 16}} })
	if n, err := now.Count(t.Context(), heatsink.Query{Key: "NEW", Consistent: true}); n != 40 || err != nil {
		t.Errorf("after the change: %d items, %v", n, err)
	}
	if _, err := s.open(t, fixed).Count(t.Context(), heatsink.Query{Key: "NEW"}); err == nil || !strings.Contains(err.Error(), `"heatsink ledger charter --from FILE --force"`) {
		t.Errorf("a process with the old layout: %v", err)
	}

	s.fails(t, "add --from FILE", "charter", "--force")
	s.fails(t, "no such file", "charter", "--from", file+"x")
	for want, text := range map[string]string{
		`widths is "some"`:                      strings.Replace(stored, `"fixed 16"`, `"some"`, 1),
		`partition_key is "id"`:                 strings.Replace(stored, `"partition_key": "pk"`, `"partition_key": "id"`, 1),
		`no global index of that name`:          strings.Replace(stored, `"partition_key"`, `"index": {"name": "x", "partition_key": "y"}, "partition_key"`, 1),
		`leave table out`:                       strings.Replace(stored, `"partition_key"`, `"table": "x", "partition_key"`, 1),
		`an Index needs a Calculated layout`:    strings.Replace(adaptive, `"partition_key"`, `"index": {"name": "byStatus", "partition_key": "status"}, "partition_key"`, 1),
		"strategy is missing: begin with the d": strings.Replace(stored, `"strategy": "random",`, "", 1),
	} {
		write(text)
		s.fails(t, want, "charter", "--from", file, "--force")
	}
}

// A damaged charter is replaced, and one of a newer version is not.
func TestLedgerCharterOfADamagedOne(t *testing.T) {
	s := serveOrders(t)
	s.put(t, s.open(t), "NEW", 1)
	file := filepath.Join(t.TempDir(), "charter.json")
	if err := os.WriteFile(file, []byte(s.succeeds(t, "charter", "--json")), 0o600); err != nil {
		t.Fatal(err)
	}
	s.set(t, "_hs#C#table", "_hs_widths", str("by the moon"))
	s.fails(t, `_hs_widths is "by the moon"`, "charter")
	s.fails(t, `_hs_widths is "by the moon"`, "ls")
	if _, stderr, code := s.ledger(t, "charter", "--from", file, "--force"); code != 0 || !strings.Contains(stderr, "the charter is damaged: ") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	inOrder(t, s.succeeds(t, "charter"), "adaptive")
	s.set(t, "_hs#C#table", "_hs_v", &types.AttributeValueMemberN{Value: "2"})
	s.fails(t, "upgrade heatsink", "charter", "--from", file, "--force")
}

// A policy allows the requests that are sent, and no others.
func TestLedgerPolicyIsWhatIsSent(t *testing.T) {
	s := serveOrders(t)
	c := s.open(t)
	s.put(t, c, "NEW", 5)
	file := filepath.Join(t.TempDir(), "charter.json")
	if err := os.WriteFile(file, []byte(s.succeeds(t, "charter", "--json")), 0o600); err != nil {
		t.Fatal(err)
	}
	sent := func() (actions []string) {
		for operation := range s.sent {
			actions = append(actions, "dynamodb:"+operation)
		}
		s.sent = map[string]bool{}
		slices.Sort(actions)
		return actions
	}
	sent()
	const arn = "arn:aws:dynamodb:eu-west-1:123456789012:table/orders"
	for use, runs := range map[string][][]string{
		"show":    {{"show", "NEW"}},
		"ls":      {{"ls"}},
		"grow":    {{"grow", "NEW", "4", "--why", "x"}},
		"freeze":  {{"freeze", "NEW"}, {"thaw", "NEW"}, {"freeze", "--all"}, {"thaw", "--all"}},
		"repair":  {{"repair", "NEW", "--width", "2"}}, // so that it writes, whatever ran before
		"charter": {{"charter"}, {"charter", "--from", file, "--force"}},
	} {
		for _, args := range runs {
			s.succeeds(t, args...)
		}
		if got, want := allowed(t, "--table-arn", arn, "--for", use), sent(); !slices.Equal(got, want) {
			t.Errorf("%s: the policy allows %q, and %q were sent", use, got, want)
		}
	}
	s.work(t)
	if got, want := allowed(t, "--table-arn", arn, "--for", "process"), sent(); !slices.Equal(got, want) {
		t.Errorf("process: the policy allows %q, and %q were sent", got, want)
	}
}

// work does everything that a process with an adaptive collection does, on the port.
func (s *ledgerServer) work(t *testing.T) {
	t.Helper()
	a := account{endpoint: s.endpoint}
	clients, err := a.clients(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := heatsink.Open[heatsink.Item](clients.tables, heatsink.Options{
		Table: "orders", PartitionKey: "pk", SortKey: "sk", Layout: layout.Layout{Strategy: layout.Calculated}, Adaptive: &heatsink.Adaptive{}, Name: "work",
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	item := func(sort string) heatsink.Item { return heatsink.Item{"pk": str("hot"), "sk": str(sort)} }
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(time.Minute); ; { // until the law has reported a rate
		big := item("big")
		big["body"] = str(strings.Repeat("x", 300_000))
		_, err := c.Put(ctx, big)
		check(err)
		s.mu.Lock()
		reported := s.sent["UpdateItem"]
		s.mu.Unlock()
		if reported {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no rate was reported for a minute")
		}
	}
	_, err = c.Ledgers().Grow(ctx, "hot", time.Time{}, 4, "x")
	check(err)
	_, err = c.Update(ctx, item("big"), func(in *dynamodb.UpdateItemInput) {
		in.UpdateExpression = aws.String("SET n = :n")
		in.ExpressionAttributeValues = heatsink.Item{":n": str("1")}
	})
	check(err)
	check(c.BatchPut(ctx, []heatsink.Item{item("1"), item("2")}))
	_, err = c.Get(ctx, item("1"))
	check(err)
	_, err = c.BatchGet(ctx, []heatsink.Item{item("1"), item("2")})
	check(err)
	_, err = c.Count(ctx, heatsink.Query{Key: "hot", Consistent: true})
	check(err)
	_, err = c.Delete(ctx, item("1"))
	check(err)
}

// allowed returns the actions of a policy.
func allowed(t *testing.T, args ...string) (actions []string) {
	t.Helper()
	stdout, stderr, code := command(t, append([]string{"ledger", "policy"}, args...)...)
	var p policyDocument
	if err := json.Unmarshal([]byte(stdout), &p); err != nil || code != 0 {
		t.Fatalf("exit %d, %v, %s", code, err, stderr)
	}
	for _, s := range p.Statement {
		actions = append(actions, s.Action...)
	}
	slices.Sort(actions)
	return slices.Compact(actions)
}

func TestLedgerPolicy(t *testing.T) {
	const arn = "arn:aws:dynamodb:eu-west-1:123456789012:table/orders"
	stdout, _, _ := command(t, "ledger", "policy", "--table-arn", arn, "--for", "repair,ls", "--index", "byStatus")
	const want = `{
  "Version": "2012-10-17",
  "Statement": [
    {
      "Sid": "Heatsink1",
      "Effect": "Allow",
      "Action": [
        "dynamodb:DescribeTable",
        "dynamodb:Scan"
      ],
      "Resource": "arn:aws:dynamodb:eu-west-1:123456789012:table/orders"
    },
    {
      "Sid": "Heatsink2",
      "Effect": "Allow",
      "Action": [
        "dynamodb:Query"
      ],
      "Resource": "arn:aws:dynamodb:eu-west-1:123456789012:table/orders/index/byStatus"
    },
    {
      "Sid": "HeatsinkControl3",
      "Effect": "Allow",
      "Action": [
        "dynamodb:GetItem",
        "dynamodb:PutItem"
      ],
      "Resource": "arn:aws:dynamodb:eu-west-1:123456789012:table/orders",
      "Condition": {
        "ForAllValues:StringLike": {
          "dynamodb:LeadingKeys": [
            "_hs#*"
          ]
        }
      }
    }
  ]
}
`
	if stdout != want {
		t.Errorf("got %s", stdout)
	}
	stdout, _, _ = command(t, "ledger", "policy", "--table-arn", arn, "--control-table-arn", arn+"-control", "--for", "process")
	if strings.Contains(stdout, "LeadingKeys") || !strings.Contains(stdout, `"Resource": "`+arn+`-control"`) || strings.Contains(stdout, "index") {
		t.Errorf("got %s", stdout)
	}
	for want, args := range map[string][]string{
		"no table given: add --table-arn":        {"--for", "ls"},
		"nothing says what the policy is for":    {"--table-arn", arn},
		`--for "all": want one or more of`:       {"--table-arn", arn, "--for", "all"},
		`--table-arn "orders": want an ARN`:      {"--table-arn", "orders", "--for", "ls"},
		`--control-table-arn "x": want an ARN s`: {"--table-arn", arn, "--control-table-arn", "x", "--for", "ls"},
	} {
		if _, stderr, code := command(t, append([]string{"ledger", "policy"}, args...)...); code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%v: exit %d, %s", args, code, stderr)
		}
	}
}

// Every command explains itself, with examples.
func TestLedgerHelp(t *testing.T) {
	for _, sub := range []string{"", "ls", "show", "grow", "freeze", "thaw", "repair", "charter", "policy"} {
		args := slices.DeleteFunc([]string{"ledger", sub, "--help"}, func(a string) bool { return a == "" })
		stdout, stderr, code := command(t, args...)
		if code != 0 || stderr != "" || !strings.Contains(stdout, "Examples:\n  heatsink ledger") {
			t.Errorf("%s: exit %d, %s%s", sub, code, stdout, stderr)
		}
	}
}

// With several collections, a charter is replaced only where --name says which one is meant, also if one is damaged.
func TestLedgerCharterOfADamagedOneOfSeveral(t *testing.T) {
	s := serveOrders(t)
	for _, o := range []func(*heatsink.Options){
		func(*heatsink.Options) {},
		func(o *heatsink.Options) {
			o.Layout.Strategy, o.Index = layout.Calculated, heatsink.Index{Name: "byStatus", PartitionKey: "status", SortKey: "seen"}
		},
	} {
		if _, err := s.open(t, o).Ledgers().Grow(t.Context(), "k", time.Time{}, 2, "a test"); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "charter.json")
	if err := os.WriteFile(file, []byte(s.succeeds(t, "charter", "--json", "--name", "table")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, damaged := range []string{"table", "byStatus"} {
		s.set(t, "_hs#C#"+damaged, "_hs_widths", str("wide"))
		s.fails(t, "has the collections table, byStatus: choose one with --name", "charter", "--from", file, "--force")
	}
	s.fails(t, "wide", "charter", "--name", "byStatus")
}
