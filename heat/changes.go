package heat

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/expr/outline"
	"github.com/heatsink-go/heatsink/internal/expr/token"
)

// changes are what an update does to attributes of the top level.
type changes struct {
	list    []change
	unclear bool // the update is not understood: anything may change
}

// change is what becomes of one attribute.
type change struct {
	attribute string
	fate      fate
	value     types.AttributeValue // if it is set
}

type fate int

const (
	untouched fate = iota
	set            // to a value that the request gives
	removed
	unclear // to something that depends on what it was
)

// of returns what becomes of an attribute.
func (c *changes) of(attribute string) (fate, types.AttributeValue) {
	for i := range c.list {
		if c.list[i].attribute == attribute {
			return c.list[i].fate, c.list[i].value
		}
	}
	if c.unclear {
		return unclear, nil
	}
	return untouched, nil
}

// reset makes it the changes of another update.
func (c *changes) reset() {
	clear(c.list)
	c.list, c.unclear = c.list[:0], false
}

// legacy adds the AttributeUpdates that came before expressions.
func (c *changes) legacy(updates map[string]types.AttributeValueUpdate) {
	for name, update := range updates {
		made := change{attribute: name, fate: unclear}
		switch update.Action {
		case types.AttributeActionPut, "":
			if update.Value != nil {
				made.fate, made.value = set, update.Value
			}
		case types.AttributeActionDelete:
			if update.Value == nil {
				made.fate = removed
			}
		}
		c.list = append(c.list, made)
	}
}

// expression adds what an update expression does:
//
//	SET status = :s, #at = :now, n = n + :one  REMOVE owner  ADD visits :one  DELETE tags :t
//
// DynamoDB refuses what is wrong, so nothing is checked; but what is not understood is said to be unclear.
func (c *changes) expression(text string, names map[string]string, values map[string]types.AttributeValue) {
	u := outline.ReadUpdate(text)
	for a, ok := u.Next(); ok; a, ok = u.Next() {
		made := change{attribute: a.Path.Name, fate: unclear}
		if name, ok := names[a.Path.Name]; ok {
			made.attribute = name
		}
		switch value := values[a.Value]; {
		case a.Path.Nested:
		case a.Clause == token.Remove:
			made.fate = removed
		case a.Clause == token.Set && a.Unless.Text == "" && value != nil:
			made.fate, made.value = set, value
		}
		c.list = append(c.list, made)
	}
	c.unclear = c.unclear || u.Broken()
}
