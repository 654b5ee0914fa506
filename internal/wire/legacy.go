package wire

import (
	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/engine"
	"github.com/heatsink-go/heatsink/internal/jsonpull"
)

var (
	conditionsType  = jsonpull.Type{Shape: jsonpull.Map, Class: namespace + "Condition"}
	conditionType   = element("Condition")
	expectedType    = jsonpull.Type{Shape: jsonpull.Map, Class: namespace + "ExpectedAttributeValue"}
	expectationType = element("ExpectedAttributeValue")
	updatesType     = jsonpull.Type{Shape: jsonpull.Map, Class: namespace + "AttributeValueUpdate"}
	updateType      = element("AttributeValueUpdate")
)

// maxLegacy is how many bytes the names and values of a parameter that
// expressions replaced may have together, as many as those of an expression, and
// legacyOverhead what each counts besides: a few bytes of a request should not
// take many of memory.
const (
	maxLegacy      = 2 << 20
	legacyOverhead = 8
)

const errLegacy = attr.Fault("the names and values of a parameter that expressions replaced are larger than 2 MB together; " +
	"send fewer conditions or updates in one request")

// legacy returns where a request's parameters are kept that expressions
// replaced. Hardly any has one.
func legacy(x *engine.Expressions) *engine.Legacy {
	if x.Legacy == nil {
		x.Legacy = new(engine.Legacy)
	}
	return x.Legacy
}

func (r *request) attributesToGet() []string {
	names := []string{}
	for range r.Elements(&listType) {
		names = keep(names, r.Text())
	}
	return names
}

// byName keeps the entries of a map in the order of the request, the last one of
// a name in the place of the first, as far as they are not too large together.
type byName[E any] struct {
	list []E
	at   map[string]int
	size int
}

// add keeps an entry, and reports whether it did.
func (b *byName[E]) add(name string, e E, size int) bool {
	if b.size += len(name) + size + legacyOverhead; b.size > maxLegacy {
		return false
	}
	if i, there := b.at[name]; there {
		b.list[i] = e
		return true
	}
	b.at[name] = len(b.list)
	b.list = append(b.list, e)
	return true
}

func newByName[E any]() byName[E] { return byName[E]{list: []E{}, at: map[string]int{}} }

// fault notes a fault that is not one of a value's JSON.
func (r *request) fault(err error) {
	if r.badValue == nil {
		r.badValue = err
	}
}

// conditions reads a map of conditions: KeyConditions, a filter or Expected.
func (r *request) conditions(all, one *jsonpull.Type) []engine.AttributeCondition {
	entries := newByName[engine.AttributeCondition]()
	for name := range r.Entries(all) {
		c := engine.AttributeCondition{Name: name}
		size := 0
		for member := range r.Members(one) {
			switch member {
			case "ComparisonOperator":
				c.Comparison = r.optString()
			case "AttributeValueList":
				c.HasValues = true
				c.Values, size = r.valueList(entries.size)
			case "Value":
				c.Value = new(r.MemberValue())
				size += c.Value.Size()
			case "Exists":
				c.Exists = r.optBool()
			default:
				r.Skip()
			}
		}
		if !entries.add(name, c, size) {
			r.fault(errLegacy)
		}
	}
	return entries.list
}

// valueList reads an AttributeValueList, of which no more is kept than may come
// after what is there already.
func (r *request) valueList(before int) (list []attr.Value, size int) {
	for range r.Elements(&listType) {
		v := r.Value()
		if size += v.Size() + legacyOverhead; before+size <= maxLegacy {
			list = append(list, v)
		}
	}
	return list, size
}

// attributeUpdates reads AttributeUpdates.
func (r *request) attributeUpdates() []engine.AttributeUpdate {
	entries := newByName[engine.AttributeUpdate]()
	for name := range r.Entries(&updatesType) {
		u := engine.AttributeUpdate{Name: name}
		size := 0
		for member := range r.Members(&updateType) {
			switch member {
			case "Action":
				u.Action = r.optString()
			case "Value":
				u.Value = new(r.MemberValue())
				size = u.Value.Size()
			default:
				r.Skip()
			}
		}
		if !entries.add(name, u, size) {
			r.fault(errLegacy)
		}
	}
	return entries.list
}
