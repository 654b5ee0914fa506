package sim

// Shrink drops whatever a failing plan does not need to fail: actions first, in halves and then one by one, and the faults
// of those that are left. It returns the smaller plan and its fault.
func Shrink(p Plan, b Breaks) (Plan, string) {
	fault, _ := Run(p, b)
	if fault == "" {
		return p, ""
	}
	try := func(actions []Action) bool {
		smaller := p
		smaller.Actions = actions
		got, _ := Run(smaller, b)
		if got == "" {
			return false
		}
		p, fault = smaller, got
		return true
	}
	for changed := true; changed; {
		changed = false
		for size := max(1, len(p.Actions)/2); size > 0; size /= 2 {
			for from := 0; from+size <= len(p.Actions); {
				rest := append(append([]Action(nil), p.Actions[:from]...), p.Actions[from+size:]...)
				if try(rest) {
					changed = true
				} else {
					from += size
				}
			}
		}
		for i, a := range p.Actions {
			if a.Calm {
				continue
			}
			calm := append([]Action(nil), p.Actions...)
			calm[i].Calm = true
			if try(calm) {
				changed = true
			}
		}
	}
	return p, fault
}
