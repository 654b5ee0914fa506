package console

// pastRounds is how many rounds a trend goes back at most.
const pastRounds = 60

// past are the values of rows over the last rounds, the newest last. Rows that were idle for that long are forgotten, so
// that it does not grow.
type past map[string][]float64

// push adds a round. What is not in it took nothing.
func (p past) push(values map[string]float64) {
	for id := range p {
		if _, there := values[id]; !there {
			p.add(id, 0)
		}
	}
	for id, value := range values {
		p.add(id, value)
	}
}

func (p past) add(id string, value float64) {
	all := append(p[id], value)
	if len(all) > pastRounds {
		all = append(all[:0:0], all[len(all)-pastRounds:]...)
	}
	for _, v := range all {
		if v > 0 {
			p[id] = all
			return
		}
	}
	delete(p, id)
}
