package ratelimit

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

func TestSetupCreatesOrChecksTheTable(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := local.Start(t)
		options := Options{Table: "limits", Limit: 1}
		for range 2 { // the second finds it
			if err := Setup(t.Context(), db.Client(), options); err != nil {
				t.Fatal(err)
			}
		}
		named := Options{Table: "named", Limit: 1, PartitionKey: "who", SortKey: "what", TTL: "expires"}
		if err := Setup(t.Context(), db.Client(), named); err != nil {
			t.Fatal(err)
		}
		limiter, err := Open(db.Client(), named)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := limiter.Allow(t.Context(), "k"); err != nil || !d.Allowed {
			t.Errorf("names of one's own: got %v, %v", d, err)
		}

		if err := db.CreateTable(t.Context(), "other", "id"); err != nil {
			t.Fatal(err)
		}
		options.Table = "other"
		err = Setup(t.Context(), db.Client(), options)
		if !errors.Is(err, ErrTable) || !strings.Contains(err.Error(), "(id S), want (pk S, sk S)") {
			t.Errorf("another table: got %v", err)
		}
	})
}

// The page about the recipe has the table as it is, and a program that compiles.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile("../docs/recipes/ratelimit.md")
	if err != nil {
		t.Fatal(err)
	}
	table := Options{Table: "limits"}.withDefaults().table()
	for name, want := range map[string]string{"CloudFormation": table.CloudFormation(), "Terraform": table.Terraform()} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks the table in %s:\n%s", name, want)
		}
	}
	examples, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```go\n")
	program, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the page has no program")
	}
	for line := range strings.Lines(program) {
		if line = strings.TrimSpace(line); !strings.Contains(string(examples), line) {
			t.Errorf("the page's program has %q, which no example has", line)
		}
	}
}
