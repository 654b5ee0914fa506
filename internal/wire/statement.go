package wire

import (
	"strings"

	"github.com/heatsink-go/heatsink/internal/engine"
)

var (
	batchStatementType         = element("BatchStatementRequest")
	parameterizedStatementType = element("ParameterizedStatement")
)

// maxParameters is more than any statement has, which is as long at most.
const maxParameters = 8192

func (r *request) executeStatement(in *engine.StatementInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "Limit":
			in.Limit = r.optInteger()
		case "NextToken":
			in.NextToken = r.optString()
		case "ReturnConsumedCapacity":
			in.ConsumedCapacity = r.Text()
		default:
			r.statement(name, in)
		}
	}
	return &in.Request
}

// statement reads a parameter that all statements have.
func (r *request) statement(name string, in *engine.StatementInput) {
	switch name {
	case "Statement":
		in.Statement = r.optString()
	case "Parameters":
		in.HasParameters, r.Narrow = true, true
		for range r.Elements(&listType) {
			if v := r.Value(); len(in.Parameters) < maxParameters {
				in.Parameters = append(in.Parameters, v)
			}
		}
		r.Narrow = false
	case "ConsistentRead":
		in.ConsistentRead = r.Bool()
	case "ReturnValuesOnConditionCheckFailure":
		in.OnConditionFailure = r.Text()
	default:
		r.Skip()
	}
}

func (r *request) batchExecuteStatement(in *engine.StatementsInput) *engine.Request {
	if r.link != nil {
		in.More = r.link.more
	}
	for name := range r.Members(&requestType) {
		switch name {
		case "Statements":
			in.HasStatements = true
			for range r.Elements(&listType) {
				in.Statements = keep(in.Statements, engine.StatementInput{})
				last := &in.Statements[len(in.Statements)-1]
				r.part(func() *engine.Request {
					for name := range r.Members(&batchStatementType) {
						r.statement(name, last)
					}
					return &last.Request
				})
			}
		case "ReturnConsumedCapacity":
			in.ConsumedCapacity = r.Text()
		default:
			r.Skip()
		}
	}
	return &in.Request
}

func (r *request) executeTransaction(in *engine.StatementsInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "TransactStatements":
			in.HasStatements = true
			for range r.Elements(&listType) {
				in.Statements = keep(in.Statements, engine.StatementInput{})
				last := &in.Statements[len(in.Statements)-1]
				for name := range r.Members(&parameterizedStatementType) {
					r.statement(name, last)
				}
			}
		case "ClientRequestToken":
			// It is remembered for a while, which the body should not be.
			in.ClientRequestToken = new(strings.Clone(r.Text()))
		case "ReturnConsumedCapacity":
			in.ConsumedCapacity = r.Text()
		default:
			r.Skip()
		}
	}
	return &in.Request
}

func (a *answer) statement(out *engine.StatementOutput) {
	a.name("Items")
	a.raws(out.Items)
	a.optString("NextToken", out.NextToken)
	if out.LastEvaluatedKey != nil {
		a.item("LastEvaluatedKey", out.LastEvaluatedKey)
	}
	a.consumed(out.ConsumedCapacity)
}

func (a *answer) batchStatement(out *engine.BatchStatementOutput) {
	a.array("Responses")
	for i := range out.Responses {
		r := &out.Responses[i]
		a.element()
		if r.Code != "" {
			a.object("Error")
			a.string("Code", r.Code)
			a.message("Message", r.Message)
			a.end('}')
		}
		a.optRaw("Item", r.Item)
		a.optString("TableName", r.TableName)
		a.end('}')
	}
	a.end(']')
	a.consumedList(out.ConsumedCapacity)
}

func (a *answer) transactStatements(out *engine.TransactStatementsOutput) {
	a.responses(out.Items, out.ConsumedCapacity)
}
