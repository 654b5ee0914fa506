package draw

import "maps"

// distinct draws keys of the table that differ, or some that do not if that is to be refused.
func (d *Drawer) distinct(most int) (keys []Body) {
	seen := map[[2]string]bool{}
	for range 1 + d.r.IntN(most) {
		hash, sort := pick(d, d.t.hashes), ""
		key := Body{d.t.hash: Body{d.t.kinds[d.t.hash]: hash}}
		if d.t.sort != "" {
			sort = pick(d, d.t.sorts)
			key[d.t.sort] = Body{d.t.kinds[d.t.sort]: sort}
		}
		if seen[[2]string{hash, sort}] && !d.rarely() {
			continue
		}
		seen[[2]string{hash, sort}] = true
		keys = append(keys, key)
	}
	if d.rarely() {
		keys[0] = d.key()
	}
	return keys
}

func (d *Drawer) batchGet() Op {
	tables := Body{}
	for range 1 + d.r.IntN(2) {
		d.t = pick(d, Tables)
		d.names, d.values = Body{}, Body{}
		var keys []any
		for _, key := range d.distinct(5) {
			keys = append(keys, key)
		}
		of := Body{"Keys": keys}
		if d.chance(0.4) {
			of["ProjectionExpression"] = d.projection()
		}
		if d.chance(0.3) {
			of["ConsistentRead"] = d.chance(0.5)
		}
		if len(d.names) > 0 {
			of["ExpressionAttributeNames"] = d.names
		}
		tables[d.table()] = of
	}
	b := Body{"RequestItems": tables}
	d.capacity(b)
	return Op{Name: "BatchGetItem", Body: b}
}

func (d *Drawer) batchWrite() Op {
	tables := Body{}
	for range 1 + d.r.IntN(2) {
		d.t = pick(d, Tables)
		var requests []any
		for _, key := range d.distinct(5) {
			if d.chance(0.3) {
				requests = append(requests, Body{"DeleteRequest": Body{"Key": key}})
				continue
			}
			item := d.item()
			maps.Copy(item, key)
			requests = append(requests, Body{"PutRequest": Body{"Item": item}})
		}
		tables[d.table()] = requests
	}
	b := Body{"RequestItems": tables}
	d.capacity(b)
	return Op{Name: "BatchWriteItem", Body: b}
}

func (d *Drawer) transactGet() Op {
	var gets []any
	d.t = pick(d, Tables)
	for _, key := range d.distinct(4) {
		d.names, d.values = Body{}, Body{}
		get := Body{"TableName": d.table(), "Key": key}
		if d.chance(0.3) {
			get["ProjectionExpression"] = d.projection()
		}
		if len(d.names) > 0 {
			get["ExpressionAttributeNames"] = d.names
		}
		gets = append(gets, Body{"Get": get})
	}
	b := Body{"TransactItems": gets}
	d.capacity(b)
	return Op{Name: "TransactGetItems", Body: b}
}

func (d *Drawer) transactWrite() Op {
	var actions, keys []any
	for _, key := range d.distinct(4) {
		keys = append(keys, key)
		d.names, d.values = Body{}, Body{}
		b := Body{"TableName": d.table()}
		kind := pick(d, []string{"Put", "Update", "Update", "Delete", "ConditionCheck"})
		switch kind {
		case "Put":
			item := d.item()
			maps.Copy(item, key)
			b["Item"] = item
		case "Update":
			b["Key"], b["UpdateExpression"] = key, d.change()
		case "ConditionCheck":
			b["Key"], b["ConditionExpression"] = key, d.condition(1)
		default:
			b["Key"] = key
		}
		if kind != "ConditionCheck" && d.chance(0.3) {
			b["ConditionExpression"] = d.condition(1)
		}
		if d.chance(0.3) {
			b["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
		}
		if len(d.names) > 0 {
			b["ExpressionAttributeNames"] = d.names
		}
		if len(d.values) > 0 {
			b["ExpressionAttributeValues"] = d.values
		}
		actions = append(actions, Body{kind: b})
	}
	b := Body{"TransactItems": actions}
	d.capacity(b)
	return Op{Name: "TransactWriteItems", Body: b, Changes: d.changes(keys...)}
}
