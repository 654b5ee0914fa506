package main

import (
	"encoding/json"
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
		{"other words", worded("The expression can not be empty;", "no", `{"ConditionExpression":""}`), ""},
		{"words of a peer", worded("1 validation error detected: Value '0' at 'limit' failed to satisfy", "Limit must be greater than 0", `{"Limit":0}`), "words of a fault"},
		{"words for what the request has not", worded("1 validation error detected: Value '0' at 'limit' failed to satisfy", "Limit must be greater than 0", `{"Limit":1}`), ""},
		{"a text of nobody", worded("oops", "Limit must be greater than 0", `{"Limit":0}`), ""},
		{"two faults", worded("Invalid FilterExpression: Invalid function name; function: nonsense", "Limit must be greater than 0", `{"FilterExpression":"nonsense(a)","Limit":0}`), "one of several faults"},
		{"two faults, one of which is none", worded("Invalid FilterExpression: Invalid function name; function: nonsense", "Limit must be greater than 0", `{"FilterExpression":"size(a)","Limit":0}`), ""},
		{"two faults, alone", alone(worded("Invalid FilterExpression: Invalid function name; function: nonsense", "Limit must be greater than 0", `{"FilterExpression":"nonsense(a)","Limit":0}`)), ""},
		{"two faults, alone with one that few look for", alone(worded("Invalid FilterExpression: Incorrect operand type for operator or function", "Limit must be greater than 0", `{"FilterExpression":"a > :v","Limit":0}`)), "one of several faults"},
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

// worded is a finding about texts.
func worded(ours, theirs, request string) finding {
	f := finding{peer: "dynamodb-local", Difference: answer.Difference{Kind: answer.Text, Ours: "ValidationException: " + answer.Generic(ours), Theirs: "ValidationException: " + answer.Generic(theirs)}}
	if err := json.Unmarshal([]byte(request), &f.op.Body); err != nil {
		panic(err)
	}
	return f
}

func alone(f finding) finding {
	f.alone = true
	return f
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
