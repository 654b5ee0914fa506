package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
)

func TestLedgerLs(t *testing.T) {
	s := serveOrders(t)
	c := s.open(t)
	s.put(t, c, "a", 40)
	if out := s.succeeds(t, "ls"); out != "no ledgers: every key has one shard\n" {
		t.Errorf("got %s", out)
	}
	for key, width := range map[string]int{"b": 4, "a": 4, "wide\x1b[31m": 64, "c": 2} {
		if _, err := c.Ledgers().Grow(t.Context(), key, time.Time{}, width, "by hand"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Ledgers().Freeze(t.Context(), "c", time.Time{}, "slow"); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := s.ledger(t, "ls")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	inOrder(t, stderr, "scan of orders: about ", "the scan read 45 items and consumed ", "read units")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if len(lines) != 5 {
		t.Fatalf("got %s", stdout)
	}
	for i, want := range [][]string{
		{"KEY", "WIDTH", "GENERATION", "FROZEN", "CHANGED", "BY", "WHY"},
		{`"wide\x1b[31m"`, "64", "1", "no"},
		{"a", "4", "1", "no"},
		{"b", "4", "1", "no"},
		{"c", "2", "2", "yes"},
	} {
		if got := strings.Fields(lines[i]); !slices.Equal(got[:len(want)], want) {
			t.Errorf("line %d: got %q, want %q", i, got, want)
		}
	}
	out := s.succeeds(t, "ls", "--json", "--top", "2")
	var got ledgerDocument
	if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 2 || json.Unmarshal([]byte(lines[1]), &got) != nil || got.Key != "a" || got.Width != 4 {
		t.Errorf("got %s", out)
	}
	if out := s.succeeds(t, "ls", "--top", "3"); !strings.Contains(out, "1 narrower ledger is not listed: raise --top") {
		t.Errorf("got %s", out)
	}
	s.fails(t, "--top 0", "ls", "--top", "0")
	s.fails(t, "--max-rcu 0", "ls", "--max-rcu", "0")
}

// A damaged ledger is listed with its error, the others besides, and the exit code tells.
func TestLedgerLsOfADamagedLedger(t *testing.T) {
	s := serveOrders(t)
	c := s.open(t)
	for _, key := range []string{"good", "bad"} {
		if _, err := c.Ledgers().Grow(t.Context(), key, time.Time{}, 4, "by hand"); err != nil {
			t.Fatal(err)
		}
	}
	s.set(t, "_hs#L#table##bad", "_hs_R", str("four"))
	stdout, stderr, code := s.ledger(t, "ls")
	if code != 1 || !strings.Contains(stderr, "1 ledger is damaged: see heatsink ledger repair --help") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	inOrder(t, stdout, "good", "4", "bad", "damaged", `_hs_R is the string "four"`)
	stdout, _, code = s.ledger(t, "ls", "--json")
	var got ledgerDocument
	if lines := strings.Split(strings.TrimSpace(stdout), "\n"); code != 1 || len(lines) != 2 || json.Unmarshal([]byte(lines[1]), &got) != nil || got.Key != "bad" || got.Error == "" {
		t.Errorf("exit %d, %s", code, stdout)
	}
	s.fails(t, `aws dynamodb delete-item --table-name orders --key '{"pk":{"S":"_hs#L#table##bad"},"sk":{"S":"-"}}', and repair again`, "repair", "bad")
}

// ls keeps to its rate: a scan of many units takes as long as they last. It says what it has consumed, and what it leaves out.
func TestLedgerLsKeepsToItsRate(t *testing.T) {
	s := serveOrders(t)
	c := s.open(t)
	for _, key := range []string{"a", "b", "c"} {
		if _, err := c.Ledgers().Grow(t.Context(), key, time.Time{}, 2, "a test"); err != nil {
			t.Fatal(err)
		}
	}
	body := str(strings.Repeat("x", 300_000))
	for i := range 8 { // more than two pages of 128 units
		if _, err := c.Put(t.Context(), heatsink.Item{"pk": str("a"), "sk": str(fmt.Sprint(i)), "body": body}); err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Now()
	stdout, stderr, code := s.ledger(t, "ls", "--json", "--top", "2", "--max-rcu", "250")
	if took := time.Since(begin); code != 0 || took < 500*time.Millisecond {
		t.Errorf("exit %d after %v, want two pages at 250 units a second to take a second: %s", code, took, stderr)
	}
	if n := strings.Count(stdout, "\n"); n != 2 || !strings.Contains(stderr, "1 narrower ledger") {
		t.Errorf("%d ledgers are listed, and stderr is %q, want two and that one is left out", n, stderr)
	}
	if strings.Contains(stderr, "consumed 0 ") || !strings.Contains(stderr, "consumed ") {
		t.Errorf("stderr is %q, want the units that were consumed", stderr)
	}
}

// A scan that ends early is an error, and no damaged ledger. So is a charter that cannot be read.
func TestLedgerLsThatFails(t *testing.T) {
	s := serveOrders(t)
	c := s.open(t)
	if _, err := c.Ledgers().Grow(t.Context(), "NEW", time.Time{}, 4, "by hand"); err != nil {
		t.Fatal(err)
	}
	body := str(strings.Repeat("x", 300_000))
	for i := range 8 { // more than two pages
		if _, err := c.Put(t.Context(), heatsink.Item{"pk": str("NEW"), "sk": str(fmt.Sprint(i)), "body": body}); err != nil {
			t.Fatal(err)
		}
	}
	for name, wrong := range map[string]func(w http.ResponseWriter, scans int) bool{
		"the first page is refused":  func(w http.ResponseWriter, scans int) bool { return denied(w, scans == 1) },
		"the second page is refused": func(w http.ResponseWriter, scans int) bool { return denied(w, scans == 2) },
	} {
		s.wrong = wrong
		s.fails(t, "AccessDeniedException", "ls", "--max-rcu", "1000000")
		if stdout, _, _ := s.ledger(t, "ls", "--max-rcu", "1000000"); stdout != "" {
			t.Errorf("%s: printed %q, want nothing", name, stdout)
		}
	}
	s.wrong = nil
	s.succeeds(t, "ls", "--max-rcu", "1000000")
}

// A list that is cut off by the caller's own signal is an error as well, whatever was found before.
func TestLedgerLsThatIsStopped(t *testing.T) {
	s := serveOrders(t)
	c := s.open(t)
	for _, key := range []string{"good", "bad"} {
		if _, err := c.Ledgers().Grow(t.Context(), key, time.Time{}, 4, "by hand"); err != nil {
			t.Fatal(err)
		}
	}
	s.set(t, "_hs#L#table##bad", "_hs_R", str("four"))
	ctx, cancel := context.WithCancel(t.Context())
	scan := &pacedScan{Scanner: stopping{s.client, cancel}, screen: silent(), maxRCU: 1e6}
	list, err := (&ledgerLs{top: 10}).collect(ctx, c.Ledgers(), scan)
	if err == nil || len(list.damaged) > 0 {
		t.Errorf("got %+v, %v, want an error", list, err)
	}
}

// A charter that cannot be read is the error of the whole list. It is not taken for a damaged ledger.
func TestLedgerLsWithoutACharter(t *testing.T) {
	s := serveOrders(t)
	s.put(t, s.open(t), "NEW", 1)
	s.set(t, "_hs#C#table", "_hs_widths", str("by the moon"))
	scan := &pacedScan{Scanner: s.client, screen: silent(), maxRCU: 1e6}
	list, err := (&ledgerLs{top: 10}).collect(t.Context(), s.open(t).Ledgers(), scan)
	if !errors.Is(err, heatsink.ErrLedger) || len(list.damaged) > 0 {
		t.Errorf("got %+v, %v, want the error of the charter", list, err)
	}
}

// stopping is a scanner that stops its caller when it has found something.
type stopping struct {
	heatsink.Scanner
	stop context.CancelFunc
}

func (s stopping) Scan(ctx context.Context, in *dynamodb.ScanInput, edit ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	defer s.stop()
	return s.Scanner.Scan(ctx, in, edit...)
}

// denied answers a request with an error of DynamoDB, if it is to.
func denied(w http.ResponseWriter, refused bool) bool {
	if refused {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"not allowed to scan"}`))
	}
	return refused
}
