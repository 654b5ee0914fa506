package heatpage

// counts turns totals that only grow into what each round added to them.
type counts map[string]cell

// since returns what was added to a total since the round before. A total that has become smaller began anew, as that of a key does
// which a sketch has dropped and taken up again. The first total of a name adds nothing: nobody knows when it grew.
func (c counts) since(name string, total cell, fresh bool) cell {
	before, known := c[name]
	c[name] = total
	switch {
	case !known && !fresh:
		return cell{}
	case !known:
		before = cell{}
	}
	d := cell{total.units - before.units, total.refused - before.refused}
	if d.units < 0 || d.refused < 0 {
		return total
	}
	return d
}
