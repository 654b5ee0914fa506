package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attr/attrjson"
	"github.com/heatsink-go/heatsink/internal/engine"
)

// TestModel does random operations on the engine and on a model of it, which is a
// map and a sort, and compares what they answer. The two share no code: items go
// in and come out as DynamoDB's JSON, and the model orders numbers with math/big.
func TestModel(t *testing.T) {
	e, err := engine.Open(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	tables := 0
	rapid.Check(t, func(t *rapid.T) {
		tables++
		m := newMachine(t, e, fmt.Sprintf("table-%d", tables))
		defer func() {
			if _, err := e.DeleteTable(context.Background(), &engine.TableInput{TableName: &m.table}); err != nil {
				t.Error(err)
			}
		}()
		t.Repeat(rapid.StateMachineActions(m))
	})
}

// scalar is a value of the model: its kind and what it is. Equal values look the
// same.
type scalar struct{ kind, text string }

// num returns a number, whose text is a fraction in lowest terms.
func num(decimal string) scalar {
	r, ok := new(big.Rat).SetString(decimal)
	if !ok {
		panic("not a number: " + decimal)
	}
	return scalar{"N", r.RatString()}
}

// compare orders values of the same kind.
func (v scalar) compare(w scalar) int {
	if v.kind != "N" {
		return bytes.Compare([]byte(v.text), []byte(w.text))
	}
	a, _ := new(big.Rat).SetString(v.text)
	b, _ := new(big.Rat).SetString(w.text)
	return a.Cmp(b)
}

// record is an item of the model.
type record map[string]scalar

// json writes the item as requests do.
func (r record) json() string {
	out := map[string]map[string]any{}
	for name, v := range r {
		switch v.kind {
		case "N":
			n, _ := new(big.Rat).SetString(v.text)
			out[name] = map[string]any{"N": strings.TrimSuffix(strings.TrimRight(n.FloatString(40), "0"), ".")}
		case "B":
			out[name] = map[string]any{"B": []byte(v.text)}
		default:
			out[name] = map[string]any{v.kind: v.text}
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// GoString is how the tests show an item, and compare it: no item is not an empty
// one.
func (r record) GoString() string {
	if r == nil {
		return "none"
	}
	return r.json()
}

func (r record) item() attr.Item {
	var d attrjson.Decoder
	d.Reset(r.json())
	it := d.Item(&attrjson.ItemType)
	if err := errors.Join(d.Fault, d.End()); err != nil {
		panic(err)
	}
	return it
}

// recordOf reads an item as answers show it; nil for none.
func recordOf(raw attr.Raw) record {
	if raw == nil {
		return nil
	}
	text, err := attrjson.AppendStored(nil, raw)
	if err != nil {
		panic(err)
	}
	var in map[string]struct {
		S, N *string
		B    *[]byte
	}
	if err := json.Unmarshal(text, &in); err != nil {
		panic(err)
	}
	r := record{}
	for name, v := range in {
		switch {
		case v.S != nil:
			r[name] = scalar{"S", *v.S}
		case v.N != nil:
			r[name] = num(*v.N)
		case v.B != nil:
			r[name] = scalar{"B", string(*v.B)}
		}
	}
	return r
}

func (r record) only(names ...string) record {
	out := record{}
	for _, name := range names {
		if v, ok := r[name]; ok {
			out[name] = v
		}
	}
	return out
}

// model is a table: items by key.
type model struct {
	hash, sort string // key attributes; sort may be empty
	items      map[string]record
}

func (m *model) keyNames() []string {
	if m.sort == "" {
		return []string{m.hash}
	}
	return []string{m.hash, m.sort}
}

func (m *model) place(r record) string { return fmt.Sprintf("%q", []scalar{r[m.hash], r[m.sort]}) }

// change is a write: what it does to the item before, nil for none, and whether
// it may.
type change struct {
	place string
	guard func(record) bool
	apply func(record) record
}

func (m *model) allows(c change) bool { return c.guard(m.items[c.place]) }

func (m *model) do(c change) {
	if after := c.apply(m.items[c.place]); after != nil {
		m.items[c.place] = after
	} else {
		delete(m.items, c.place)
	}
}

// index is what is queried: the table, or one of its indexes.
type index struct {
	name       string // empty: the table
	hash, sort string
	projected  []string // nil: all
}

// entries are the items of an index, as it shows them, that a query is about, in
// order.
func (m *model) entries(x index, keep func(record) bool) []record {
	var out []record
	for _, r := range m.items {
		_, hashed := r[x.hash]
		_, sorted := r[x.sort]
		if !hashed || !sorted && x.sort != "" || !keep(r) {
			continue
		}
		if x.projected != nil {
			r = r.only(x.projected...)
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b record) int { return a[x.sort].compare(b[x.sort]) })
	return out
}
