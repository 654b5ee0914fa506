package draw

// Table is a table that requests are drawn for.
type Table struct {
	Name       string
	hash, sort string   // attributes of the key; sort is empty if there is none
	indexes    []index  // what can be queried beside the table
	hashes     []string // of each key attribute, the values that are used, as JSON has them
	sorts      []string
	kinds      map[string]string // types of the key attributes
}

type index struct{ name, hash, sort string }

// Tables are the tables that all requests are about.
var Tables = []*Table{
	{
		Name: "plain", hash: "p",
		indexes: []index{{"global", "gp", "gs"}},
		hashes:  []string{"a", "b", "c", "d", "e", "f"},
		kinds:   map[string]string{"p": "S", "gp": "S", "gs": "N"},
	},
	{
		Name: "sorted", hash: "p", sort: "s",
		indexes: []index{{"local", "p", "ls"}, {"global", "gp", ""}},
		hashes:  []string{"a", "b"},
		sorts:   []string{"0", "1", "2", "-1", "10", "1.5", "1e2"},
		kinds:   map[string]string{"p": "S", "s": "N", "ls": "S", "gp": "S"},
	},
	{
		Name: "bytes", hash: "p", sort: "s",
		hashes: []string{"0", "-1.5"},
		sorts:  []string{"AA==", "AP8=", "/w==", "YWI="},
		kinds:  map[string]string{"p": "N", "s": "B"},
	},
}

// Create are the parameters of CreateTable.
func (t *Table) Create() Body {
	var definitions []any
	for _, name := range []string{"p", "s", "ls", "gp", "gs"} {
		if kind, ok := t.kinds[name]; ok {
			definitions = append(definitions, Body{"AttributeName": name, "AttributeType": kind})
		}
	}
	b := Body{
		"TableName": t.Name, "BillingMode": "PAY_PER_REQUEST",
		"AttributeDefinitions": definitions, "KeySchema": schema(t.hash, t.sort),
	}
	for _, i := range t.indexes {
		index := Body{"IndexName": i.name, "KeySchema": schema(i.hash, i.sort), "Projection": Body{"ProjectionType": "ALL"}}
		switch {
		case i.hash == t.hash:
			index["Projection"] = Body{"ProjectionType": "KEYS_ONLY"}
			b["LocalSecondaryIndexes"] = []any{index}
		case t.sort != "":
			index["Projection"] = Body{"ProjectionType": "INCLUDE", "NonKeyAttributes": []any{"a", "m"}}
			fallthrough
		default:
			b["GlobalSecondaryIndexes"] = []any{index}
		}
	}
	return b
}

func schema(hash, sort string) []any {
	s := []any{Body{"AttributeName": hash, "KeyType": "HASH"}}
	if sort != "" {
		s = append(s, Body{"AttributeName": sort, "KeyType": "RANGE"})
	}
	return s
}

// Key returns the attributes of an item that are its key.
func (t *Table) Key(item Body) Body {
	key := Body{t.hash: item[t.hash]}
	if t.sort != "" {
		key[t.sort] = item[t.sort]
	}
	return key
}

// key draws the key of an item, now and then one that is no key of the table.
func (d *Drawer) key() Body {
	key := Body{d.t.hash: Body{d.t.kinds[d.t.hash]: pick(d, d.t.hashes)}}
	if d.t.sort != "" {
		key[d.t.sort] = Body{d.t.kinds[d.t.sort]: pick(d, d.t.sorts)}
	}
	if d.rarely() {
		switch d.r.IntN(5) {
		case 0:
			delete(key, pick(d, []string{d.t.hash, d.t.sort}))
		case 1:
			key["q"] = text("a")
		case 2:
			key[d.t.hash] = d.any()
		case 3:
			if d.t.sort != "" {
				key[d.t.sort] = d.any()
			}
		case 4:
			key[d.t.hash] = Body{d.t.kinds[d.t.hash]: ""}
		}
	}
	return key
}

// table is the table of a request, now and then one that does not exist.
func (d *Drawer) table() string {
	if d.rarely() && d.chance(0.3) {
		return pick(d, []string{"nowhere", "no", "wrong name!"})
	}
	return d.t.Name
}
