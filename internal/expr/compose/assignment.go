package compose

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/expr/outline"
	"github.com/heatsink-go/heatsink/internal/expr/token"
)

// Assignment is what an update does to an attribute, or to something inside it.
type Assignment struct {
	Attribute string
	Clause    string // SET, REMOVE, ADD or DELETE
	Inside    bool   // not the attribute itself, but an element of it

	// Value is what a SET gives the attribute, nil if that depends on the item. With IfAbsent it does so only where there
	// is none.
	Value    types.AttributeValue
	IfAbsent bool
}

// Assignments returns what an update expression does. What is wrong with it is for DynamoDB to find.
func Assignments(expression string, names map[string]string, values Item) []Assignment {
	var all []Assignment
	u := outline.ReadUpdate(expression)
	for action, ok := u.Next(); ok; action, ok = u.Next() {
		if action.Path.Name == "" {
			continue
		}
		a := Assignment{Attribute: resolve(action.Path.Name, names), Clause: clauseName(action.Clause), Inside: action.Path.Nested}
		switch unless := action.Unless; {
		case a.Inside:
		case unless.Text == "":
			a.Value = values[action.Value]
		case !unless.Nested && resolve(unless.Name, names) == a.Attribute:
			a.Value, a.IfAbsent = values[action.Value], true
		}
		all = append(all, a)
	}
	return all
}

func clauseName(k token.Kind) string {
	switch k {
	case token.Set:
		return "SET"
	case token.Remove:
		return "REMOVE"
	case token.Add:
		return "ADD"
	}
	return "DELETE"
}

// resolve returns the attribute that a word of an expression means.
func resolve(word string, names map[string]string) string {
	if name, ok := names[word]; ok && strings.HasPrefix(word, "#") {
		return name
	}
	return word
}

// LegacyAssignments is Assignments for AttributeUpdates.
func LegacyAssignments(updates map[string]types.AttributeValueUpdate) []Assignment {
	var all []Assignment
	for name, u := range updates {
		a := Assignment{Attribute: name, Clause: string(u.Action)}
		switch {
		case u.Action == types.AttributeActionPut || u.Action == "":
			a.Clause, a.Value = "SET", u.Value
		case u.Action == types.AttributeActionDelete && u.Value == nil:
			a.Clause = "REMOVE"
		}
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b Assignment) int { return strings.Compare(a.Attribute, b.Attribute) })
	return all
}

// Removes reports whether an attribute is removed.
func Removes(all []Assignment, attribute string) bool {
	return slices.ContainsFunc(all, func(a Assignment) bool {
		return a.Clause == "REMOVE" && a.Attribute == attribute && !a.Inside
	})
}
