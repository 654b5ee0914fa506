package draw

import "fmt"

// phrase draws a PartiQL statement with its parameters.
func (d *Drawer) phrase(writes bool) Body {
	var parameters []any
	ask := func(v any) string {
		parameters = append(parameters, v)
		return "?"
	}
	where := func() string {
		w := fmt.Sprintf(`%s = %s`, d.t.hash, ask(d.keyValue(d.t.hash)))
		if d.t.sort != "" && !d.rarely() {
			w += fmt.Sprintf(` AND %s = %s`, d.t.sort, ask(d.keyValue(d.t.sort)))
		}
		return w
	}
	name := func() string { return pick(d, []string{"a", "b", "c", "m", "l", `"size"`, "m.a", "l[0]"}) }
	var s string
	kind := d.r.IntN(4)
	if writes {
		kind = 1 + d.r.IntN(3)
	}
	switch kind {
	case 1:
		s = fmt.Sprintf(`INSERT INTO "%s" VALUE {'%s': %s`, d.t.Name, d.t.hash, ask(d.keyValue(d.t.hash)))
		if d.t.sort != "" {
			s += fmt.Sprintf(`, '%s': %s`, d.t.sort, ask(d.keyValue(d.t.sort)))
		}
		if d.chance(0.7) {
			s += fmt.Sprintf(`, 'a': %s`, pick(d, []string{"1", "1.5", "'x'", "true", "{'a': 1}", "[1, 'b']", "<<'a', 'b'>>", "null"}))
		}
		s += "}"
	case 2:
		s = fmt.Sprintf(`UPDATE "%s" SET %s = %s`, d.t.Name, name(), ask(d.nested(1)))
		if d.chance(0.3) {
			s += " REMOVE " + name()
		}
		s += " WHERE " + where()
		if d.chance(0.3) {
			s += fmt.Sprintf(" AND %s %s %s", name(), pick(d, []string{"=", "<>", ">"}), ask(d.nested(0)))
		}
		if !writes && d.chance(0.3) {
			s += " RETURNING " + pick(d, []string{"ALL OLD *", "ALL NEW *", "MODIFIED OLD *", "MODIFIED NEW *"})
		}
	case 3:
		s = fmt.Sprintf(`DELETE FROM "%s" WHERE %s`, d.t.Name, where())
	default:
		s = fmt.Sprintf(`SELECT %s FROM "%s"`, pick(d, []string{"*", "*", "a", "a, b", "m.a"}), d.t.Name)
		if d.chance(0.8) {
			s += " WHERE " + where()
			if d.chance(0.4) {
				s += fmt.Sprintf(" AND %s", pick(d, []string{
					"attribute_exists(a)", "a = 1", "a > 1", "b = 'a'", "begins_with(b, 'a')", "contains(c, 'a')",
					"a BETWEEN 0 AND 2", "a IN [1, 2]", "b IS MISSING", "b IS NOT MISSING", "NOT a = 1", "size(b) > 1",
				}))
			}
		}
	}
	if d.rarely() {
		s += " nonsense"
	}
	b := Body{"Statement": s}
	if len(parameters) > 0 {
		b["Parameters"] = parameters
	}
	return b
}

// statement draws a statement alone.
func (d *Drawer) statement() Op {
	b := d.phrase(false)
	d.capacity(b)
	return Op{Name: "ExecuteStatement", Body: b, Pages: true}
}

// statements draws a batch or a transaction of writing statements.
func (d *Drawer) statements() Op {
	var list []any
	for range 1 + d.r.IntN(3) {
		d.t = pick(d, Tables)
		list = append(list, d.phrase(true))
	}
	if d.chance(0.5) {
		return Op{Name: "BatchExecuteStatement", Body: Body{"Statements": list}}
	}
	return Op{Name: "ExecuteTransaction", Body: Body{"TransactStatements": list}}
}
