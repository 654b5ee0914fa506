package expr

import "strconv"

// What the parts of an update count towards the limit on its size, in bytes besides names and values. AWS publishes
// none of them; a public suite measured them by bisecting the limit.
const (
	chargeUpdate      = 3
	chargeWrite       = 19 // SET and ADD
	chargeTake        = 1  // REMOVE and DELETE
	chargeTargetStep  = 4
	chargePath        = 1
	chargePathStep    = 14
	chargePlus        = 34
	chargeMinus       = 37
	chargeListAppend  = 37
	chargeIfNotExists = 39
)

// Charge is what the update's text and values count towards the limit on the size of
// an updated item, whatever item it is applied to. What AttributeUpdates asks for counts nothing.
func (u *Update) Charge() int {
	if u.attributes {
		return 0
	}
	size := chargeUpdate
	for i := range u.actions {
		a := &u.actions[i]
		size += a.path.targetCharge()
		switch a.clause {
		case clauseSet, clauseAdd:
			size += chargeWrite + a.value.charge()
		default:
			size += chargeTake
		}
	}
	return size
}

// targetCharge is what a path counts that an action is about.
func (p path) targetCharge() int {
	size := len(p[0].name)
	for _, s := range p[1:] {
		size += chargeTargetStep + s.length()
	}
	return size
}

// length is how long the step's name is, or its index in digits.
func (s step) length() int {
	if s.isIndex() && s.index != outOfRange {
		return len(strconv.Itoa(s.index))
	}
	return len(s.name)
}

// charge is what the right side of a SET counts, or an operand in it: a path, not
// the value that it leads to.
func (n *node) charge() int {
	size := 0
	switch n.op {
	case opValue:
		return n.value.Size()
	case opPath:
		size = chargePath
		for _, s := range n.path {
			size += chargePathStep + s.length()
		}
		return size
	case opPlus:
		size = chargePlus
	case opMinus:
		size = chargeMinus
	case opListAppend:
		size = chargeListAppend
	case opIfNotExists:
		size = chargeIfNotExists
	}
	for c := n.first; c != nil; c = c.next {
		size += c.charge()
	}
	return size
}
