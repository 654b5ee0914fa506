package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr"
)

// This file turns the parameters that expressions replaced into what expressions
// are parsed to. Nothing later on knows the difference.

// legacy checks the parameters that expressions replaced, one by one. within is
// where in the request they are, with a dot.
func (c *constraints) legacy(l *Legacy, within string) {
	if l == nil {
		return
	}
	c.comparisons(within+"queryFilter", l.QueryFilter, true)
	c.comparisons(within+"scanFilter", l.ScanFilter, true)
	c.comparisons(within+"expected", l.Expected, false)
	c.word(within+"conditionalOperator", l.ConditionalOperator, "OR", "AND")
	if l.AttributesToGet != nil {
		c.length(within+"attributesToGet", "AttributeName", len(l.AttributesToGet), 1, maxAttributesToGet)
	}
	c.comparisons(within+"keyConditions", l.KeyConditions, true)
	for i := range l.AttributeUpdates {
		u := &l.AttributeUpdates[i]
		c.word(within+"attributeUpdates."+u.Name+".member.action", u.Action, "ADD", "DELETE", "PUT")
	}
}

// maxAttributesToGet is how many names AttributesToGet may have.
const maxAttributesToGet = 255

// comparisons checks the operators of a list of conditions.
func (c *constraints) comparisons(at string, list []AttributeCondition, required bool) {
	for i := range list {
		at := at + "." + list[i].Name + ".member.comparisonOperator"
		if required {
			c.required(at, list[i].Comparison != nil)
		}
		c.word(at, list[i].Comparison, expr.Operators...)
	}
}

// checkLegacy refuses what does not go together: expressions with what they
// replaced.
func (x *Expressions) checkLegacy() error {
	l := x.Legacy
	if l == nil {
		return nil
	}
	replaced, expressions := l.present(x.KeyCondition != nil), x.present()
	if len(replaced) > 0 && len(expressions) > 0 {
		return invalid("Can not use both expression and non-expression parameters in the same request: "+
			"Non-expression parameters: {%s} Expression parameters: {%s}", strings.Join(replaced, ", "), strings.Join(expressions, ", "))
	}
	return nil
}

// checkOperator refuses a ConditionalOperator without conditions, and one with a single condition whose value cannot be
// read. Otherwise what is wrong with a single condition comes first: see join.
func (l *Legacy) checkOperator(badValue error) error {
	if l == nil || l.ConditionalOperator == nil {
		return nil
	}
	switch n := len(l.Expected) + len(l.QueryFilter) + len(l.ScanFilter); {
	case n == 0:
		return invalid("ConditionalOperator cannot be used without Filter or Expected")
	case n == 1 && badValue != nil:
		return errOneCondition()
	}
	return nil
}

func errOneCondition() *Error {
	return invalid("ConditionalOperator can only be used when Filter or Expected has two or more elements")
}

// present names the parameters that may not be beside expressions. KeyConditions
// may, unless there is a KeyConditionExpression.
func (l *Legacy) present(keyExpression bool) (names []string) {
	for _, p := range [...]struct {
		there bool
		name  string
	}{
		{l.AttributesToGet != nil, "AttributesToGet"},
		{l.QueryFilter != nil, "QueryFilter"},
		{l.ScanFilter != nil, "ScanFilter"},
		{l.AttributeUpdates != nil, "AttributeUpdates"},
		{l.Expected != nil, "Expected"},
		{l.ConditionalOperator != nil, "ConditionalOperator"},
		{l.KeyConditions != nil && keyExpression, "KeyConditions"},
	} {
		if p.there {
			names = append(names, p.name)
		}
	}
	return names
}

// projection returns what AttributesToGet asks for; nil: everything.
func (l *Legacy) projection() (*expr.Projection, error) {
	if l == nil || l.AttributesToGet == nil {
		return nil, nil
	}
	for _, name := range l.AttributesToGet {
		if err := attr.CheckName(name); err != nil {
			return nil, asError(err)
		}
	}
	names := slices.Sorted(slices.Values(l.AttributesToGet))
	for i, name := range names[1:] {
		if name == names[i] {
			return nil, invalidParameter("Duplicate value in attribute name: %s", name)
		}
	}
	return expr.ProjectAttributes(names), nil
}

// condition returns what a QueryFilter or ScanFilter asks for; nil: nothing.
func (l *Legacy) condition(filter []AttributeCondition) (*expr.Condition, error) {
	list := make([]expr.Comparison, len(filter))
	for i := range filter {
		list[i] = filter[i].comparison()
	}
	return l.join(list)
}

// join checks comparisons, and makes a condition of them.
func (l *Legacy) join(list []expr.Comparison) (*expr.Condition, error) {
	if err := checkComparisons(list); err != nil || len(list) == 0 {
		return nil, err
	}
	if len(list) == 1 && l.ConditionalOperator != nil { // what is wrong with the one is reported first
		return nil, errOneCondition()
	}
	return expr.Compare(list, l.ConditionalOperator != nil && *l.ConditionalOperator == "OR"), nil
}

func checkComparisons(list []expr.Comparison) error {
	for i := range list {
		if err := cmp.Or(attr.CheckName(list[i].Name), list[i].Check()); err != nil {
			return asError(err)
		}
	}
	return nil
}

func (a *AttributeCondition) comparison() expr.Comparison {
	return expr.Comparison{Name: a.Name, Operator: *a.Comparison, Values: a.Values}
}

// keyCondition returns what KeyConditions asks for; nil: it is absent.
func (l *Legacy) keyCondition() (*expr.KeyCondition, error) {
	if l.KeyConditions == nil {
		return nil, nil
	}
	list := make([]expr.Comparison, len(l.KeyConditions))
	for i := range list {
		list[i] = l.KeyConditions[i].comparison()
	}
	if err := checkComparisons(list); err != nil {
		return nil, err
	}
	return expr.CompareKeys(list), nil
}

// expected returns the condition that Expected is; nil: none.
func (l *Legacy) expected() (*expr.Condition, error) {
	list := make([]expr.Comparison, len(l.Expected))
	for i := range list {
		a := &l.Expected[i]
		if fault := a.expectation(); fault != "" {
			return nil, invalid("1 validation error detected: One or more parameter values were invalid: %s for Attribute: %s", fault, a.Name)
		}
		list[i] = a.expected()
	}
	return l.join(list)
}

// expectation says what is wrong with the members of an entry of Expected.
func (a *AttributeCondition) expectation() string {
	switch {
	case a.HasValues && a.Value != nil:
		return "Value and AttributeValueList cannot be used together"
	case a.HasValues && a.Comparison == nil:
		return "AttributeValueList can only be used with a ComparisonOperator"
	case a.Comparison != nil && a.Exists != nil:
		return "Exists and ComparisonOperator cannot be used together"
	case a.Comparison != nil && !a.HasValues && a.Value == nil && *a.Comparison != "NULL" && *a.Comparison != "NOT_NULL":
		return "Value or AttributeValueList must be used with ComparisonOperator: " + *a.Comparison
	case a.Comparison != nil:
		return ""
	case a.Exists == nil && a.Value == nil:
		return "Value must be provided when Exists is null"
	case a.Exists == nil:
		return ""
	case *a.Exists && a.Value == nil:
		return "Value must be provided when Exists is true"
	case !*a.Exists && a.Value != nil:
		return "Value cannot be used when Exists is false"
	}
	return ""
}

// expected returns the comparison that an entry of Expected is.
func (a *AttributeCondition) expected() expr.Comparison {
	c := expr.Comparison{Name: a.Name, Operator: "EQ", Values: a.Values}
	if a.Value != nil {
		c.Values = []attr.Value{*a.Value}
	}
	switch {
	case a.Comparison != nil:
		c.Operator = *a.Comparison
	case a.Value == nil:
		c.Operator = "NULL"
	}
	return c
}

// update returns the update that AttributeUpdates is; nil: none.
func (l *Legacy) update() (*expr.Update, error) {
	if len(l.AttributeUpdates) == 0 {
		return nil, nil
	}
	list := make([]expr.AttributeUpdate, len(l.AttributeUpdates))
	for i := range list {
		u := &l.AttributeUpdates[i]
		list[i] = expr.AttributeUpdate{Name: u.Name, Action: "PUT", Value: u.Value}
		if u.Action != nil {
			list[i].Action = *u.Action
		}
		if err := cmp.Or(attr.CheckName(u.Name), list[i].Check()); err != nil {
			return nil, asError(err)
		}
	}
	return expr.UpdateAttributes(list), nil
}
