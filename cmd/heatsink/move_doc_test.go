package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

func movingPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/moving.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// guideServer is an engine with the table of docs/moving.md, and what it was asked for.
type guideServer struct {
	*httptest.Server
	client *dynamodb.Client
	mu     sync.Mutex
	sent   map[string]bool // operations
}

func serveGuide(t *testing.T) *guideServer {
	t.Helper()
	db := local.Start(t)
	s := &guideServer{client: db.Client(), sent: map[string]bool{}}
	handler := db.Handler()
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		s.mu.Lock()
		s.sent[operation] = true
		s.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
	}
	key := func(name string, kind types.KeyType) types.KeySchemaElement {
		return types.KeySchemaElement{AttributeName: &name, KeyType: kind}
	}
	_, err := s.client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("orders"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{attribute("id"), attribute("status"), attribute("created")},
		KeySchema:            []types.KeySchemaElement{key("id", types.KeyTypeHash)},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byStatus"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: []types.KeySchemaElement{key("status", types.KeyTypeHash), key("created", types.KeyTypeRange)},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	for i := range 1000 {
		_, err := s.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: heatsink.Item{
			"id": text(fmt.Sprintf("order-%04d", i)), "status": text("OPEN"), "created": text("2026-11-16T10:00:00Z"), "item": text("a kettle"),
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// The commands of docs/moving.md work in their order on the local engine, print what the page shows, and send what its policy allows.
func TestMovingGuide(t *testing.T) {
	page := movingPage(t)
	s := serveGuide(t)
	ran := 0
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "heatsink move orders ") {
			continue
		}
		ran++
		args := append(strings.Fields(line)[1:], "--endpoint", s.URL)
		for i, a := range args {
			if a == "--wcu" {
				args[i+1] = "100000" // tests do not wait
			}
		}
		if !slices.Contains(args, "--wcu") && !slices.Contains(args, "--dry-run") && !slices.Contains(args, "--verify") {
			args = append(args, "--wcu", "100000")
		}
		stdout, stderr, code := command(t, args...)
		if code != 0 {
			t.Fatalf("%s: %d, %s", line, code, stderr)
		}
		if strings.Contains(line, "--dry-run") {
			for shown := range strings.Lines(stdout) {
				if !strings.Contains(page, strings.TrimSpace(shown)) {
					t.Errorf("%s prints %q, which the page does not show", line, strings.TrimSpace(shown))
				}
			}
		}
	}
	if ran != 4 {
		t.Errorf("%d commands were found, want 4", ran)
	}
	allowed, sent := policyOf(t, "### IAM, for a listing", 1), slices.Sorted(maps.Keys(s.sent))
	if !slices.Equal(allowed, sent) {
		t.Errorf("the policy allows %q, and the commands send %q", allowed, sent)
	}
}

// policyOf returns the actions of the nth policy behind a heading of docs/moving.md.
func policyOf(t *testing.T, heading string, nth int) (actions []string) {
	t.Helper()
	_, page, ok := strings.Cut(movingPage(t), "\n"+heading+"\n")
	if !ok {
		t.Fatalf("docs/moving.md has no heading %q", heading)
	}
	var policy struct {
		Statement []struct{ Action []string }
	}
	parts := strings.Split(page, "```json\n")
	text, _, _ := strings.Cut(parts[min(nth, len(parts)-1)], "```")
	if err := json.Unmarshal([]byte(text), &policy); err != nil {
		t.Fatal(err)
	}
	for _, st := range policy.Statement {
		for _, action := range st.Action {
			actions = append(actions, strings.TrimPrefix(action, "dynamodb:"))
		}
	}
	slices.Sort(actions)
	return actions
}

// The commands for items found by id work in their order, in virtual time, and end with a move that is over, finished and taken back. They
// print what the page shows, and send what its policy allows.
func TestMovingGuideByID(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		page, sent := movingPage(t), map[string]bool{}
		watched := func() *userTable {
			u := newUserTable(t, 1000, local.Options{Signatures: true})
			watch := faulty.On(t, u.client, nil)
			u.client = watch.Client
			t.Cleanup(func() {
				for _, r := range watch.Requests() {
					sent[r.Operation] = true
				}
				allowed, want := policyOf(t, "### IAM, by id", 2), slices.Sorted(maps.Keys(sent))
				if !slices.Equal(allowed, want) {
					t.Errorf("the policy allows %q, and the commands send %q", allowed, want)
				}
			})
			return u
		}
		one := watched() // all but the way back from split and a single key
		ran := 0
		for line := range strings.Lines(page) {
			args, ok := strings.CutPrefix(strings.TrimSpace(line), "heatsink move users ")
			if !ok {
				continue
			}
			ran++
			u := one
			if strings.Contains(args, "--back") {
				u = newUserTable(t, 100, local.Options{Signatures: true})
				u.want("--to 16 --yes", "stage    split")
			}
			stdout, _, err := u.run(strings.Fields(args)...)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if strings.Contains(args, "--dry-run") {
				for shown := range strings.Lines(stdout) {
					shown, _, _ = strings.Cut(shown, " items, ") // control items name their process, so that their size differs
					if !strings.Contains(page, strings.TrimSpace(shown)) {
						t.Errorf("%s prints %q, which the page does not show", args, strings.TrimSpace(shown))
					}
				}
			}
			if strings.Contains(args, "--wait") {
				u.want("--stage", "is settled")
			}
		}
		if ran != 8 {
			t.Errorf("%d commands were found, want 8", ran)
		}
		c := one.open(unspread)
		for i := range 50 {
			if _, err := c.Get(t.Context(), one.user(i)); err != nil {
				t.Error(err)
			}
		}
		one.want("--finish --yes", "the move is finished")
		one.want("--prefix POST#2026=16 --dry-run", "0 moves", "check how they are spelt")
		one.want("--keys STATUS#ACTIVE=16 --yes", "stage    split")
	})
}

// The commands for a move into another table work in their order, in virtual time, and print what the page shows. Programs with either table
// work until the move is finished.
func TestMovingGuideIntoATable(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		one := newMembers(t)
		ran, page := 0, movingPage(t)
		for line := range strings.Lines(page) {
			args := strings.Fields(line)
			if len(args) < 3 || args[0] != "heatsink" || args[1] != "move" || args[2] != "members" && args[2] != "people" {
				continue
			}
			ran++
			u := one
			if slices.Contains(args, "--back") {
				u = newMembers(t)
				if _, _, err := u.runOn("members", "--into", "people", "--yes"); err != nil {
					t.Fatal(err)
				}
			}
			stdout, _, err := u.runOn(args[2], args[3:]...)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			switch {
			case slices.Contains(args, "--dry-run"):
				for shown := range strings.Lines(stdout) {
					shown, _, _ = strings.Cut(shown, " items, ") // control items name their process, so that their size differs
					if !strings.Contains(page, strings.TrimSpace(shown)) {
						t.Errorf("%s prints %q, which the page does not show", line, strings.TrimSpace(shown))
					}
				}
			case slices.Contains(args, "--stage"):
				for _, table := range []string{"members", "people"} {
					if n, err := u.openIn(table, unspread).Count(t.Context(), heatsink.Query{Key: "STATUS#IDLE"}); n != 50 || err != nil {
						t.Errorf("a program with table %s counts %d, %v, want 50", table, n, err)
					}
				}
			case slices.Contains(args, "--finish"):
				if stdout, _, err := u.runOn("members", "--finish"); err != nil || !strings.Contains(stdout, "the collection has left table members") {
					t.Errorf("finished again: %q, %v", stdout, err)
				}
				_, err := u.openIn("members", sixteenShards).Count(t.Context(), heatsink.Query{Key: "STATUS#IDLE"})
				if !errors.Is(err, heatsink.ErrCharter) || !strings.Contains(err.Error(), "the collection is in table people now") {
					t.Errorf("a program with the old table got %v", err)
				}
			}
		}
		if n, err := one.openIn("people", unspread).Count(t.Context(), heatsink.Query{Key: "STATUS#IDLE"}); ran != 9 || n != 50 || err != nil {
			t.Errorf("%d commands, %d items, want 9 and 50: %v", ran, n, err)
		}
	})
}

var sixteenShards = layout.Layout{Shards: 16, Strategy: layout.Calculated}

// newMembers returns an engine with 100 items in the table members, and the empty table people.
func newMembers(t *testing.T) *userTable {
	t.Helper()
	db, err := local.New(local.Options{Signatures: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	u := &userTable{t: t, client: db.Client()}
	if err := errors.Join(db.CreateTable(t.Context(), "members", "pk", "sk"), db.CreateTable(t.Context(), "people", "pk", "sk")); err != nil {
		t.Fatal(err)
	}
	c := u.openIn("members", unspread)
	for i := range 100 {
		if _, err := c.Put(t.Context(), u.user(i)); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

// openIn opens the collection as a program does that is configured with a table.
func (u *userTable) openIn(table string, with layout.Layout) *heatsink.Collection[heatsink.Item] {
	u.t.Helper()
	c, err := heatsink.Open[heatsink.Item](u.client, heatsink.Options{Table: table, PartitionKey: "pk", SortKey: "sk", Movable: true, Layout: with})
	if err != nil {
		u.t.Fatal(err)
	}
	return c
}

// The commands for a list work in their order.
func TestMovingGuideOfAList(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Signatures: true})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.CreateTable(t.Context(), "views", "pk", "sk"); err != nil {
			t.Fatal(err)
		}
		u := &userTable{t: t, client: db.Client()}
		c, err := heatsink.Open[heatsink.Item](u.client, heatsink.Options{Table: "views", PartitionKey: "pk", SortKey: "sk", Movable: true})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			if _, err := c.Put(t.Context(), u.user(i)); err != nil {
				t.Fatal(err)
			}
		}
		ran := 0
		for line := range strings.Lines(movingPage(t)) {
			text, ok := strings.CutPrefix(strings.TrimSpace(line), "heatsink move views ")
			if !ok {
				continue
			}
			ran++
			var args []string
			for i, part := range strings.Split(text, `"`) {
				if i%2 == 1 {
					args = append(args, part)
				} else {
					args = append(args, strings.Fields(part)...)
				}
			}
			if _, _, err := u.runOn("views", args...); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
		if n, err := c.Count(t.Context(), heatsink.Query{Key: "STATUS#IDLE"}); ran != 2 || n != 50 || err != nil {
			t.Errorf("%d commands, %d items, want 2 and 50: %v", ran, n, err)
		}
	})
}
