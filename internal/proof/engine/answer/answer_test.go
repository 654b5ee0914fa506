package answer_test

import (
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/proof/engine/answer"
)

func read(t *testing.T, status int, body string) answer.Answer {
	t.Helper()
	a, err := answer.Read("GetItem", status, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// What DynamoDB does not promise is no difference.
func TestSame(t *testing.T) {
	for _, c := range []struct{ name, ours, theirs string }{
		{"order of sets", `{"Item":{"a":{"SS":["a","b"]}}}`, `{"Item":{"a":{"SS":["b","a"]}}}`},
		{"order of fields", `{"a":1,"b":2}`, `{"b":2,"a":1}`},
		{"order of a batch", `{"Responses":{"t":[{"p":{"S":"a"}},{"p":{"S":"b"}}]}}`, `{"Responses":{"t":[{"p":{"S":"b"}},{"p":{"S":"a"}}]}}`},
		{"null", `{"Item":null}`, `{}`},
		{"nothing left", `{"UnprocessedItems":{}}`, `{}`},
		{"estimates", `{"ItemCollectionMetrics":{"SizeEstimateRangeGB":[0,1]}}`, `{"ItemCollectionMetrics":{"SizeEstimateRangeGB":[1,2]}}`},
		{"spelling of units", `{"ConsumedCapacity":{"CapacityUnits":1.0}}`, `{"ConsumedCapacity":{"CapacityUnits":1}}`},
	} {
		if got := answer.Compare(read(t, 200, c.ours), read(t, 200, c.theirs)); len(got) > 0 {
			t.Errorf("%s: got %+v, want no difference", c.name, got)
		}
	}
}

func TestCompare(t *testing.T) {
	const refused = `{"__type":"com.amazon.coral.validate#ValidationException","message":"%s"}`
	for _, c := range []struct {
		name         string
		ours, theirs string // errors begin with a message
		want         []answer.Difference
	}{
		{"succeeds", `{}`, "no :v0", []answer.Difference{{Kind: answer.Outcome, Ours: "succeeds", Theirs: "ValidationException: no :v"}}},
		{"text", "wrong #a", "bad #b", []answer.Difference{{Kind: answer.Text, Ours: "ValidationException: wrong #x", Theirs: "ValidationException: bad #x"}}},
		{"field", `{"Item":{"a":{"S":"x"}}}`, `{}`, []answer.Difference{{Kind: answer.Content, Ours: ".Item", Theirs: "no .Item"}}},
		{"value", `{"Count":1}`, `{"Count":2}`, []answer.Difference{{Kind: answer.Content, Ours: ".Count = a number", Theirs: ".Count = a number"}}},
		{"length", `{"Items":[1]}`, `{"Items":[]}`, []answer.Difference{{Kind: answer.Content, Ours: ".Items: other elements", Theirs: ".Items: other elements"}}},
		{
			"content and capacity", `{"Count":1,"ConsumedCapacity":{"CapacityUnits":1}}`, `{"Count":2,"ConsumedCapacity":{"CapacityUnits":2}}`,
			[]answer.Difference{
				{Kind: answer.Content, Ours: ".Count = a number", Theirs: ".Count = a number"},
				{Kind: answer.Capacity, Ours: ".CapacityUnits = a number", Theirs: ".CapacityUnits = a number"},
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			side := func(text string) answer.Answer {
				if strings.HasPrefix(text, "{") {
					return read(t, 200, text)
				}
				return read(t, 400, strings.Replace(refused, "%s", text, 1))
			}
			got := answer.Compare(side(c.ours), side(c.theirs))
			if len(got) != len(c.want) {
				t.Fatalf("got %+v, want %+v", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("got %+v, want %+v", got[i], c.want[i])
				}
			}
		})
	}
}

// Pages are one answer, however many they are.
func TestJoin(t *testing.T) {
	one := answer.Join([]answer.Answer{read(t, 200, `{"Items":[{"p":{"S":"a"}},{"p":{"S":"b"}}],"Count":2}`)})
	two := answer.Join([]answer.Answer{
		read(t, 200, `{"Items":[{"p":{"S":"b"}}],"Count":1,"LastEvaluatedKey":{"p":{"S":"b"}}}`),
		read(t, 200, `{"Items":[{"p":{"S":"a"}}],"Count":1}`),
	})
	if got := answer.Compare(one, two); len(got) > 0 {
		t.Errorf("got %+v, want no difference", got)
	}
	refused := read(t, 400, `{"__type":"x#ValidationException","message":"no"}`)
	if got := answer.Join([]answer.Answer{one, refused}); got.Type != "ValidationException" {
		t.Errorf("got %+v, want the error", got)
	}
}

func TestNext(t *testing.T) {
	for body, want := range map[string]string{`{"Count":1}`: "", `{"LastEvaluatedKey":{"p":{"S":"b"}}}`: "ExclusiveStartKey", `{"NextToken":"x"}`: "NextToken"} {
		if name, _ := answer.Next(read(t, 200, body)); name != want {
			t.Errorf("%s: got %q, want %q", body, name, want)
		}
	}
}

func TestReadNoJSON(t *testing.T) {
	if _, err := answer.Read("GetItem", 500, []byte("<html>")); err == nil || !strings.Contains(err.Error(), "status 500") || !strings.Contains(err.Error(), "<html>") {
		t.Errorf("got %v, want what was answered", err)
	}
}
