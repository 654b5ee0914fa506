package draw

import "strings"

import "fmt"

// path draws a document path.
func (d *Drawer) path() string {
	switch d.r.IntN(8) {
	case 0:
		return d.name("m") + "." + d.name(pick(d, []string{"a", "b", "n"}))
	case 1:
		return fmt.Sprintf("%s[%d]", d.name("l"), d.r.IntN(4))
	case 2:
		if d.chance(0.3) {
			return fmt.Sprintf("%s.%s[%d].%s", d.name("m"), d.name("a"), d.r.IntN(2), d.name("b"))
		}
	case 3:
		if d.chance(0.3) {
			return d.name(d.t.hash)
		}
	}
	return d.name(pick(d, attributes))
}

// operand draws what a comparison compares.
func (d *Drawer) operand() string {
	switch d.r.IntN(10) {
	case 0:
		return "size(" + d.path() + ")"
	case 1, 2, 3, 4:
		return d.path()
	}
	return d.value(d.attribute(pick(d, attributes)))
}

// condition draws a condition of at most so many levels.
func (d *Drawer) condition(depth int) string {
	if depth > 0 {
		switch d.r.IntN(5) {
		case 0:
			return d.condition(depth-1) + " AND " + d.condition(depth-1)
		case 1:
			return "(" + d.condition(depth-1) + ") OR " + d.condition(depth-1)
		case 2:
			return "NOT " + d.condition(depth-1)
		}
	}
	if d.rarely() && d.chance(0.5) {
		return d.malformed()
	}
	switch d.r.IntN(10) {
	case 0:
		return fmt.Sprintf("%s BETWEEN %s AND %s", d.path(), d.value(Body{"N": "0"}), d.value(Body{"N": d.number()}))
	case 1:
		return fmt.Sprintf("%s IN (%s, %s)", d.path(), d.operandValue(), d.operandValue())
	case 2:
		return fmt.Sprintf("attribute_exists(%s)", d.path())
	case 3:
		return fmt.Sprintf("attribute_not_exists(%s)", d.path())
	case 4:
		return fmt.Sprintf("attribute_type(%s, %s)", d.path(), d.value(text(pick(d, []string{"S", "N", "SS", "M", "L", "NULL", "BOOL", "B"}))))
	case 5:
		return fmt.Sprintf("begins_with(%s, %s)", d.path(), d.value(text(pick(d, texts))))
	case 6:
		return fmt.Sprintf("contains(%s, %s)", d.path(), d.operandValue())
	}
	return fmt.Sprintf("%s %s %s", d.path(), pick(d, []string{"=", "<>", "<", "<=", ">", ">="}), d.operand())
}

func (d *Drawer) operandValue() string { return d.value(d.attribute(pick(d, attributes))) }

// malformed draws a condition that is none.
func (d *Drawer) malformed() string {
	switch d.r.IntN(12) {
	case 0:
		return d.path() + " = "
	case 1:
		return "nonsense(" + d.path() + ")"
	case 2:
		return "size(" + d.path() + ")"
	case 3:
		return "(" + d.path() + " = " + d.path()
	case 4:
		return "attribute_exists(" + d.value(text("a")) + ")"
	case 5:
		return "begins_with(" + d.path() + ")"
	case 6:
		return "contains(" + d.path() + ", " + d.path() + ", " + d.path() + ")"
	case 7:
		return d.path() + " BETWEEN " + d.value(Body{"N": "2"}) + " AND " + d.value(Body{"N": "1"})
	case 8:
		return d.path() + " BETWEEN " + d.value(Body{"N": "2"}) + " AND " + d.value(text("1"))
	case 9:
		return d.path() + " = " + d.path() + " = " + d.path()
	case 10:
		return "attribute_type(" + d.path() + ", " + d.value(text("X")) + ")"
	}
	return "begins_with(" + d.path() + ", " + d.value(Body{"N": "1"}) + ")"
}

// conditional may add a condition to a write.
func (d *Drawer) conditional(b Body) {
	if d.chance(0.4) {
		b["ConditionExpression"] = d.condition(2)
		if d.chance(0.3) {
			b["ReturnValuesOnConditionCheckFailure"] = pick(d, []string{"ALL_OLD", "NONE"})
		}
	}
	if d.rarely() && d.chance(0.2) {
		b["ConditionExpression"] = ""
	}
}

// projection draws a projection expression.
func (d *Drawer) projection() string {
	var p strings.Builder
	p.WriteString(d.path())
	for range d.r.IntN(3) {
		p.WriteString(", " + d.path()) // may overlap, which is refused
	}
	return p.String()
}
