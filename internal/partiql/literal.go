package partiql

import (
	"slices"
	"strconv"
	"strings"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// maxLevels is how deep a literal may nest.
const maxLevels = 32

// Item returns the item that an INSERT inserts.
func (s *Statement) Item() (attr.Item, error) {
	fields, err := s.item.fields("root", func(key string, value *node) (attr.Value, error) { return value.literal("root", 1) })
	if err != nil {
		return nil, err
	}
	return attr.NewItem(fields...), nil
}

// fields returns the fields of a tuple, whose values the given function makes.
// under is where the tuple stands, as faults tell it.
func (n *node) fields(under string, value func(string, *node) (attr.Value, error)) ([]attr.Field, error) {
	seen := map[string]bool{}
	fields := make([]attr.Field, 0, len(n.args)/2)
	for i := 0; i < len(n.args); i += 2 {
		key := n.args[i]
		if key.op != opValue || key.param > 0 || key.value.Kind != attr.S {
			return nil, attr.Faultf("Tuple keys must be of type String. Actual type: %s under %s", key.class(), under)
		}
		text := key.value.Str
		if err := attr.CheckName(text); err != nil {
			return nil, err
		}
		if seen[text] {
			return nil, attr.Faultf("Duplicate keys in tuple. Key: %s under %s", text, under)
		}
		seen[text] = true
		v, err := value(text, n.args[i+1])
		if err != nil {
			return nil, err
		}
		fields = append(fields, attr.Field{Name: text, Value: v})
	}
	return fields, nil
}

// literal returns the value that a node is. Only a whole value may be a
// parameter: its level is 1.
func (n *node) literal(under string, level int) (attr.Value, error) {
	if level > maxLevels {
		return attr.Value{}, attr.Fault("Nesting Levels have exceeded supported limits under " + under)
	}
	switch n.op {
	case opValue:
		return n.scalar(under, level)
	case opList, opSeq:
		list := make([]attr.Value, len(n.args))
		for i, c := range n.args {
			v, err := c.literal(under+"["+strconv.Itoa(i)+"]", level+1)
			if err != nil {
				return attr.Value{}, err
			}
			list[i] = v
		}
		return attr.List(list...), nil
	case opTuple:
		fields, err := n.fields(under, func(key string, value *node) (attr.Value, error) {
			return value.literal(under+"."+key, level+1)
		})
		return attr.Map(attr.NewItem(fields...)), err
	case opBag:
		return n.set(under)
	case opIon:
		return attr.Value{}, attr.Faultf("Ion Literals are not supported: %s under key %s", n.text, under)
	}
	return attr.Value{}, n.unsupported(under)
}

// unsupported is the fault of what is no literal.
func (n *node) unsupported(under string) error {
	what := n.class()
	if n.op == opCall {
		what = n.text
	}
	return attr.Faultf("Unsupported data type: %s under key %s%s", what, under, n.at)
}

func (n *node) scalar(under string, level int) (attr.Value, error) {
	switch {
	case n.param > 0 && level > 1:
		return attr.Value{}, n.unsupported(under)
	case n.param > 0 || n.value.Kind != attr.N:
		return n.value, nil
	}
	number, err := attr.ParseNumber(n.text)
	if err != nil {
		return attr.Value{}, attr.Fault(err.Error() + " under " + under)
	}
	return attr.Num(number), nil
}

// set returns the set that a bag is.
func (n *node) set(under string) (attr.Value, error) {
	if len(n.args) == 0 {
		return attr.Value{}, attr.Fault("Empty bags are not supported")
	}
	var list []attr.Value
	var texts []string
	for _, c := range n.args {
		if c.op != opValue || c.param > 0 || c.value.Kind != attr.S && c.value.Kind != attr.N || c.value.Kind != n.args[0].value.Kind {
			return attr.Value{}, attr.Fault("Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags")
		}
		v, err := c.scalar(under, 1)
		if err != nil {
			return attr.Value{}, err
		}
		list = append(list, v)
		if c.value.Kind == attr.S {
			texts = append(texts, v.Str)
		} else {
			texts = append(texts, c.text)
		}
	}
	kind := list[0].Kind.SetOf()
	set := attr.Set(kind, slices.Clone(list))
	if len(set.List) == len(list) {
		return set, nil
	}
	tail := "."
	if kind == attr.NS {
		tail = "! under " + under
	}
	return attr.Value{}, attr.Faultf("One or more parameter values were invalid: Input collection [%s] contains duplicates%s",
		strings.Join(texts, ", "), tail)
}
