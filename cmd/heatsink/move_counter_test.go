package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/counter"
	"github.com/heatsink-go/heatsink/move"
)

// view counts in an attribute of the orders, as a program without heatsink does.
func (s *ledgerServer) view(t *testing.T, id string, n int) {
	t.Helper()
	_, err := s.client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String("orders"), Key: heatsink.Item{"pk": &types.AttributeValueMemberS{Value: id}, "sk": &types.AttributeValueMemberS{Value: "META"}},
		UpdateExpression: aws.String("ADD #v :n"), ExpressionAttributeNames: map[string]string{"#v": "views"},
		ExpressionAttributeValues: heatsink.Item{":n": &types.AttributeValueMemberN{Value: fmt.Sprint(n)}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The whole way of an import: what it costs, the import, the proof, a late program, and the cure.
func TestMoveCounters(t *testing.T) {
	s := serveOrders(t)
	if err := counter.Setup(t.Context(), s.client, counter.Options{Table: "counters"}); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		s.view(t, fmt.Sprint("o", i), i+1)
	}
	args := []string{"move", "orders", "--endpoint", s.endpoint, "--counter", "views", "--sort-value", "META", "--counters", "counters"}
	stdout, stderr, code := command(t, append(args, "--dry-run")...)
	if code != 0 {
		t.Fatal(stderr)
	}
	contains(t, stdout, `import of attribute "views" of table orders into counters of table counters`, "counters   20, in 20 items", "writes     20 units", "on demand, at the prices of us-east-1")
	stdout, stderr, code = command(t, append(args, "--verify")...)
	if code != 1 {
		t.Errorf("verify before the import exits with %d", code)
	}
	contains(t, stdout, "20 items read, 20 counters", "20  not imported, or counted in the attribute since", "missing", `item with pk "o`, "it is not imported")
	contains(t, stderr, "20 attributes are not as they were imported")
	stdout, stderr, code = command(t, args...)
	if code != 0 {
		t.Fatal(stderr)
	}
	contains(t, stdout, "20 imports in 2 passes", "writes   20 units, forecast 20", "every counter has what its attribute has: 20")
	stdout, stderr, code = command(t, append(args, "--verify")...)
	if code != 0 {
		t.Error(stderr)
	}
	contains(t, stdout, "20  imported, and equal to the attribute")
	s.view(t, "o3", 10)
	if stdout, _, code = command(t, append(args, "--verify")...); code != 1 {
		t.Errorf("verify after a late program exits with %d", code)
	}
	contains(t, stdout, `late         item with pk "o3" and sk "META" has 14, imported 4: an older program has counted since the import`)
	stdout, stderr, code = command(t, append(args, "--json")...)
	if code != 0 {
		t.Fatal(stderr)
	}
	var last struct{ Result move.Result }
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Result.Moved != 1 || last.Result.Right != 20 {
		t.Errorf("%s: %v", lines[len(lines)-1], err)
	}
	c, err := counter.Open(s.client, counter.Options{Table: "counters"})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.Total(t.Context(), "o3"); err != nil || n != 14 {
		t.Errorf("got %d, %v, want 14", n, err)
	}
	if err := c.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestMoveCountersRefuses(t *testing.T) {
	s := serveOrders(t)
	s.view(t, "o1", 1)
	for _, x := range []struct{ args, want string }{
		{"--counter views", `table orders has the sort key "sk": say which items have the attribute, with --sort-value`},
		{"--counter views --sort-value META --to 16", "--counter and --to: an import of counters has no layouts and no stages"},
		{"--counter views --sort-value base", "the counters' own items"},
		{"--counter views --sort-value META --counters nowhere", `table "nowhere" not found`},
		{"--counter= --sort-value META", "--counter is empty"},
		{"--sort-value META", "--sort-value is for counters"},
		{"--counter views --sort-value META --dry-run --verify", "leave one of them out"},
	} {
		_, stderr, code := command(t, append([]string{"move", "orders", "--endpoint", s.endpoint}, strings.Fields(x.args)...)...)
		if code != 2 || !strings.Contains(stderr, x.want) {
			t.Errorf("%s: got %d, %s, want %q", x.args, code, stderr, x.want)
		}
	}
	for _, more := range [][]string{{}, {"--dry-run"}, {"--verify"}} { // whoever has mistyped the attribute must not go on
		args := append([]string{"move", "orders", "--endpoint", s.endpoint, "--counter", "likes", "--sort-value", "META"}, more...)
		_, stderr, code := command(t, args...)
		if code != 1 {
			t.Errorf("%v: exit code %d, want 1", more, code)
		}
		contains(t, stderr, `no item of table orders with the sort key "META" has the attribute "likes": check --counter`)
	}
}
