package heatpage

// counts turns totals that only grow into what a round added to them.
type counts struct{ before, now map[string]cell }

// begin starts a round. Totals that the last round did not have are forgotten.
func (c *counts) begin() { c.before, c.now = c.now, make(map[string]cell) }

// since returns what was added to a total since the round before. A total that has become smaller began anew, as that of a key does
// which a sketch has dropped and taken up again. Of a total that the round before did not have nobody knows when it grew: last is
// what it took in the last second.
func (c *counts) since(name string, total, last cell) cell {
	c.now[name] = total
	before, known := c.before[name]
	if !known {
		return last
	}
	d := cell{total.units - before.units, total.refused - before.refused}
	if d.units < 0 || d.refused < 0 {
		return last
	}
	return d
}
