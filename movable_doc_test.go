package heatsink

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/layout"
)

func movingPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("docs/moving.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// actionsOf returns the actions that requests need of IAM.
func actionsOf(requests []faulty.Request) (actions []string) {
	for _, r := range requests {
		in, ok := r.Input.(*dynamodb.TransactWriteItemsInput)
		if !ok {
			actions = append(actions, r.Operation)
			continue
		}
		for _, part := range in.TransactItems {
			switch {
			case part.Put != nil:
				actions = append(actions, "PutItem")
			case part.Update != nil:
				actions = append(actions, "UpdateItem")
			case part.Delete != nil:
				actions = append(actions, "DeleteItem")
			default:
				actions = append(actions, "ConditionCheckItem")
			}
		}
	}
	return actions
}

// The policies of programs in docs/moving.md allow what a movable collection sends at all stages of a move, and no more. Programs that
// only read send no writes.
func TestMovablePolicy(t *testing.T) {
	sent, read := map[string]bool{}, map[string]bool{}
	for _, stages := range [][]forward.Stage{stagesOfAMove, {{Phase: forward.Split}, {Phase: forward.Back}}} {
		bubble.Test(t, func(t *testing.T) {
			f := newTariff(t)
			ctx := context.Background()
			f.fill(5)
			reads := faulty.On(t, f.db.Client(), nil)
			reader, err := Open[Item](reads, movables())
			if err != nil {
				t.Fatal(err)
			}
			use := func() {
				t.Helper()
				ids := f.fill(9)
				for i, id := range ids {
					if i < 6 {
						f.move("k", id)
					}
					like := ov("pk", "k", "sk", id)
					if _, err := reader.Get(ctx, like); err != nil {
						t.Fatal(err)
					}
					if _, err := reader.BatchGet(ctx, []Item{like}); err != nil {
						t.Fatal(err)
					}
					if _, err := all(ctx, reader, Query{Key: "k"}, "sk"); err != nil {
						t.Fatal(err)
					}
					check, err := f.c.TransactCheck(ctx, like, func(c *types.ConditionCheck) { c.ConditionExpression = aws.String("attribute_exists(pk)") })
					if err != nil {
						t.Fatal(err)
					}
					put, err := f.c.TransactPut(ctx, ov("pk", "k", "sk", f.id()))
					if err != nil {
						t.Fatal(err)
					}
					var tx Transaction
					tx.Add(f.c, check, put)
					if err := tx.Write(ctx); err != nil {
						t.Fatal(err)
					}
					for _, u := range pricedUses[4:] { // the last of them is an Update again, of an id that was deleted
						if err := u.use(ctx, f.c, id, true); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			use()
			for _, stage := range stages {
				var next *layout.Layout
				if stage.Phase == forward.Split {
					next = &sixteen
				}
				if stage.Phase == forward.Settling {
					for id := range f.ids {
						f.move("k", fmt.Sprintf("%05d", id+1))
					}
				}
				f.enter(stage, next)
				use()
				time.Sleep(63 * time.Minute)
			}
			for _, action := range actionsOf(f.client.Requests()) {
				sent[action] = true
			}
			for _, action := range actionsOf(reads.Requests()) {
				read[action] = true
			}
		})
	}
	for action := range read {
		sent[action] = true
	}
	delete(read, "DescribeTable") // which is optional
	if got, want := slices.Sorted(maps.Keys(read)), []string{"BatchGetItem", "GetItem", "Query"}; !slices.Equal(got, want) {
		t.Errorf("a program that only reads needs %q, want %q", got, want)
	}
	_, text, _ := strings.Cut(movingPage(t), "\n### IAM, by id\n")
	_, text, _ = strings.Cut(text, "```json\n")
	text, _, _ = strings.Cut(text, "```")
	var policy struct {
		Statement []struct{ Action []string }
	}
	if err := json.Unmarshal([]byte(text), &policy); err != nil {
		t.Fatal(err)
	}
	var allowed []string
	for _, action := range policy.Statement[0].Action {
		allowed = append(allowed, strings.TrimPrefix(action, "dynamodb:"))
	}
	if got := slices.Sorted(maps.Keys(sent)); !slices.Equal(got, allowed) {
		t.Errorf("the policy of programs allows %q, and they need %q", allowed, got)
	}
}

// The code of docs/moving.md is that of the examples, which run.
func TestMovingCode(t *testing.T) {
	examples, err := os.ReadFile("example_movable_test.go")
	if err != nil {
		t.Fatal(err)
	}
	plain := func(text string) string {
		var lines []string
		for line := range strings.Lines(text) {
			lines = append(lines, strings.TrimSpace(line))
		}
		return strings.TrimSpace(strings.Join(lines, "\n"))
	}
	blocks := strings.Split(movingPage(t), "```go\n")[1:]
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		if !strings.Contains(plain(string(examples)), plain(block)) {
			t.Errorf("example_movable_test.go does not have\n%s", block)
		}
	}
	if len(blocks) < 7 {
		t.Errorf("%d blocks of code were found, want 7 at least", len(blocks))
	}
}
