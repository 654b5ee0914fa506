package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/proof/engine/answer"
	"github.com/heatsink-go/heatsink/internal/proof/engine/draw"
)

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		name string
		f    finding
		want string
	}{
		{"a known one", finding{peer: "dynalite", Difference: answer.Difference{Kind: answer.Outcome, Ours: "succeeds", Theirs: "ValidationException: The document path provided …"}}, "REMOVE of a path in no item"},
		{"of another peer", finding{peer: "dynoxide", Difference: answer.Difference{Kind: answer.Outcome, Ours: "succeeds", Theirs: "ValidationException: The document path provided …"}}, ""},
		{"a text of AWS", finding{peer: "dynalite", Difference: answer.Difference{Kind: answer.Text, Ours: "ValidationException: The expression can not be empty;", Theirs: "ValidationException: no"}}, "texts"},
		{"a text of nobody", finding{peer: "dynalite", Difference: answer.Difference{Kind: answer.Text, Ours: "ValidationException: oops", Theirs: "ValidationException: no"}}, ""},
		{"alone with a text of AWS", finding{peer: "dynalite", alone: true, Difference: answer.Difference{Kind: answer.Text, Ours: "ValidationException: The expression can not be empty;", Theirs: "ValidationException: no"}}, ""},
		{"another item", stored(`[]`, `[{"p":{"S":"a"},"a":{"N":"1"}}]`), ""},
		{"a key and nothing else", stored(`[]`, `[{"p":{"S":"a"}}]`), "no item is made by REMOVE or DELETE alone"},
		{"an item that they lack", stored(`[{"p":{"S":"b"}}]`, `[{"p":{"S":"a"}}]`), ""},
	} {
		got := ""
		if k := explain(c.f); k != nil {
			got = k.name
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// stored is a finding about what an update has left behind.
func stored(ours, theirs string) finding {
	side := func(items string) answer.Answer {
		a, err := answer.Read("UpdateItem", 200, []byte(`{"stored":{"Responses":{"plain":`+items+`}}}`))
		if err != nil {
			panic(err)
		}
		return a
	}
	f := finding{peer: "dynoxide", op: draw.Op{Name: "UpdateItem"}, ours: side(ours), theirs: side(theirs)}
	f.Difference = answer.Compare(f.ours, f.theirs)[0]
	return f
}

// Each fact says what AWS does and where that is public, has a name of its own, and is in the documentation.
func TestFactsAreTold(t *testing.T) {
	page, err := os.ReadFile("../../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, k := range known {
		if k.name == "" || k.fact == "" || k.source == "" || len(k.peers) == 0 || k.kind == "" || k.ours == "" && k.theirs == "" && k.when == nil {
			t.Errorf("%+v lacks something", k)
		}
		if names[k.name] {
			t.Errorf("%s: there are two facts of this name", k.name)
		}
		names[k.name] = true
		row := fmt.Sprintf("| %s | %s | %s | %s |\n", k.name, strings.Join(k.peers, ", "), k.fact, k.source)
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/compatibility.md lacks this row:\n%s", row)
		}
	}
}
