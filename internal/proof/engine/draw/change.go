package draw

import (
	"fmt"
	"slices"
	"strings"
)

// The clauses of an update expression.
const (
	set = iota
	remove
	add
	erase
)

// change draws an update expression: mostly of paths that do not overlap.
func (d *Drawer) change() string {
	targets := []string{"a", "b", "c", "m", "l", "size", "gp", "gs", "ls"}
	d.r.Shuffle(len(targets), func(i, j int) { targets[i], targets[j] = targets[j], targets[i] })
	next := func() string {
		t := targets[0]
		if len(targets) > 1 && !d.rarely() {
			targets = targets[1:]
		}
		return t
	}
	var clauses []string
	for _, kind := range d.r.Perm(4)[:1+d.r.IntN(2)] {
		var actions []string
		for range 1 + d.r.IntN(2) {
			target := next()
			if i := slices.Index(targets, "c"); kind >= add && i >= 0 { // the one that has a set, unless it is taken
				targets[i], target = target, "c"
			}
			actions = append(actions, d.action(kind, target))
		}
		clauses = append(clauses, []string{"SET ", "REMOVE ", "ADD ", "DELETE "}[kind]+strings.Join(actions, ", "))
	}
	if d.rarely() && d.chance(0.3) {
		clauses = append(clauses, pick(d, []string{"SET a", "REMOVE", "ADD a :v0 :v0", "SET a = :v0,", "set a = size(b)", "SET a = nonsense(b)", "SET p = :v0"}))
	}
	return strings.Join(clauses, " ")
}

// target draws what an action changes: an attribute or a part of it.
func (d *Drawer) target(attribute string) string {
	switch {
	case attribute == "m" && d.chance(0.6):
		return d.name("m") + "." + d.name(pick(d, []string{"a", "b", "n"}))
	case attribute == "l" && d.chance(0.6):
		return fmt.Sprintf("%s[%d]", d.name("l"), d.r.IntN(5))
	}
	return d.name(attribute)
}

// action draws an action of SET, REMOVE, ADD or DELETE.
func (d *Drawer) action(kind int, attribute string) string {
	switch kind {
	case set:
		return d.target(attribute) + " = " + d.right(attribute)
	case remove:
		return d.target(attribute)
	case add:
		if attribute != "c" {
			return d.target(attribute) + " " + d.value(Body{"N": pick(d, []string{"1", "-1", "1.5", "1e2", "0"})})
		}
	}
	return d.target(attribute) + " " + d.value(d.set())
}

// right draws the right side of an action of SET.
func (d *Drawer) right(attribute string) string {
	switch d.r.IntN(7) {
	case 0:
		return d.addend() + pick(d, []string{" + ", " - "}) + d.addend()
	case 1:
		return fmt.Sprintf("if_not_exists(%s, %s)", d.path(), d.value(d.attribute(attribute)))
	case 2:
		return fmt.Sprintf("list_append(%s, %s)", d.name("l"), d.value(Body{"L": []any{d.nested(0)}}))
	case 3:
		return d.path()
	}
	return d.value(d.attribute(attribute))
}

// addend draws an operand that is a number, mostly.
func (d *Drawer) addend() string {
	switch d.r.IntN(4) {
	case 0:
		return d.name("a")
	case 1:
		return fmt.Sprintf("if_not_exists(%s, %s)", d.name("a"), d.value(Body{"N": "0"}))
	case 2:
		if d.rarely() {
			return d.value(text("a"))
		}
	}
	return d.value(Body{"N": pick(d, []string{"1", "-1", "0.1", "1e20", "3"})})
}
