// Package draw makes random requests of DynamoDB from a seed: most are valid, some are wrong in one way. It knows neither engines
// nor answers.
//
//	d := draw.New(seed)
//	for range 100 {
//		op := d.Op() // an operation's name and its parameters
//	}
//
// Keys, names and values come from small pools, so that requests meet the items of those before them. Reading order: draw.go,
// tables.go, value.go, then condition.go, change.go and the operations: item.go, read.go, many.go, legacy.go, partiql.go.
package draw

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Body is the parameters of a request, as JSON has them.
type Body = map[string]any

// Op is a request.
type Op struct {
	Name string // of the operation, such as PutItem
	Body Body

	// Pages says that the answer has as many pages as there are, and that they are to be put together: where a page of a Scan ends
	// depends on an order that DynamoDB does not promise.
	Pages bool

	// Changes are the keys of items that the request may change, by table: what is stored under them is a part of the answer.
	Changes map[string][]any
}

// Writes says that the request may change items.
func (op Op) Writes() bool {
	switch op.Name {
	case "GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan":
		return false
	}
	return true
}

// Tables are those that the request names.
func (op Op) Tables() (named []*Table) {
	text, err := json.Marshal(op.Body)
	for _, t := range Tables {
		if err != nil || strings.Contains(string(text), t.Name) {
			named = append(named, t)
		}
	}
	return named
}

// Drawer draws requests. It is for one goroutine at a time.
type Drawer struct {
	r *rand.Rand
	t *Table // of the request that is drawn

	// The names and values of the expressions that are drawn.
	names, values Body
}

// New returns a drawer. The same seed gives the same requests.
func New(seed uint64) *Drawer { return &Drawer{r: rand.New(rand.NewPCG(seed, 17))} }

// Op draws a request.
func (d *Drawer) Op() Op {
	d.t = pick(d, Tables)
	d.names, d.values = Body{}, Body{}
	of := 0
	for _, k := range kinds {
		of += k.weight
	}
	n := d.r.IntN(of)
	for _, k := range kinds {
		if n -= k.weight; n < 0 {
			return k.draw(d)
		}
	}
	panic("weights do not add up")
}

// kinds are the requests that are drawn, and how often.
var kinds = []struct {
	weight int
	draw   func(*Drawer) Op
}{
	{22, (*Drawer).put},
	{22, (*Drawer).update},
	{8, (*Drawer).get},
	{8, (*Drawer).remove},
	{16, (*Drawer).query},
	{8, (*Drawer).scan},
	{4, (*Drawer).batchGet},
	{5, (*Drawer).batchWrite},
	{3, (*Drawer).transactGet},
	{7, (*Drawer).transactWrite},
	{3, (*Drawer).legacyPut},
	{5, (*Drawer).legacyUpdate},
	{3, (*Drawer).legacyQuery},
	{3, (*Drawer).legacyScan},
	{8, (*Drawer).statement},
	{2, (*Drawer).statements},
}

// rarely is true for one request in fifty or so that is to be wrong in this way.
func (d *Drawer) rarely() bool { return d.chance(0.02) }

func (d *Drawer) chance(p float64) bool { return d.r.Float64() < p }

func pick[T any](d *Drawer, of []T) T { return of[d.r.IntN(len(of))] }

// name returns a way to write an attribute's name in an expression: itself or a placeholder.
func (d *Drawer) name(attribute string) string {
	if d.chance(0.7) && !reserved[attribute] || d.chance(0.005) {
		return attribute
	}
	placeholder := "#" + attribute
	if d.rarely() {
		return placeholder // and nobody says what it means
	}
	d.names[placeholder] = attribute
	return placeholder
}

// value returns the placeholder of a value in an expression.
func (d *Drawer) value(v any) string {
	placeholder := fmt.Sprintf(":v%d", len(d.values))
	if d.rarely() && d.chance(0.5) {
		return placeholder + "x"
	}
	d.values[placeholder] = v
	return placeholder
}

// finish adds the names and values of a request's expressions to it, and other parameters that every request may have.
func (d *Drawer) finish(op Op) Op {
	if d.rarely() && d.chance(0.3) {
		d.names["#unused"] = "a"
	}
	if d.rarely() && d.chance(0.3) {
		d.values[":unused"] = text("a")
	}
	if len(d.names) > 0 {
		op.Body["ExpressionAttributeNames"] = d.names
	}
	if len(d.values) > 0 {
		op.Body["ExpressionAttributeValues"] = d.values
	}
	d.capacity(op.Body)
	return op
}

// capacity may ask for the capacity that a request takes.
func (d *Drawer) capacity(b Body) {
	if d.chance(0.2) {
		b["ReturnConsumedCapacity"] = pick(d, []string{"TOTAL", "INDEXES", "NONE"})
	}
	if d.rarely() && d.chance(0.1) {
		b["ReturnConsumedCapacity"] = "ALL"
	}
}
