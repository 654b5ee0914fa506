package draw

import "fmt"

// query draws a Query of a table or of an index.
func (d *Drawer) query() Op {
	hash, sort := d.t.hash, d.t.sort
	b := Body{"TableName": d.table()}
	op := Op{Name: "Query", Body: b}
	if i, ok := d.index(b); ok {
		hash, sort = i.hash, i.sort
		op.Pages = true // the order of equal keys is not promised
	}
	b["KeyConditionExpression"] = d.keyCondition(hash, sort)
	if d.chance(0.5) {
		b["ScanIndexForward"] = d.chance(0.3)
	}
	if !op.Pages && sort != "" && d.chance(0.1) {
		b["ExclusiveStartKey"] = d.key()
	}
	if d.rarely() && d.chance(0.2) {
		b["ExclusiveStartKey"] = Body{d.t.hash: d.any()}
	}
	d.reads(b)
	return d.finish(op)
}

// index may choose one of the table's indexes, now and then one that there is not.
func (d *Drawer) index(b Body) (i index, ok bool) {
	if len(d.t.indexes) == 0 || d.chance(0.6) {
		if d.rarely() && d.chance(0.5) {
			b["IndexName"] = "none"
		}
		return i, false
	}
	i = pick(d, d.t.indexes)
	b["IndexName"] = i.name
	return i, true
}

func (d *Drawer) keyCondition(hash, sort string) string {
	condition := d.name(hash) + " = " + d.value(d.keyValue(hash))
	if d.rarely() {
		switch d.r.IntN(5) {
		case 0:
			return d.name(hash) + " > " + d.value(d.keyValue(hash))
		case 1:
			return condition + " OR " + condition
		case 2:
			return condition + " AND " + d.name("b") + " = " + d.value(text("a"))
		case 3:
			return condition + " AND " + d.name(hash) + " = " + d.value(d.keyValue(hash))
		case 4:
			return "begins_with(" + d.name(hash) + ", " + d.value(d.keyValue(hash)) + ")"
		}
	}
	if sort == "" || d.chance(0.4) {
		return condition
	}
	s := d.name(sort)
	switch d.r.IntN(4) {
	case 0:
		s = fmt.Sprintf("%s BETWEEN %s AND %s", s, d.value(d.keyValue(sort)), d.value(d.keyValue(sort)))
	case 1:
		if d.t.kinds[sort] != "N" || d.rarely() {
			s = fmt.Sprintf("begins_with(%s, %s)", s, d.value(d.keyValue(sort)))
			break
		}
		fallthrough
	default:
		s = fmt.Sprintf("%s %s %s", s, pick(d, []string{"=", "<", "<=", ">", ">=", ">="}), d.value(d.keyValue(sort)))
		if d.rarely() {
			s = fmt.Sprintf("%s <> %s", d.name(sort), d.value(d.keyValue(sort)))
		}
	}
	if d.chance(0.2) {
		return s + " AND " + condition
	}
	return condition + " AND " + s
}

// keyValue draws a value of a key attribute, of a table or an index.
func (d *Drawer) keyValue(name string) any {
	if d.rarely() && d.chance(0.3) {
		return d.any()
	}
	switch kind := d.t.kinds[name]; {
	case name == d.t.hash:
		return Body{kind: pick(d, d.t.hashes)}
	case name == d.t.sort:
		return Body{kind: pick(d, d.t.sorts)}
	case kind == "N":
		return Body{"N": d.number()}
	}
	return text(pick(d, []string{"a", "b"}))
}

// scan draws a Scan of a table or of an index.
func (d *Drawer) scan() Op {
	b := Body{"TableName": d.table()}
	d.index(b)
	if d.chance(0.15) {
		n := 1 + d.r.IntN(3)
		b["TotalSegments"], b["Segment"] = n, 0
		if d.rarely() {
			b["Segment"] = n
		}
		if n > 1 {
			b["Select"], b["Limit"] = "COUNT", 0 // which is refused: which items a segment has is not promised
		}
	}
	d.reads(b)
	return d.finish(Op{Name: "Scan", Body: b, Pages: true})
}

// reads adds what a Query and a Scan have in common.
func (d *Drawer) reads(b Body) {
	if d.chance(0.4) {
		b["FilterExpression"] = d.condition(2)
	}
	if d.chance(0.3) {
		b["ProjectionExpression"] = d.projection()
	}
	if d.chance(0.4) {
		if _, ok := b["Limit"]; !ok {
			b["Limit"] = 1 + d.r.IntN(4)
		}
	}
	if d.chance(0.15) {
		b["Select"] = pick(d, []string{"COUNT", "ALL_ATTRIBUTES", "SPECIFIC_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"})
	}
	if d.chance(0.15) {
		b["ConsistentRead"] = d.chance(0.5)
	}
	if d.rarely() && d.chance(0.2) {
		b["Limit"] = pick(d, []any{0, -1})
	}
}
