package draw

// compare draws a condition of the parameters that expressions replaced.
func (d *Drawer) compare() Body {
	one := func() any { return d.attribute(pick(d, attributes)) }
	switch op := pick(d, []string{"EQ", "NE", "LT", "LE", "GT", "GE", "NULL", "NOT_NULL", "CONTAINS", "NOT_CONTAINS", "BEGINS_WITH", "IN", "BETWEEN"}); op {
	case "NULL", "NOT_NULL":
		c := Body{"ComparisonOperator": op}
		if d.rarely() {
			c["AttributeValueList"] = []any{one()}
		}
		return c
	case "BETWEEN":
		return Body{"ComparisonOperator": op, "AttributeValueList": []any{Body{"N": "0"}, Body{"N": d.number()}}}
	case "IN":
		return Body{"ComparisonOperator": op, "AttributeValueList": []any{Body{"N": d.number()}, Body{"N": "1"}}}
	case "BEGINS_WITH", "CONTAINS", "NOT_CONTAINS":
		return Body{"ComparisonOperator": op, "AttributeValueList": []any{text(pick(d, texts[:4]))}}
	default:
		return Body{"ComparisonOperator": op, "AttributeValueList": []any{one()}}
	}
}

// expected may add Expected, or a condition expression beside it, which is refused.
func (d *Drawer) expected(b Body) {
	if d.chance(0.4) {
		return
	}
	conditions := Body{}
	for range 1 + d.r.IntN(2) {
		name := pick(d, attributes)
		switch d.r.IntN(4) {
		case 0:
			conditions[name] = Body{"Exists": false}
		case 1:
			conditions[name] = Body{"Value": d.attribute(name)}
		default:
			conditions[name] = d.compare()
		}
	}
	b["Expected"] = conditions
	d.operator(b, len(conditions))
	if d.rarely() {
		b["ConditionExpression"] = d.condition(0)
	}
}

// operator may say how conditions go together, which only several may say.
func (d *Drawer) operator(b Body, conditions int) {
	if conditions > 1 && d.chance(0.5) || d.rarely() {
		b["ConditionalOperator"] = pick(d, []string{"AND", "OR"})
	}
}

func (d *Drawer) legacyPut() Op {
	b := Body{"TableName": d.t.Name, "Item": d.item()}
	name := "PutItem"
	if d.chance(0.3) {
		b = Body{"TableName": d.t.Name, "Key": d.key()}
		name = "DeleteItem"
	}
	d.expected(b)
	d.returns(b, "ALL_OLD", "NONE")
	return Op{Name: name, Body: b}
}

func (d *Drawer) legacyUpdate() Op {
	changes := Body{}
	for range 1 + d.r.IntN(3) {
		name := pick(d, attributes)
		switch d.r.IntN(4) {
		case 0:
			changes[name] = Body{"Action": "DELETE"}
		case 1:
			changes["c"] = Body{"Action": pick(d, []string{"ADD", "DELETE"}), "Value": d.set()}
		case 2:
			changes["a"] = Body{"Action": "ADD", "Value": Body{"N": d.number()}}
		default:
			changes[name] = Body{"Action": "PUT", "Value": d.attribute(name)}
			if d.chance(0.2) {
				changes[name] = Body{"Value": d.attribute(name)}
			}
		}
	}
	b := Body{"TableName": d.t.Name, "Key": d.key(), "AttributeUpdates": changes}
	d.expected(b)
	d.returns(b, "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW", "NONE")
	return Op{Name: "UpdateItem", Body: b, Changes: d.changes(b["Key"])}
}

func (d *Drawer) legacyQuery() Op {
	conditions := Body{d.t.hash: Body{"ComparisonOperator": "EQ", "AttributeValueList": []any{d.keyValue(d.t.hash)}}}
	if d.t.sort != "" && d.chance(0.6) {
		op := pick(d, []string{"EQ", "LT", "LE", "GT", "GE"})
		conditions[d.t.sort] = Body{"ComparisonOperator": op, "AttributeValueList": []any{d.keyValue(d.t.sort)}}
		if d.rarely() {
			conditions[d.t.sort] = d.compare()
		}
	}
	b := Body{"TableName": d.t.Name, "KeyConditions": conditions}
	d.legacyReads(b, "QueryFilter")
	return Op{Name: "Query", Body: b}
}

func (d *Drawer) legacyScan() Op {
	b := Body{"TableName": d.t.Name}
	d.legacyReads(b, "ScanFilter")
	return Op{Name: "Scan", Body: b, Pages: true}
}

func (d *Drawer) legacyReads(b Body, filter string) {
	if d.chance(0.6) {
		conditions := Body{}
		for range 1 + d.r.IntN(2) {
			conditions[pick(d, attributes)] = d.compare()
		}
		b[filter] = conditions
		d.operator(b, len(conditions))
	}
	if d.chance(0.3) {
		b["AttributesToGet"] = []any{pick(d, attributes)}
	}
	if d.chance(0.3) {
		b["Limit"] = 1 + d.r.IntN(4)
	}
}
