package wire

import (
	"errors"
	"strings"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attr/attrjson"
	"github.com/heatsink-go/heatsink/internal/engine"
	"github.com/heatsink-go/heatsink/internal/jsonpull"
)

const namespace = "com.amazonaws.dynamodb.v20120810."

// The types of what requests hold. Those that only one kind of request has are
// beside its decoder.
var (
	requestType = jsonpull.Type{Shape: jsonpull.Struct, Class: namespace + "Request"}
	listType    = jsonpull.Type{Shape: jsonpull.List}
	namesType   = jsonpull.Type{Shape: jsonpull.Map, Class: "java.lang.String"}
)

// member is the type of a structure that is a member of another, and element
// that of one in a list or map.
func member(name string) jsonpull.Type {
	return jsonpull.Type{Shape: jsonpull.Struct, Class: namespace + name}
}

func element(name string) jsonpull.Type {
	return jsonpull.Type{Shape: jsonpull.Element, Class: namespace + name}
}

// request is a request's body while it is read. Each operation has a method
// that reads its parameters.
type request struct {
	attrjson.Decoder
	body        string
	badValue    error    // the first fault among expression attribute names and values
	unsupported string   // the first parameter that we do not implement
	spare       []string // for optString
	link        *link    // the connection it came on; nil: none of a Server
}

func (r *request) reset(body string) {
	r.Decoder.Reset(body)
	r.body, r.badValue, r.unsupported, r.spare, r.link = body, nil, "", nil, nil
}

// common fills in what all requests have in common, once all else was read.
func (r *request) common(in *engine.Request) {
	in.Unsupported = r.unsupported
	if in.BadValue = r.Fault; in.BadValue == nil {
		in.BadValue = r.badValue
	}
}

// part reads a request within a request: one action of a transaction. Its
// faults are its own, and its request's if that has none before.
func (r *request) part(read func() *engine.Request) {
	fault, badValue := r.Fault, r.badValue
	r.Forget()
	r.badValue = nil
	r.common(read())
	if fault != nil || badValue != nil {
		r.Fault, r.badValue = fault, badValue
	}
}

// longestNull is how long a body may be that is looked at for being null, which
// reads as a request without parameters but is none.
const longestNull = 64

// end returns the error that the body is to be answered with, if it cannot be
// understood. AWS reads all of a body before it looks at what is in it.
func (r *request) end() error {
	err := r.End()
	if err == nil && (len(r.body) > longestNull || strings.TrimSpace(r.body) != "null") {
		return nil
	}
	answer := &engine.Error{Type: engine.TypeSerialization}
	if err != nil && !jsonpull.IsSyntax(err) && jsonpull.Valid(r.body) {
		answer.Message = serializationMessage(err)
	}
	return answer
}

// serializationMessage says what is wrong with a value, in AWS's words.
func serializationMessage(err error) string {
	var wrong *jsonpull.TypeError
	if !errors.As(err, &wrong) {
		return err.Error()
	}
	const (
		unexpectedObject = "Start of structure or map found where not expected"
		collection       = "Unrecognized collection type "
		cast             = "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class " +
			"(sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base of loader 'bootstrap')"
	)
	found, class := wrong.Found, wrong.Wanted.Class
	switch shape := wrong.Wanted.Shape; {
	case found == jsonpull.Object:
		return unexpectedObject
	case found == jsonpull.Array && (shape == jsonpull.Map || shape == jsonpull.ElementMap):
		return collection + "java.util.Map<java.lang.String, " + class + ">"
	case found == jsonpull.Array && shape == jsonpull.Scalar:
		return collection + "class java.lang." + class
	case found == jsonpull.Array:
		return collection + "class " + class
	case shape == jsonpull.Blob:
		return "only base-64-encoded strings are convertible to bytes"
	case shape == jsonpull.Scalar && found == jsonpull.String && class == "Boolean":
		return "Unexpected token received from parser"
	case shape == jsonpull.Scalar:
		return tokens[found] + " cannot be converted to " + class
	case shape == jsonpull.Element:
		return "Unexpected value type in payload"
	case shape == jsonpull.ElementList || shape == jsonpull.ElementMap:
		return cast
	default:
		return "Unexpected field type"
	}
}

// tokens are AWS's names for values of the kinds a scalar can have.
var tokens = map[jsonpull.Kind]string{
	jsonpull.False:   "FALSE_VALUE",
	jsonpull.True:    "TRUE_VALUE",
	jsonpull.Integer: "NUMBER_VALUE",
	jsonpull.Decimal: "DECIMAL_VALUE",
	jsonpull.String:  "STRING_VALUE",
}

// optString reads a string that is told apart from none.
func (r *request) optString() *string {
	if len(r.spare) == 0 {
		r.spare = make([]string, 4) // most requests have a few: one allocation for them
	}
	s := &r.spare[0]
	r.spare = r.spare[1:]
	*s = r.Text()
	return s
}

func (r *request) optBool() *bool     { return new(r.Bool()) }
func (r *request) optInteger() *int64 { return new(r.Integer()) }
func (r *request) optLong() *int64    { return new(r.Long()) }

func (r *request) stringList() (list []string) {
	for range r.Elements(&listType) {
		list = keep(list, r.Text())
	}
	return list
}

// mostElements is more than any list of structures in a request may have.
const mostElements = 1000

// keep appends to a list, unless there are too many already. A request is too
// short to hold many items, but not to hold millions of empty structures.
func keep[E any](list []E, e E) []E {
	if len(list) > mostElements {
		return list
	}
	return append(list, e)
}

// refuse skips a parameter that we know of but do not implement.
func (r *request) refuse(name string) {
	if r.unsupported == "" {
		r.unsupported = name
	}
	r.Skip()
}

// refuseElements is refuse for a list that may be there if it is empty.
func (r *request) refuseElements(name string) {
	for range r.Elements(&listType) {
		r.refuse(name)
	}
}

// maxNames is how many bytes expression attribute names may have together.
const maxNames = 2 << 20

const errNames = attr.Fault("ExpressionAttributeNames exceeds max size")

// expressionNames reads the names expressions refer to.
func (r *request) expressionNames(x *engine.Expressions) {
	x.HasNames, x.Names = true, make(map[string]string)
	size := 0
	for key := range r.Members(&namesType) {
		name := r.Text()
		if size += len(key) + len(name); size <= maxNames {
			x.Names[key] = name
		}
	}
	if size > maxNames && r.badValue == nil {
		r.badValue = errNames
	}
}

// expressionValues reads the values expressions refer to. Most faults in them
// are told with the value's name, but those of numbers not in the newer words.
func (r *request) expressionValues(x *engine.Expressions) {
	fault := r.Fault
	r.Forget()
	x.HasValues, x.Values = true, r.Values(&attrjson.ItemType)
	found := r.Fault
	r.Fault = fault
	switch {
	case found == nil, found == attrjson.ErrTooManyLevels, found == attrjson.ErrValuesSize:
	case r.NewWords && attrjson.IsNumeric(found):
	default:
		found = attr.Fault("ExpressionAttributeValues contains invalid value: " + found.Error() + " for key " + r.FaultName)
		for i := range x.Values { // a wrong name comes before a wrong value
			if name := x.Values[i].Name; len(name) < 2 || name[0] != ':' {
				found = attr.Fault("ExpressionAttributeValues contains invalid key: Syntax error; key: \"" + name + "\"")
				break
			}
		}
	}
	if r.badValue == nil {
		r.badValue = found
	}
}

// knows reports whether the operation that is read has a parameter. An action of a
// transaction has none of those that expressions replaced, and AWS ignores them there.
func (r *request) knows(name string) bool {
	switch name {
	case "Expected", "ConditionalOperator", "AttributeUpdates", "AttributesToGet":
		return !r.InAction
	}
	return true
}

// write reads a parameter that all writes of an item have, and reports whether
// it is one.
func (r *request) write(name string, x *engine.Expressions, to *engine.Returns) bool {
	if !r.knows(name) {
		return false
	}
	switch name {
	case "ConditionExpression":
		x.Condition = r.optString()
	case "ExpressionAttributeNames":
		r.expressionNames(x)
	case "ExpressionAttributeValues":
		r.expressionValues(x)
	case "Expected":
		legacy(x).Expected = r.conditions(&expectedType, &expectationType)
	case "ConditionalOperator":
		legacy(x).ConditionalOperator = r.optString()
	case "ReturnValues":
		to.ReturnValues = r.Text()
	case "ReturnValuesOnConditionCheckFailure":
		to.OnConditionFailure = r.Text()
	default:
		return r.returns(name, to)
	}
	return true
}

// returns reads a parameter that asks for more than what was done, and reports
// whether it is one.
func (r *request) returns(name string, to *engine.Returns) bool {
	switch name {
	case "ReturnConsumedCapacity":
		to.ConsumedCapacity = r.Text()
	case "ReturnItemCollectionMetrics":
		to.ItemCollectionMetrics = r.Text()
	default:
		return false
	}
	return true
}
