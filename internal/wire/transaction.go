package wire

import (
	"strings"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attr/attrjson"
	"github.com/heatsink-go/heatsink/internal/engine"
)

var (
	transactWriteType = element("TransactWriteItem")
	transactGetType   = element("TransactGetItem")
)

// action makes a decoder of a whole request one of an action within a
// transaction. The members of an action are a subset of those of the operation
// of the same name.
func action[In any](r *request, read func(*request, *In) *engine.Request) *In {
	in := new(In)
	r.InAction = true
	defer func() { r.InAction = false }()
	r.part(func() *engine.Request { return read(r, in) })
	return in
}

func (r *request) transactWriteItems(in *engine.TransactWriteItemsInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "TransactItems":
			in.HasActions = true
			for range r.Elements(&listType) {
				in.Actions = keep(in.Actions, r.transactWrite())
			}
		case "ClientRequestToken":
			// It is remembered for a while, which the body should not be.
			in.ClientRequestToken = new(strings.Clone(r.Text()))
		default:
			if !r.returns(name, &in.Returns) {
				r.Skip()
			}
		}
	}
	return &in.Request
}

func (r *request) transactWrite() (w engine.TransactWrite) {
	for name := range r.Members(&transactWriteType) {
		switch name {
		case "Put":
			w.Put = action(r, (*request).putItem)
		case "Update":
			w.Update = action(r, (*request).updateItem)
		case "Delete":
			w.Delete = action(r, (*request).deleteItem)
			w.Delete.BadValueLast = w.Delete.BadValue == attrjson.ErrTooManyLevels
		case "ConditionCheck":
			w.ConditionCheck = action(r, (*request).deleteItem)
		default:
			r.Skip()
		}
	}
	return w
}

func (r *request) transactGetItems(in *engine.TransactGetItemsInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "TransactItems":
			in.HasGets = true
			for range r.Elements(&listType) {
				in.Gets = keep(in.Gets, r.transactGet())
			}
		case "ReturnConsumedCapacity":
			in.ConsumedCapacity = r.Text()
		default:
			r.Skip()
		}
	}
	return &in.Request
}

func (r *request) transactGet() (get *engine.GetItemInput) {
	for name := range r.Members(&transactGetType) {
		if name == "Get" {
			get = action(r, (*request).getItem)
		} else {
			r.Skip()
		}
	}
	return get
}

func (a *answer) transactWriteItems(out *engine.TransactWriteItemsOutput) {
	a.collections(out.ItemCollectionMetrics)
	a.consumedList(out.ConsumedCapacity)
}

func (a *answer) transactGetItems(out *engine.TransactGetItemsOutput) {
	a.responses(out.Items, out.ConsumedCapacity)
}

// responses writes the items that a transaction has read, in its order, and what it consumed.
func (a *answer) responses(items []attr.Raw, consumed []*engine.ConsumedCapacity) {
	a.array("Responses")
	for _, item := range items {
		a.element()
		a.optRaw("Item", item)
		a.end('}')
	}
	a.end(']')
	a.consumedList(consumed)
}
