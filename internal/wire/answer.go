package wire

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attr/attrjson"
	"github.com/heatsink-go/heatsink/internal/jsonpull"
)

// answer is the JSON of an answer while it is written. Commas come by
// themselves.
type answer struct {
	buf    []byte
	err    error // the first
	region string
}

func (a *answer) reset(region string) {
	a.buf, a.err, a.region = a.buf[:0], nil, region
}

// next writes the comma before a member or element, unless it is the first.
func (a *answer) next() {
	if len(a.buf) == 0 {
		return
	}
	if last := a.buf[len(a.buf)-1]; last != '{' && last != '[' {
		a.buf = append(a.buf, ',')
	}
}

// name writes a member's name, which needs no escapes.
func (a *answer) name(name string) {
	a.next()
	a.buf = append(a.buf, '"')
	a.buf = append(a.buf, name...)
	a.buf = append(a.buf, '"', ':')
}

// key writes the name of a map's entry.
func (a *answer) key(key string) {
	a.next()
	a.buf = append(jsonpull.AppendString(a.buf, key), ':')
}

// begin writes an opening bracket, and end a closing one.
func (a *answer) begin(bracket byte) { a.buf = append(a.buf, bracket) }
func (a *answer) end(bracket byte)   { a.buf = append(a.buf, bracket) }

// element begins an object in an array.
func (a *answer) element() {
	a.next()
	a.begin('{')
}

// object and array begin a member that is one.
func (a *answer) object(name string) {
	a.name(name)
	a.begin('{')
}

func (a *answer) array(name string) {
	a.name(name)
	a.begin('[')
}

func (a *answer) string(name, s string) {
	a.name(name)
	a.buf = jsonpull.AppendString(a.buf, s)
}

// optString leaves out what is empty, as the opt… of other types do.
func (a *answer) optString(name, s string) {
	if s != "" {
		a.string(name, s)
	}
}

func (a *answer) strings(name string, list []string) {
	a.array(name)
	for _, s := range list {
		a.next()
		a.buf = jsonpull.AppendString(a.buf, s)
	}
	a.end(']')
}

func (a *answer) bool(name string, b bool) {
	a.name(name)
	a.buf = strconv.AppendBool(a.buf, b)
}

func (a *answer) int(name string, n int64) {
	a.name(name)
	a.buf = strconv.AppendInt(a.buf, n, 10)
}

func (a *answer) optInt(name string, n *int64) {
	if n != nil {
		a.int(name, *n)
	}
}

// float writes numbers as Java does, with a fraction even if there is none.
func (a *answer) float(f float64) {
	a.buf = strconv.AppendFloat(a.buf, f, 'f', -1, 64)
	if f == float64(int64(f)) {
		a.buf = append(a.buf, '.', '0')
	}
}

func (a *answer) units(name string, f float64) {
	a.name(name)
	a.float(f)
}

func (a *answer) optUnits(name string, f *float64) {
	if f != nil {
		a.units(name, *f)
	}
}

// optTime writes seconds since 1970.
func (a *answer) optTime(name string, t time.Time) {
	if !t.IsZero() {
		a.units(name, float64(t.UnixMilli())/1000)
	}
}

// raw writes a stored item.
func (a *answer) raw(r attr.Raw) {
	var err error
	if a.buf, err = attrjson.AppendStored(a.buf, r); err != nil && a.err == nil {
		a.err = err
	}
}

func (a *answer) optRaw(name string, r attr.Raw) {
	if r != nil {
		a.name(name)
		a.raw(r)
	}
}

func (a *answer) raws(items []attr.Raw) {
	size := 0
	for _, r := range items {
		size += len(r)
	}
	if size > keptCapacity { // as JSON, most items are a little larger
		a.buf = slices.Grow(a.buf, size+size/8)
	}
	a.begin('[')
	for _, r := range items {
		a.next()
		a.raw(r)
	}
	a.end(']')
}

func (a *answer) item(name string, it attr.Item) {
	a.name(name)
	a.buf = attrjson.AppendItem(a.buf, it)
}

// sorted calls f for each entry of a map, in the order of keys, after its key
// was written.
func sorted[V any](a *answer, m map[string]V, f func(V)) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		a.key(k)
		f(m[k])
	}
}
