package heat

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
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
	u := updateText{text: text}
	for clause := u.next(); clause != ""; clause = u.next() {
		if !isClause(clause) {
			c.unclear = true
			return
		}
		for {
			made := change{fate: unclear}
			root, nested := u.path()
			made.attribute = root
			if name, ok := names[root]; ok {
				made.attribute = name
			}
			switch {
			case strings.EqualFold(clause, "SET"):
				if value := u.assigned(); !nested && values[value] != nil {
					made.fate, made.value = set, values[value]
				}
			case !strings.EqualFold(clause, "REMOVE"):
				u.next() // the value that ADD and DELETE have
			case !nested:
				made.fate = removed
			}
			c.list = append(c.list, made)
			if u.peek() != "," {
				break
			}
			u.next()
		}
	}
}

func isClause(word string) bool {
	return strings.EqualFold(word, "SET") || strings.EqualFold(word, "REMOVE") ||
		strings.EqualFold(word, "ADD") || strings.EqualFold(word, "DELETE")
}

// updateText is an update expression as far as it was read: words, and signs of one character.
type updateText struct {
	text string
	at   int
}

const updateSigns = "=+-,.()[]"

// next returns the next word or sign, "" at the end.
func (u *updateText) next() string {
	for u.at < len(u.text) && isBlank(u.text[u.at]) {
		u.at++
	}
	begin := u.at
	for u.at < len(u.text) && !isBlank(u.text[u.at]) {
		if strings.IndexByte(updateSigns, u.text[u.at]) >= 0 {
			if u.at == begin {
				u.at++
			}
			break
		}
		u.at++
	}
	return u.text[begin:u.at]
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (u *updateText) peek() string {
	ahead := *u
	return ahead.next()
}

// path reads a path and returns the attribute it begins with, and whether it leads into it.
func (u *updateText) path() (root string, nested bool) {
	root = u.next()
	for {
		switch u.peek() {
		case ".":
			u.next()
			u.next()
		case "[":
			u.next() // [
			u.next() // a number
			u.next() // ]
		default:
			return root, nested
		}
		nested = true
	}
}

// assigned reads "= value" up to the next action or clause. It returns the placeholder if the value is one and nothing
// else, "" otherwise.
func (u *updateText) assigned() string {
	if u.next() != "=" {
		return ""
	}
	var first string
	operands, depth, wanted := 0, 0, true // wanted: an operand must follow, so a word is no clause
	for {
		word := u.peek()
		switch {
		case word == "", depth == 0 && (word == "," || !wanted && isClause(word)):
			if operands == 1 && strings.HasPrefix(first, ":") {
				return first
			}
			return ""
		case word == "(":
			depth++
			wanted = true
		case word == ")", word == "]":
			if word == ")" {
				depth--
			}
			wanted = false
		case strings.Contains(updateSigns, word):
			wanted = true
		default:
			if operands == 0 {
				first = word
			}
			operands++
			wanted = false
		}
		u.next()
	}
}
