package compose

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/expr/outline"
	"github.com/heatsink-go/heatsink/internal/expr/token"
)

// Set adds attributes to the SET clause of an update expression, which may lack the clause or be nil. It leaves the
// caller's names and values as they are, and puts copies in their place.
func Set(attributes Item, expression **string, names *map[string]string, values *Item) error {
	ns, err := Names(*names)
	if err != nil {
		return err
	}
	vs, err := Values(*values)
	if err != nil {
		return err
	}
	var sets []string
	for i, name := range slices.Sorted(maps.Keys(attributes)) {
		n, v := fmt.Sprintf("#%s%d", Placeholder, i), fmt.Sprintf(":%s%d", Placeholder, i)
		ns[n], vs[v] = name, attributes[name]
		sets = append(sets, n+" = "+v)
	}
	merged := outline.AddToSet(aws.ToString(*expression), strings.Join(sets, ", "))
	*expression, *names, *values = &merged, ns, vs
	return nil
}

// SetIfAbsent makes an update set an attribute where the item has none. It adds to the names and values that the request
// has, so these must be copies as Set makes them.
func SetIfAbsent(name string, value types.AttributeValue, in *dynamodb.UpdateItemInput) {
	const n, v = "#" + Placeholder + "sk", ":" + Placeholder + "sk"
	in.ExpressionAttributeNames[n], in.ExpressionAttributeValues[v] = name, value
	in.UpdateExpression = aws.String(outline.AddToSet(aws.ToString(in.UpdateExpression), n+" = if_not_exists("+n+", "+v+")"))
}

// Idempotent reports whether an update that is applied twice has the same effect as one that is applied once.
//
// An update is idempotent if it sets attributes to values of the request, removes attributes, or removes elements from
// sets. if_not_exists of the attribute that is set is harmless. An update is not if new values depend on old ones: ADD, a
// sum, list_append, a copy of another attribute. Nor is it if it names elements of lists, which move up when one is removed.
func Idempotent(expression string) bool {
	if strings.Contains(expression, "[") {
		return false // lists grow and shrink
	}
	u := outline.ReadUpdate(expression)
	for a, ok := u.Next(); ok; a, ok = u.Next() {
		switch a.Clause {
		case token.Add:
			return false
		case token.Set:
			if a.Value == "" || a.Unless.Text != "" && !a.Unless.Same(a.Path) {
				return false
			}
		}
	}
	return !u.Broken()
}
