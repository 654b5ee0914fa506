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

// Idempotent reports whether doing an update twice is surely the same as doing it once. It is if all it does is to give
// attributes values that come with the request, to remove attributes, and to take elements out of sets. It is not, or may
// not be, if the new values depend on old ones (ADD, a sum, list_append, a copy of another attribute), or if it names
// elements of lists, which move up when one is removed. if_not_exists of the attribute that is set is harmless.
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
