package expr

import (
	"slices"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// AttributeUpdate is a change of one attribute as AttributeUpdates has it, the
// parameter that UpdateExpression replaced.
type AttributeUpdate struct {
	Name   string      // of the attribute, which is not a path
	Action string      // PUT, ADD or DELETE
	Value  *attr.Value // nil with a DELETE of the attribute itself
}

// errUpdateType is errType in the words that go with AttributeUpdates.
const errUpdateType = attr.Fault("Type mismatch for attribute to update")

// Check returns what is wrong with the action and its value.
func (u *AttributeUpdate) Check() error {
	switch {
	case u.Value == nil && u.Action != "DELETE":
		return attr.Fault("One or more parameter values were invalid: Only DELETE action is allowed when no attribute value is specified")
	case u.Value == nil || u.Action == "PUT" || u.Value.Kind.IsSet():
		return nil
	case u.Action == "DELETE":
		return attr.Fault("One or more parameter values were invalid: DELETE action with value is not supported for the type " + u.Value.Kind.String())
	case u.Value.Kind != attr.N && u.Value.Kind != attr.L:
		return attr.Fault("One or more parameter values were invalid: ADD action is not supported for the type " + u.Value.Kind.String())
	}
	return nil
}

// UpdateAttributes returns the update that makes all the changes. No two may be
// of one attribute, and Check must have found nothing.
func UpdateAttributes(list []AttributeUpdate) *Update {
	u := &Update{attributes: true, actions: make([]action, 0, len(list)), targets: make([]path, 0, len(list))}
	for i := range list {
		u.actions = append(u.actions, u.arena.change(&list[i]))
		u.targets = append(u.targets, u.actions[i].path)
	}
	slices.SortFunc(u.actions, func(a, b action) int { return a.path.compare(b.path) })
	slices.SortFunc(u.targets, path.compare)
	return u
}

// change returns the action that a change is in an expression.
func (a *arena) change(u *AttributeUpdate) action {
	out := action{path: a.attributePath(u.Name)}
	switch {
	case u.Action == "PUT":
		out.clause, out.value = clauseSet, a.valueNode(u.Value)
	case u.Action == "ADD" && u.Value.Kind == attr.L: // which the ADD of expressions does not do
		old := a.newNode(opIfNotExists, a.attribute(u.Name), a.valueNode(&attr.Value{Kind: attr.L}))
		out.clause, out.value = clauseSet, a.newNode(opListAppend, old, a.valueNode(u.Value))
	case u.Action == "ADD":
		out.clause, out.value = clauseAdd, a.valueNode(u.Value)
	case u.Value != nil:
		out.clause, out.value = clauseDelete, a.valueNode(u.Value)
	default:
		out.clause = clauseRemove
	}
	return out
}
