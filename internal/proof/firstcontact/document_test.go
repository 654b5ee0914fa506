package main

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var update = flag.Bool("update", false, "write the kept figures into the documents")

// The documents have the tables that the kept figures lead to. The README has the first of them once it has its markers.
func TestDocuments(t *testing.T) {
	kept, err := readKept(root)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := kept.writePages(root); err != nil {
			t.Fatal(err)
		}
	}
	pages, err := kept.pages(root)
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range pages {
		got, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is stale: go test ./internal/proof/firstcontact -run TestDocuments -update", file)
		}
	}
}

// What the document says in words is true of its figures.
func TestClaims(t *testing.T) {
	kept, err := readKept(root)
	if err != nil {
		t.Fatal(err)
	}
	claims := kept.Whole.claims()
	for _, c := range claims {
		if !c.holds {
			t.Errorf("the figures do not bear this out: %s", c.text)
		}
	}
	for _, c := range new(results).claims() { // a claim that always holds would not be checked
		if c.holds {
			t.Errorf("this holds without figures: %s", c.text)
		}
	}
}

func TestFill(t *testing.T) {
	const page = "before\n<!-- a:begin -->\nold\n<!-- a:end -->\nafter\n"
	for _, c := range []struct {
		name, page, want string
		found            bool
		err              string
	}{
		{"filled", page, "before\n<!-- a:begin -->\nnew\n<!-- a:end -->\nafter\n", true, ""},
		{"no markers", "before\n", "before\n", false, ""},
		{"no end", "<!-- a:begin -->\nold\n", "<!-- a:begin -->\nold\n", true, "<!-- a:begin -->"},
		{"twice", page + page, page + page, true, "<!-- a:begin -->"},
	} {
		got, found, err := fill(c.page, "a", "new\n")
		if got != c.want || found != c.found || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got %q, %v, %v, want %q, %v, %q", c.name, got, found, err, c.want, c.found, c.err)
		}
	}
}

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		n, of int
		want  string
	}{{0, 10, "0"}, {0, 0, "0"}, {1, 10_000, "< 0.1 %"}, {1, 1000, "0.1 %"}, {99, 1000, "9.9 %"}, {1, 2, "50 %"}} {
		if got := percent(c.n, c.of); got != c.want {
			t.Errorf("%d of %d: got %s, want %s", c.n, c.of, got, c.want)
		}
	}
}

// Our jitter is the SDK's: it has the same bounds, and the same mean.
func TestJitterIsTheSDKs(t *testing.T) {
	t.Setenv(newRetries, "")
	compareJitter(t, 3, jitter{newDice(1), retry.DefaultMaxBackoff}, nil)
}

// So is that of the retries of 2026, after a throttle and after another fault.
func TestJitterOf2026IsTheSDKs(t *testing.T) {
	t.Setenv(newRetries, "true")
	ours := jitter2026{newDice(1), retry.DefaultMaxBackoff, retry.IsErrorThrottles(retry.DefaultThrottles)}
	compareJitter(t, 4, ours, &types.ThrottlingException{})
	compareJitter(t, 4, ours, io.ErrUnexpectedEOF)
}

// compareJitter compares waits after an error with those of a client as it comes.
func compareJitter(t *testing.T, attempts int, ours retry.BackoffDelayer, after error) {
	t.Helper()
	sdk := dynamodb.New(dynamodb.Options{Region: "us-east-1"}).Options().Retryer
	if sdk.MaxAttempts() != attempts {
		t.Errorf("the SDK makes %d attempts, want the %d that the document names", sdk.MaxAttempts(), attempts)
	}
	const draws = 4000
	for attempt := 1; attempt <= 6; attempt++ {
		var sum [2]time.Duration
		var most [2]time.Duration
		for range draws {
			for i, delay := range []func(int, error) (time.Duration, error){sdk.RetryDelay, ours.BackoffDelay} {
				d, err := delay(attempt, after)
				if err != nil {
					t.Fatal(err)
				}
				sum[i], most[i] = sum[i]+d, max(most[i], d)
			}
		}
		for name, of := range map[string][2]time.Duration{"mean": {sum[0] / draws, sum[1] / draws}, "most": most} {
			if ratio := of[1].Seconds() / of[0].Seconds(); ratio < 0.8 || ratio > 1.2 {
				t.Errorf("attempt %d: %s is %v, the SDK's is %v", attempt, name, of[1], of[0])
			}
		}
	}
}
