package heatpage

// counts turns totals that only grow into what a round added to them.
type counts struct{ before, now map[string]cell }

// begin starts a round. Totals that the last round did not have are forgotten.
func (c *counts) begin() { c.before, c.now = c.now, make(map[string]cell) }

// begun reports whether there was a round before, so that what it did not have is new.
func (c *counts) begun() bool { return c.before != nil }

// since returns what was added to a total since the round before. fresh is what counts of a total that the round before did not have,
// and last what counts of one that began anew, as that of a key does which a sketch has dropped and taken up again.
func (c *counts) since(name string, total, fresh, last cell) cell {
	c.now[name] = total
	before, known := c.before[name]
	switch {
	case !known:
		return fresh
	case total.units < before.units-1 || total.refused < before.refused:
		return last
	}
	return cell{max(0, total.units-before.units), max(0, total.refused-before.refused)} // a lower bound may sink a little
}
