package draw

func (d *Drawer) put() Op {
	b := Body{"TableName": d.table(), "Item": d.item()}
	d.conditional(b)
	d.returns(b, "ALL_OLD", "NONE")
	return d.finish(Op{Name: "PutItem", Body: b})
}

func (d *Drawer) get() Op {
	b := Body{"TableName": d.table(), "Key": d.key()}
	if d.chance(0.5) {
		b["ProjectionExpression"] = d.projection()
	}
	if d.chance(0.3) {
		b["ConsistentRead"] = d.chance(0.5)
	}
	op := d.finish(Op{Name: "GetItem", Body: b})
	if d.chance(0.9) {
		delete(op.Body, "ExpressionAttributeValues") // which a GetItem does not have
	}
	return op
}

func (d *Drawer) update() Op {
	b := Body{"TableName": d.table(), "Key": d.key()}
	if d.chance(0.95) {
		b["UpdateExpression"] = d.change()
	}
	d.conditional(b)
	d.returns(b, "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW", "NONE")
	return d.finish(Op{Name: "UpdateItem", Body: b, Changes: d.changes(b["Key"])})
}

func (d *Drawer) remove() Op {
	b := Body{"TableName": d.table(), "Key": d.key()}
	d.conditional(b)
	d.returns(b, "ALL_OLD", "NONE")
	return d.finish(Op{Name: "DeleteItem", Body: b})
}

// returns may add ReturnValues, now and then one that the operation does not have.
func (d *Drawer) returns(b Body, of ...string) {
	if d.chance(0.6) {
		b["ReturnValues"] = pick(d, of)
	}
	if d.rarely() && d.chance(0.2) {
		b["ReturnValues"] = pick(d, []string{"ALL_NEW", "EVERYTHING"})
	}
	if d.chance(0.05) {
		b["ReturnItemCollectionMetrics"] = "SIZE"
	}
}

// changes are the keys that a request of one table is about.
func (d *Drawer) changes(keys ...any) map[string][]any { return map[string][]any{d.t.Name: keys} }
