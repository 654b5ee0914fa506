package engine_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/engine"
)

// command is a command, or an action of one, as it is written.
type command struct {
	line    int
	verb    string
	rest    string
	times   int
	params  []param
	actions []*command
}

type param struct {
	line        int
	name, value string
}

func (c *command) errorf(format string, args ...any) error {
	return fmt.Errorf("%d: %s", c.line, fmt.Sprintf(format, args...))
}

// parseCommand reads a line and what is indented below it.
func parseCommand(lines []string, line, depth int) (*command, error) {
	c := &command{line: line, times: 1}
	c.verb, c.rest, _ = strings.Cut(lines[0], " ")
	indent := strings.Repeat("  ", depth+1)
	for i := 1; i < len(lines); i++ {
		text, ok := strings.CutPrefix(lines[i], indent)
		if !ok || strings.HasPrefix(text, " ") {
			return nil, fmt.Errorf("%d: wrong indentation", line+i)
		}
		name, value, _ := strings.Cut(text, " ")
		end := i + 1
		for end < len(lines) && strings.HasPrefix(lines[end], indent+"  ") {
			end++
		}
		switch {
		case name == "times":
			n, err := strconv.Atoi(value)
			if err != nil {
				return nil, fmt.Errorf("%d: times: %w", line+i, err)
			}
			c.times = n
		case hasAction(c.verb, name):
			part := append([]string{text}, lines[i+1:end]...)
			action, err := parseCommand(part, line+i, depth+1)
			if err != nil {
				return nil, err
			}
			c.actions = append(c.actions, action)
			i = end - 1
		default:
			c.params = append(c.params, param{line + i, name, value})
		}
	}
	return c, nil
}

func hasAction(verb, name string) bool {
	_, ok := verbs[verb].actions[name]
	return ok
}

var countersPattern = regexp.MustCompile(`\$n+`)

// numbered returns the command with $n replaced, $nnn by three digits.
func (c *command) numbered(n int) *command {
	set := func(s string) string {
		return countersPattern.ReplaceAllStringFunc(s, func(c string) string { return fmt.Sprintf("%0*d", len(c)-1, n) })
	}
	out := *c
	out.rest = set(c.rest)
	out.params = nil
	for _, p := range c.params {
		out.params = append(out.params, param{p.line, p.name, set(p.value)})
	}
	return &out
}

// arguments are what a command says, for the operations to take their part of.
type arguments struct {
	verb, table, rest string
	item              attr.Item
	hasItem           bool
	fault             error
	expressions       engine.Expressions
	returns           engine.Returns
	in                engine.ReadInput
	consistent, pages bool
	token             *string
	indexes           []param
	view, ttl         string
	actions           []*arguments
}

// arguments reads the item and the parameters of a command.
func (c *command) arguments(allowed string, actions map[string]string) (*arguments, error) {
	a := &arguments{verb: c.verb}
	a.table, a.rest, _ = strings.Cut(c.rest, " ")
	if strings.HasPrefix(a.rest, "{") {
		var err error
		if a.item, a.fault, err = readItem(a.rest); err != nil {
			return nil, c.errorf("%v", err)
		}
		a.hasItem = true
	} else if a.rest != "" && c.verb != "table" {
		return nil, c.errorf("unexpected %s", a.rest)
	}
	for _, p := range c.params {
		word := p.name
		if strings.HasPrefix(word, ":") || strings.HasPrefix(word, "#") {
			word = word[:1]
		}
		if !slices.Contains(strings.Fields(allowed), word) {
			return nil, fmt.Errorf("%d: %s has no parameter %s", p.line, c.verb, p.name)
		}
		if err := a.set(word, p); err != nil {
			return nil, fmt.Errorf("%d: %s: %w", p.line, p.name, err)
		}
	}
	for _, action := range c.actions {
		for n := range action.times {
			b, err := action.numbered(n).arguments(actions[action.verb], nil)
			if err != nil {
				return nil, err
			}
			a.actions = append(a.actions, b)
		}
	}
	return a, nil
}

func (a *arguments) set(word string, p param) (err error) {
	x := &a.expressions
	switch word {
	case ":":
		return a.setValue(p)
	case "#":
		if x.Names == nil {
			x.Names, x.HasNames = map[string]string{}, true
		}
		x.Names[p.name] = p.value
	case "condition":
		x.Condition = &p.value
	case "update":
		x.Update = &p.value
	case "filter":
		x.Filter = &p.value
	case "key":
		x.KeyCondition = &p.value
	case "projection":
		x.Projection = &p.value
	case "return":
		a.returns.ReturnValues = p.value
	case "on-failure":
		a.returns.OnConditionFailure = p.value
	case "capacity":
		a.returns.ConsumedCapacity = p.value
	case "metrics":
		a.returns.ItemCollectionMetrics = p.value
	case "index":
		a.in.IndexName = &p.value
	case "select":
		a.in.Select = p.value
	case "limit":
		a.in.Limit, err = readInt(p.value)
	case "segment":
		segment, total, _ := strings.Cut(p.value, "/")
		if a.in.Segment, err = readInt(segment); err == nil {
			a.in.TotalSegments, err = readInt(total)
		}
	case "start":
		a.in.HasStartKey = true
		a.in.ExclusiveStartKey, a.fault, err = readItem(p.value)
	case "token":
		a.token = &p.value
	case "stream":
		a.view = p.value
	case "ttl":
		a.ttl = p.value
	case "lsi", "gsi":
		a.indexes = append(a.indexes, p)
	default:
		return a.setFlag(word, p.value)
	}
	return err
}

func (a *arguments) setFlag(word, value string) error {
	if value != "" {
		return fmt.Errorf("unexpected %s", value)
	}
	switch word {
	case "reverse":
		a.in.ScanIndexForward = new(false)
	case "consistent":
		a.consistent = true
	case "pages":
		a.pages = true
	default:
		return fmt.Errorf("unknown word %s", word)
	}
	return nil
}

func (a *arguments) setValue(p param) error {
	v, fault, err := readValue(p.value)
	if a.fault == nil {
		a.fault = fault
	}
	a.expressions.Values = a.expressions.Values.With(p.name, v)
	a.expressions.HasValues = true
	return err
}

func readInt(s string) (*int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	return &n, err
}

// request is what all requests have; the first fault of any action is the
// request's.
func (a *arguments) request() engine.Request {
	r := engine.Request{BadValue: a.fault}
	for _, b := range a.actions {
		if r.BadValue == nil {
			r.BadValue = b.fault
		}
	}
	return r
}

func (a *arguments) put() *engine.PutItemInput {
	return &engine.PutItemInput{
		Request: a.request(), TableName: &a.table, Item: a.item, HasItem: a.hasItem,
		Expressions: a.expressions, Returns: a.returns,
	}
}

func (a *arguments) update() *engine.UpdateItemInput {
	return &engine.UpdateItemInput{
		Request: a.request(), TableName: &a.table, Key: a.item, HasKey: a.hasItem,
		Expressions: a.expressions, Returns: a.returns,
	}
}

func (a *arguments) remove() *engine.DeleteItemInput {
	return &engine.DeleteItemInput{
		Request: a.request(), TableName: &a.table, Key: a.item, HasKey: a.hasItem,
		Expressions: a.expressions, Returns: a.returns,
	}
}

func (a *arguments) get() *engine.GetItemInput {
	return &engine.GetItemInput{
		Request: a.request(), TableName: &a.table, Key: a.item, HasKey: a.hasItem,
		ConsistentRead: a.consistent, ConsumedCapacity: a.returns.ConsumedCapacity, Expressions: a.expressions,
	}
}

func (a *arguments) read() *engine.ReadInput {
	in := a.in
	in.Request, in.TableName, in.ConsistentRead = a.request(), &a.table, a.consistent
	in.ConsumedCapacity, in.Expressions = a.returns.ConsumedCapacity, a.expressions
	return &in
}
