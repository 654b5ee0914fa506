package wire

import (
	"context"
	"slices"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attr/attrjson"
	"github.com/heatsink-go/heatsink/internal/engine"
	"github.com/heatsink-go/heatsink/internal/jsonpull"
)

var (
	getTablesType   = jsonpull.Type{Shape: jsonpull.Map, Class: namespace + "KeysAndAttributes"}
	getTableType    = element("KeysAndAttributes")
	writeTablesType = jsonpull.Type{Shape: jsonpull.Map, Class: "java.util.List<" + namespace + "WriteRequest>"}
	writesType      = jsonpull.Type{Shape: jsonpull.ElementList, Class: namespace + "WriteRequest"}
	writeType       = element("WriteRequest")
	putRequestType  = member("PutRequest")
	delRequestType  = member("DeleteRequest")
)

func (r *request) batchGetItem(in *engine.BatchGetItemInput) *engine.Request {
	if r.link != nil {
		in.More = r.link.more
	}
	for name := range r.Members(&requestType) {
		switch name {
		case "RequestItems":
			for table := range r.Members(&getTablesType) {
				t := r.batchGetTable(table)
				if len(in.Tables) <= mostElements {
					in.Tables = slices.DeleteFunc(in.Tables, func(t engine.BatchGetTable) bool { return t.TableName == table })
					in.Tables = append(in.Tables, t)
				}
			}
		case "ReturnConsumedCapacity":
			in.ConsumedCapacity = r.Text()
		default:
			r.Skip()
		}
	}
	return &in.Request
}

func (r *request) batchGetTable(table string) engine.BatchGetTable {
	t := engine.BatchGetTable{TableName: table}
	for name := range r.Members(&getTableType) {
		switch name {
		case "Keys":
			for range r.Elements(&listType) {
				t.Keys = keep(t.Keys, r.Item(&attrjson.ElementItemType))
			}
		case "ConsistentRead":
			t.ConsistentRead = r.Bool()
		case "ProjectionExpression":
			t.Projection = r.optString()
		case "ExpressionAttributeNames":
			r.expressionNames(&t.Expressions)
		case "AttributesToGet":
			legacy(&t.Expressions).AttributesToGet = r.attributesToGet()
		default:
			r.Skip()
		}
	}
	return t
}

func (r *request) batchWriteItem(in *engine.BatchWriteItemInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "RequestItems":
			for table := range r.Members(&writeTablesType) {
				t := engine.BatchWriteTable{TableName: table}
				for range r.Elements(&writesType) {
					t.Writes = keep(t.Writes, r.batchWrite())
				}
				if len(in.Tables) <= mostElements {
					in.Tables = slices.DeleteFunc(in.Tables, func(t engine.BatchWriteTable) bool { return t.TableName == table })
					in.Tables = append(in.Tables, t)
				}
			}
		default:
			if !r.returns(name, &in.Returns) {
				r.Skip()
			}
		}
	}
	return &in.Request
}

func (r *request) batchWrite() (w engine.BatchWrite) {
	for name := range r.Members(&writeType) {
		switch name {
		case "PutRequest":
			w.Put = true
			w.Item, w.NoItem = r.onlyItem(&putRequestType, "Item")
		case "DeleteRequest":
			w.Delete = true
			w.Key, w.NoKey = r.onlyItem(&delRequestType, "Key")
		default:
			r.Skip()
		}
	}
	return w
}

// onlyItem reads a structure of which only one member counts, an item. It tells whether that is missing.
func (r *request) onlyItem(t *jsonpull.Type, member string) (it attr.Item, missing bool) {
	missing = true
	for name := range r.Members(t) {
		if name == member {
			it, missing = r.Item(&attrjson.ItemType), false
		} else {
			r.Skip()
		}
	}
	return it, missing
}

func (a *answer) batchGetItem(out *engine.BatchGetItemOutput) {
	a.object("Responses")
	for i := range out.Responses {
		a.key(out.Responses[i].TableName)
		a.raws(out.Responses[i].Items)
	}
	a.end('}')
	a.object("UnprocessedKeys")
	for i := range out.Unprocessed {
		a.unprocessedKeys(&out.Unprocessed[i])
	}
	a.end('}')
	a.consumedList(out.ConsumedCapacity)
}

func (a *answer) unprocessedKeys(t *engine.BatchGetTable) {
	a.key(t.TableName)
	a.begin('{')
	a.keysOf(t)
	a.bool("ConsistentRead", t.ConsistentRead)
	if t.Projection != nil {
		a.string("ProjectionExpression", *t.Projection)
	}
	if t.Legacy != nil {
		a.array("AttributesToGet")
		for _, name := range t.Legacy.AttributesToGet {
			a.next()
			a.buf = jsonpull.AppendString(a.buf, name)
		}
		a.end(']')
	}
	if t.HasNames {
		a.object("ExpressionAttributeNames")
		sorted(a, t.Names, func(s string) { a.buf = jsonpull.AppendString(a.buf, s) })
		a.end('}')
	}
	a.end('}')
}

func (a *answer) keysOf(t *engine.BatchGetTable) {
	a.array("Keys")
	for _, key := range t.Keys {
		a.next()
		a.buf = attrjson.AppendItem(a.buf, key)
	}
	a.end(']')
}

// batchGetItem lets the engine show the request in faults.
func batchGetItem(e *engine.Engine, ctx context.Context, in *engine.BatchGetItemInput) (*engine.BatchGetItemOutput, error) {
	in.Echo = echoTables
	return e.BatchGetItem(ctx, in)
}

// echoTables is a batch's tables and keys as faults show them.
func echoTables(tables []engine.BatchGetTable) string {
	var a answer
	a.begin('{')
	for i := range tables {
		a.key(tables[i].TableName)
		a.begin('{')
		a.keysOf(&tables[i])
		a.end('}')
	}
	a.end('}')
	return string(a.buf)
}

func (a *answer) batchWriteItem(out *engine.BatchWriteItemOutput) {
	a.object("UnprocessedItems")
	for _, t := range out.Unprocessed {
		a.key(t.TableName)
		a.begin('[')
		for _, w := range t.Writes {
			a.element()
			if w.Put {
				a.object("PutRequest")
				a.item("Item", w.Item)
			} else {
				a.object("DeleteRequest")
				a.item("Key", w.Key)
			}
			a.end('}')
			a.end('}')
		}
		a.end(']')
	}
	a.end('}')
	a.collections(out.ItemCollectionMetrics)
	a.consumedList(out.ConsumedCapacity)
}
