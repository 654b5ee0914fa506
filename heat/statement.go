package heat

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/partiql"
)

// statement is a statement of PartiQL that a call makes.
type statement struct {
	*partiql.Statement // nil if it cannot be read: DynamoDB refuses it
	params             []types.AttributeValue
}

// statements returns the statements that a call makes, nil if there are none. They are read once.
func (c *call) statements(input any) []statement {
	if c.made != nil {
		return c.made
	}
	add := func(text *string, params []types.AttributeValue) {
		s, err := partiql.Parse(aws.ToString(text))
		if err != nil {
			s = nil
		}
		c.made = append(c.made, statement{s, params})
	}
	switch in := input.(type) {
	case *dynamodb.ExecuteStatementInput:
		add(in.Statement, in.Parameters)
	case *dynamodb.BatchExecuteStatementInput:
		for i := range in.Statements {
			add(in.Statements[i].Statement, in.Statements[i].Parameters)
		}
	case *dynamodb.ExecuteTransactionInput:
		for i := range in.TransactStatements {
			add(in.TransactStatements[i].Statement, in.TransactStatements[i].Parameters)
		}
	}
	return c.made
}

// statements looks up the tables that statements name.
func (l *lookup) statements(ctx context.Context, c *call, input any) {
	for _, s := range c.statements(input) {
		if s.Statement != nil {
			l.table(ctx, c, s.Table)
		}
	}
}

// fillStatements fills in what statements are about: one part of the table or index for each, and those of the indexes that a
// new item is in. It returns false for an input without statements.
func (r *Recorder) fillStatements(c *call, input any) bool {
	list := c.statements(input)
	if list == nil {
		return false
	}
	// A call reads or writes; a condition check of a transaction is part of its writes.
	reads := func(s statement) bool { return s.Statement == nil || s.Kind == partiql.Select }
	c.direction = Write
	if !slices.ContainsFunc(list, func(s statement) bool { return !reads(s) }) {
		c.direction = Read
	}
	_, c.doubled = input.(*dynamodb.ExecuteTransactionInput)
	for _, s := range list {
		if s.Statement != nil {
			r.fillStatement(c, s)
		}
	}
	return true
}

func (r *Recorder) fillStatement(c *call, s statement) {
	values, whole := s.values()
	view := c.view(r, s.Table)
	switch s.Kind {
	case partiql.Select:
		r.fillSelect(c, s, values)
	case partiql.Insert:
		if whole {
			c.written(view, values, writeUnits(values))
			return
		}
		c.item(view.own, values, 1)
	default:
		own := view.own
		if !own.names.known() {
			own = view.keyed(values)
		}
		c.item(own, values, 1)
	}
	r.noteUnkeyed(c)
}

// fillSelect is for a SELECT, which reads an item if it names the whole key of a table, and else a stretch of items.
func (r *Recorder) fillSelect(c *call, s statement, values map[string]types.AttributeValue) {
	view := c.table(r, s.Table).index(s.Index)
	names := &view.names
	if !names.known() && len(values) == 1 && s.HasIndex {
		names.partition = slices.Sorted(maps.Keys(values))
	}
	if s.HasIndex || !names.known() || !hasAll(values, names.partition) || !hasAll(values, names.sort) {
		names.sort, view.single = nil, false
	}
	c.item(view, values, 1)
}

// noteUnkeyed counts a statement whose key is not known.
func (r *Recorder) noteUnkeyed(c *call) {
	if p := &c.parts[len(c.parts)-1]; p.end == p.begin {
		r.unkeyed.Add(1)
	}
}

// values returns what a statement says of attributes, and whether that is a whole item.
func (s statement) values() (all map[string]types.AttributeValue, whole bool) {
	operands, whole := s.Operands()
	all = make(map[string]types.AttributeValue, len(operands))
	for name, o := range operands {
		v := s.value(o)
		if v == nil {
			whole = false
			continue
		}
		all[name] = v
	}
	return all, whole
}

// value returns an operand, nil if it is no parameter and no literal that could be a key.
func (s statement) value(o partiql.Operand) types.AttributeValue {
	switch {
	case o.Param > len(s.params):
		return nil
	case o.Param > 0:
		return s.params[o.Param-1]
	}
	switch o.Value.Kind {
	case attr.S:
		return &types.AttributeValueMemberS{Value: o.Value.Str}
	case attr.N:
		return &types.AttributeValueMemberN{Value: o.Value.Number().String()}
	case attr.Bool:
		return &types.AttributeValueMemberBOOL{Value: o.Value.Bool}
	}
	return nil
}

// settleStatements takes what became of each statement of a batch.
func (r *Recorder) settleStatements(c *call, out *dynamodb.BatchExecuteStatementOutput) {
	part := 0
	for i, s := range c.made {
		if s.Statement == nil {
			continue
		}
		var failed *types.BatchStatementError
		if i < len(out.Responses) {
			failed = out.Responses[i].Error
		}
		own := true
		for ; part < len(c.parts) && (own || c.direction == Write && c.parts[part].counters.Index != ""); part++ {
			c.parts[part].settle(failed, own)
			own = false
		}
	}
	r.consumedAll(c, out.ConsumedCapacity)
}

// settle takes the error of a statement, nil if there is none. The parts of indexes that follow the table's are not its own.
func (p *part) settle(failed *types.BatchStatementError, own bool) {
	if failed == nil {
		return
	}
	p.weight = 0 // the answer does not say what it consumed
	switch code := failed.Code; {
	case !own:
		p.tentative = true
	case code == types.BatchStatementErrorCodeEnumConditionalCheckFailed, code == types.BatchStatementErrorCodeEnumDuplicateItem: // an answer like any other
	case isThrottleCode(string(code)):
		p.throttled++
	default:
		p.failed++
	}
}
