package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// putOrder writes an order with a status as it is given.
func (s *ledgerServer) putOrder(t *testing.T, id, status string) {
	t.Helper()
	item := heatsink.Item{"pk": str(id), "sk": str("x"), "status": str(status), "seen": str("2026-11-16T10:00:00Z")}
	if _, err := s.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: item}); err != nil {
		t.Error(err)
	}
}

// A move that is through but leaves damage exits with 1. A script can tell that from a move that could not be made.
func TestMoveExitsWith1ForDamage(t *testing.T) {
	s := serveOrders(t)
	s.fillOrders(t, 5)
	s.putOrder(t, "beyond", "OPEN#SHARD_77")
	stdout, stderr, code := command(t, "move", "orders", "--endpoint", s.endpoint, "--from", "unsharded", "--to", "16", "--yes")
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	contains(t, stdout, "5 items moved", `"OPEN#SHARD_77"`)
	contains(t, stderr, "items are in places that no layout explains")
	if strings.Contains(stdout, "every item is where") {
		t.Error(stdout)
	}
}

// A program that writes the old layout before each Scan makes the move exit with 1.
func TestMoveExitsWith1ForOldWriters(t *testing.T) {
	s := serveOrders(t)
	s.fillOrders(t, 5)
	s.wrong = func(http.ResponseWriter, int) bool {
		s.putOrder(t, "late", "OPEN")
		return false
	}
	stdout, stderr, code := command(t, "move", "orders", "--endpoint", s.endpoint, "--from", "unsharded", "--to", "16", "--yes", "--segments", "1")
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	contains(t, stdout, "3 items appeared in old places", "the move is not through")
	contains(t, stderr, "programs still write an old layout")
}

// A move that fails exits with 2, also when it has moved items.
func TestMoveExitsWith2ForAFailure(t *testing.T) {
	s := serveOrders(t)
	s.fillOrders(t, 5)
	s.wrong = func(w http.ResponseWriter, scans int) bool {
		if scans < 3 { // the sample and the first pass
			return false
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"__type":"com.amazon.coral.service#AccessDeniedException","message":"no"}`))
		return true
	}
	stdout, stderr, code := command(t, "move", "orders", "--endpoint", s.endpoint, "--from", "unsharded", "--to", "16", "--yes", "--segments", "1")
	if code != 2 {
		t.Errorf("exit code %d, want 2", code)
	}
	contains(t, stdout, "5 items moved", "the move is not through")
	contains(t, stderr, "AccessDenied")
}

// With --json, a verification prints progress and the report. The exit code says whether anything is wrong.
func TestMoveVerifyPrintsJSON(t *testing.T) {
	s := serveOrders(t)
	s.fillOrders(t, 5)
	s.putOrder(t, "beyond", "OPEN#SHARD_77")
	for _, test := range []struct {
		key  string
		code int
		want move.Report
	}{
		{"OPEN", 1, move.Report{Scanned: 6, Listed: 6, Old: 5, Ambiguous: 1}},
		{"CLOSED", 0, move.Report{Scanned: 6}},
	} {
		stdout, stderr, code := command(t, "move", "orders", "--endpoint", s.endpoint, "--from", "unsharded", "--to", "16", "--key", test.key, "--verify", "--json")
		if code != test.code || test.code == 1 && !strings.Contains(stderr, "6 items are not where the layout has them") {
			t.Errorf("%s: exit code %d, %s", test.key, code, stderr)
		}
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		for i, line := range lines {
			name := "progress"
			if i == len(lines)-1 {
				name = "report"
			}
			if !json.Valid([]byte(line)) || !strings.HasPrefix(line, `{"`+name+`":{`) {
				t.Errorf("%s: line %d is %s", test.key, i, line)
			}
		}
		var last struct {
			Report struct {
				move.Report
				Complete bool
				Error    string
			}
		}
		decode := json.NewDecoder(bytes.NewReader([]byte(lines[len(lines)-1])))
		decode.DisallowUnknownFields()
		if err := decode.Decode(&last); err != nil || len(last.Report.Findings) != int(test.want.Damaged()) || !last.Report.Complete {
			t.Errorf("%s: %+v, %v", test.key, last.Report, err)
		}
		if last.Report.Findings = nil; !reflect.DeepEqual(last.Report.Report, test.want) {
			t.Errorf("%s: %+v, want %+v", test.key, last.Report, test.want)
		}
	}
}

// A charter under a name of its own, or in a table of its own, is found by --name and --control-table, and only by them.
func TestMoveFindsTheCharter(t *testing.T) {
	for name, test := range map[string]struct {
		edit  func(*heatsink.Options)
		flags []string
	}{
		"--name":          {func(o *heatsink.Options) { o.Name = "open-orders" }, []string{"--name", "open-orders"}},
		"--control-table": {func(o *heatsink.Options) { o.Name, o.ControlTable = "byStatus", "control" }, []string{"--control-table", "control"}},
		"both":            {func(o *heatsink.Options) { o.Name, o.ControlTable = "open-orders", "control" }, []string{"--name", "open-orders", "--control-table", "control"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveOrders(t)
			s.fillOrders(t, 10)
			if err := heatsink.SetupControlTable(t.Context(), s.client, "control"); err != nil {
				t.Fatal(err)
			}
			c := s.open(t, func(o *heatsink.Options) {
				o.Index = heatsink.Index{Name: "byStatus", PartitionKey: "status", SortKey: "seen"}
				o.Layout, o.Older = layout.Layout{Shards: 8, Strategy: layout.Calculated}, []layout.Layout{{}}
				o.Adaptive, o.Recorded = nil, true
				test.edit(o)
			})
			if _, err := c.Count(t.Context(), heatsink.Query{Key: "OPEN"}); err != nil {
				t.Fatal(err)
			}
			args := []string{"move", "orders", "--endpoint", s.endpoint, "--yes"}
			if _, stderr, code := command(t, args...); code != 2 || !strings.Contains(stderr, "add --to LAYOUT") {
				t.Errorf("without flags: %d, %s", code, stderr)
			}
			for flag, value := range map[string]string{"--shard-by": "pk", "--event-time": "seen", "--to": "16"} {
				beside := append(append([]string{}, args...), append(test.flags, flag, value)...)
				if _, stderr, code := command(t, beside...); code != 2 || !strings.Contains(stderr, "leave --to, --shard-by and --event-time out") {
					t.Errorf("%s beside a charter: %d, %s", flag, code, stderr)
				}
			}
			stdout, stderr, code := command(t, append(args, test.flags...)...)
			if code != 0 {
				t.Errorf("%d, %s", code, stderr)
			}
			contains(t, stdout, "calculated by xxhash over 8 shards", "10 items moved", "every item is where the layout has it: 10")
			out, err := s.client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("orders")})
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range out.Items { // a move under another name would leave a charter of its own
				id := item["pk"].(*types.AttributeValueMemberS).Value
				if layout.IsControl(id) && (len(test.flags) > 2 || test.flags[0] == "--control-table" || !strings.Contains(id, "open-orders")) {
					t.Errorf("the move left %q", id)
				}
			}
		})
	}
}
