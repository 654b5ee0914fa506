package engine_test

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/engine"
)

// Values are few, so that they meet, and of the kind that is easily put into the
// wrong order.
var (
	someNumbers = []string{
		"0", "1", "-1", "1.5", "-1.5", "9", "10", "-10", "-9", "1e20", "-1e-20",
		"12345678901234567890123456789012345678", "12345678901234567890123456789012345677", "-12345678901234567890123456789012345678",
	}
	someStrings  = []string{"a", "B", "ab", "a\x00", "a\x00b", "a\x01", "é", "～", "😀"}
	someBinaries = []string{"\x00", "\x00\x00", "\x00\x01", "\x00\xff", "\x7f", "\x80", "\xff", "\xff\xff"}
)

func draw(t *rapid.T, kind, label string) scalar {
	switch kind {
	case "N":
		return num(rapid.SampledFrom(someNumbers).Draw(t, label))
	case "B":
		return scalar{"B", rapid.SampledFrom(someBinaries).Draw(t, label)}
	default:
		return scalar{"S", rapid.SampledFrom(someStrings).Draw(t, label)}
	}
}

// drawOf is the value of a key attribute of the table or an index.
func (m *machine) drawOf(t *rapid.T, name string) scalar {
	switch name {
	case "s":
		return draw(t, m.kind, name)
	case "n":
		return draw(t, "N", name)
	}
	return scalar{"S", rapid.SampledFrom([]string{"p", "q", "r"}).Draw(t, name)}
}

func small(t *rapid.T, label string) scalar {
	return num(fmt.Sprint(rapid.IntRange(-3, 3).Draw(t, label)))
}

func (m *machine) drawKey(t *rapid.T) record {
	key := record{}
	for _, name := range m.keyNames() {
		key[name] = m.drawOf(t, name)
	}
	return key
}

func (m *machine) drawItem(t *rapid.T) record {
	item := m.drawKey(t)
	for _, name := range []string{"g", "n"} {
		if rapid.IntRange(0, 3).Draw(t, "has "+name) > 0 {
			item[name] = m.drawOf(t, name)
		}
	}
	if rapid.Bool().Draw(t, "has v") {
		item["v"] = small(t, "v")
	}
	return item
}

// step is a write, for the engine and for the model.
type step struct {
	change
	kind   string // put, update, delete or check
	item   record // or key
	x      engine.Expressions
	values record
}

func (s *step) expressions() engine.Expressions {
	if s.x.HasValues = len(s.values) > 0; s.x.HasValues {
		s.x.Values = s.values.item()
	}
	return s.x
}

// drawStep draws a write, and returns nil if its item is taken already.
func (m *machine) drawStep(t *rapid.T, taken map[string]bool, kinds ...string) *step {
	s := &step{kind: rapid.SampledFrom(kinds).Draw(t, "kind"), values: record{}}
	if s.kind == "put" {
		s.item = m.drawItem(t)
		s.apply = func(record) record { return s.item }
	} else {
		s.item = m.drawKey(t)
		s.apply = func(before record) record { return before }
	}
	if s.place = m.place(s.item); taken[s.place] {
		return nil
	}
	taken[s.place] = true
	s.guard = func(record) bool { return true }
	switch s.kind {
	case "delete":
		s.apply = func(record) record { return nil }
	case "update":
		s.drawUpdate(t, m, slices.Contains(kinds, "check"))
	}
	return s
}

// drawUpdate draws an update expression, or none.
func (s *step) drawUpdate(t *rapid.T, m *machine, inTransaction bool) {
	texts := []string{"REMOVE nothing", "SET v = :v", "ADD v :v", "REMOVE g, v", "SET g = :g, n = :n REMOVE v", "SET v = if_not_exists(v, :v) + :v"}
	if !inTransaction { // where there must be one
		texts = append(texts, "")
	}
	text := rapid.SampledFrom(texts).Draw(t, "update")
	if text != "" {
		s.x.Update = &text
	}
	for name, v := range map[string]scalar{":v": small(t, "by"), ":g": m.drawOf(t, "g"), ":n": m.drawOf(t, "n")} {
		if strings.Contains(text, name) {
			s.values[name] = v
		}
	}
	s.apply = func(before record) record {
		if before == nil && strings.HasPrefix(text, "REMOVE") {
			return nil // to take away from nothing makes nothing
		}
		after := maps.Clone(s.item)
		maps.Copy(after, before)
		v, had := after["v"]
		switch by := s.values[":v"]; {
		case text == "SET v = :v" || text == "ADD v :v" && !had:
			after["v"] = by
		case text == "ADD v :v":
			after["v"] = plus(v, by)
		case text == "REMOVE g, v":
			delete(after, "g")
			delete(after, "v")
		case strings.HasPrefix(text, "SET g"):
			after["g"], after["n"] = s.values[":g"], s.values[":n"]
			delete(after, "v")
		case strings.HasPrefix(text, "SET v = if") && had:
			after["v"] = plus(v, by)
		case strings.HasPrefix(text, "SET v = if"):
			after["v"] = plus(by, by)
		}
		return after
	}
}

func plus(a, b scalar) scalar {
	x, _ := new(big.Rat).SetString(a.text)
	y, _ := new(big.Rat).SetString(b.text)
	return scalar{"N", x.Add(x, y).RatString()}
}

// drawCondition gives a write a condition, most of the time.
func (s *step) drawCondition(t *rapid.T, m *machine) {
	c, g := small(t, "than"), m.drawOf(t, "g")
	more := func(r record) bool { v, ok := r["v"]; return ok && v.compare(c) > 0 }
	switch rapid.IntRange(0, 5).Draw(t, "condition") {
	case 0:
		if s.kind != "check" { // which must have one
			return
		}
		fallthrough
	case 1:
		s.x.Condition = new("attribute_exists(h)")
		s.guard = func(r record) bool { return r != nil }
	case 2:
		s.x.Condition = new("attribute_not_exists(h)")
		s.guard = func(r record) bool { return r == nil }
	case 3:
		s.x.Condition, s.values[":c"] = new("v > :c"), c
		s.guard = more
	case 4:
		s.x.Condition, s.values[":c"] = new("NOT v > :c"), c
		s.guard = func(r record) bool { return !more(r) }
	case 5:
		s.x.Condition, s.values[":c"], s.values[":x"] = new("g = :x OR v > :c"), c, g
		s.guard = func(r record) bool { return r["g"] == g || more(r) }
	}
}
