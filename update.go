package heatsink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// update changes an item where it is.
//
// If that may be in several shards it is looked for first, and changed in the first that has it. In between it may be
// deleted, or put in a shard that counts before: the update then changes the copy it found, or, of a random layout, is
// ErrNotFound. It never creates an item there, as nobody could tell which shard a second update should look in.
//
// A repetition is a problem in three cases, and the outcome of a lost answer unknown: the expression is not idempotent;
// the old values are asked for, which only the first attempt can see; or the condition fails the second time, maybe
// because of the first.
func (c *core) update(ctx context.Context, like Item, edits []func(*dynamodb.UpdateItemInput)) (w Written[Item], err error) {
	var cost Cost
	meters := metersOf(ctx)
	defer func() { meters.add(cost) }()

	at, err := c.locate(ctx, &cost, like)
	if err != nil {
		return w, err
	}
	in := &dynamodb.UpdateItemInput{TableName: &c.options.Table, Key: maps.Clone(at.key)}
	for _, edit := range edits {
		edit(in)
	}
	in.TableName, in.Key = &c.options.Table, at.key
	meters.ask(&in.ReturnConsumedCapacity)
	repeatable := idempotent(in) && !wantsOld(in.ReturnValues)
	if c.options.Index != "" && c.listed(like) {
		t, listing, err := c.listing(ctx, like)
		if err == nil {
			err = setListing(in, listing)
		}
		if err != nil {
			return w, err
		}
		at.target = t
	}
	wanted := in.ReturnValuesOnConditionCheckFailure
	if at.found {
		if err := c.onlyIfThere(in); err != nil {
			return w, err
		}
	}

	r := &request{operation: "UpdateItem", target: at.target}
	var out *dynamodb.UpdateItemOutput
	err = c.write(ctx, &cost, r, repeatable, func(ctx context.Context, _ int) (err error) {
		out, err = c.client.UpdateItem(ctx, in, once)
		return err
	})
	if err != nil {
		failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
		if ok && at.found && failed.Item == nil && !r.lost {
			return w, ErrNotFound
		}
		c.failedCondition(err, wanted, like)
		return w, err
	}
	cost.WriteUnits += units(out.ConsumedCapacity)
	c.restoreLike(out.Attributes, like)
	return Written[Item]{ShardKey: at.shardKey, Shard: at.shard, Attributes: out.Attributes}, nil
}

// location is where an item is, or would be.
type location struct {
	target
	key   Item // of the table
	found bool // it was looked for, as it could have been in any shard
}

// locate finds the item that is like another, with strongly consistent reads if there are several shards to look in.
// Of a random layout it is ErrNotFound if none has it. A calculated one says where it would be.
func (c *core) locate(ctx context.Context, cost *Cost, like Item) (*location, error) {
	key, err := c.keyOf(like)
	if err != nil {
		return nil, err
	}
	if c.options.Index != "" {
		return &location{target: c.tableTarget(key), key: key}, nil
	}
	homes, err := c.homes(ctx, like, false)
	if err != nil {
		return nil, err
	}
	at := &location{target: homes[0]}
	if len(homes) > 1 {
		items, err := c.find(ctx, cost, key, homes, &dynamodb.GetItemInput{
			ConsistentRead:           aws.Bool(true),
			ReturnConsumedCapacity:   metersOf(ctx).wanted(),
			ProjectionExpression:     aws.String("#hs_pk"),
			ExpressionAttributeNames: map[string]string{"#hs_pk": c.options.PartitionKey},
		})
		if err != nil {
			return nil, err
		}
		random := c.options.Layout.Strategy == Random
		switch i := slices.IndexFunc(items, func(item Item) bool { return item != nil }); {
		case i >= 0:
			at.target, at.found = homes[i], random
		case random:
			return nil, ErrNotFound
		}
	}
	at.key = c.in(key, at.target)
	return at, nil
}

// listing returns where an index lists an item from now on, and the attributes that make it so.
func (c *core) listing(ctx context.Context, like Item) (target, Item, error) {
	p, err := c.place(ctx, like)
	if err != nil {
		return target{}, nil, err
	}
	listing := make(Item, 2)
	c.list(p, listing)
	return p.target, listing, nil
}

// setListing makes an update put the item where it belongs in the index.
func setListing(in *dynamodb.UpdateItemInput, listing Item) error {
	if in.UpdateExpression == nil && len(in.AttributeUpdates) > 0 {
		in.AttributeUpdates = maps.Clone(in.AttributeUpdates)
		for name, v := range listing {
			in.AttributeUpdates[name] = types.AttributeValueUpdate{Action: types.AttributeActionPut, Value: v}
		}
		return nil
	}
	return setAttributes(listing, &in.UpdateExpression, &in.ExpressionAttributeNames, &in.ExpressionAttributeValues)
}

// onlyIfThere makes an update fail if the item is no longer there, and say so in the error by returning no item.
func (c *core) onlyIfThere(in *dynamodb.UpdateItemInput) error {
	if len(in.Expected) > 0 || len(in.AttributeUpdates) > 0 {
		return errors.New("update: with a random layout, Expected and AttributeUpdates cannot be used; use expressions")
	}
	names, err := ownNames(in.ExpressionAttributeNames)
	if err != nil {
		return err
	}
	names["#hs_pk"] = c.options.PartitionKey
	condition := "attribute_exists(#hs_pk)"
	if in.ConditionExpression != nil {
		condition = "(" + *in.ConditionExpression + ") AND " + condition
	}
	in.ConditionExpression, in.ExpressionAttributeNames = &condition, names
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	return nil
}

// setAttributes adds attributes to the SET clause of an update expression, which may lack the clause or be nil.
func setAttributes(attributes Item, expression **string, names *map[string]string, values *Item) error {
	ns, err := ownNames(*names)
	if err != nil {
		return err
	}
	vs := maps.Clone(*values)
	if vs == nil {
		vs = Item{}
	}
	for name := range vs {
		if strings.HasPrefix(name, ":"+placeholder) {
			return fmt.Errorf("the value %s begins with :%s, which is heatsink's own", name, placeholder)
		}
	}
	var sets []string
	for i, name := range slices.Sorted(maps.Keys(attributes)) {
		n, v := fmt.Sprintf("#%s%d", placeholder, i), fmt.Sprintf(":%s%d", placeholder, i)
		ns[n], vs[v] = name, attributes[name]
		sets = append(sets, n+" = "+v)
	}
	merged := mergeSet(aws.ToString(*expression), strings.Join(sets, ", "))
	*expression, *names, *values = &merged, ns, vs
	return nil
}

// ownNames returns a copy of a request's names that heatsink's own can be added to.
func ownNames(names map[string]string) (map[string]string, error) {
	for name := range names {
		if strings.HasPrefix(name, "#"+placeholder) {
			return nil, fmt.Errorf("the name %s begins with #%s, which is heatsink's own", name, placeholder)
		}
	}
	own := maps.Clone(names)
	if own == nil {
		own = map[string]string{}
	}
	return own, nil
}

// mergeSet adds assignments to the SET clause of an update expression, or such a clause.
func mergeSet(expression, assignments string) string {
	for _, t := range tokens(expression) {
		if t.clause == "SET" {
			end := t.at + len("SET")
			return expression[:end] + " " + assignments + "," + expression[end:]
		}
	}
	if strings.TrimSpace(expression) == "" {
		return "SET " + assignments
	}
	return expression + " SET " + assignments
}

// idempotent reports whether doing an update twice is surely the same as doing it once. It is if all it does is to give
// attributes values that come with the request, to remove attributes, and to take elements out of sets. It is not, or may
// not be, if the new values depend on old ones (ADD, a sum, list_append, a copy of another attribute), or if it names
// elements of lists, which move up when one is removed. if_not_exists of the attribute that is set is harmless.
func idempotent(in *dynamodb.UpdateItemInput) bool {
	for _, u := range in.AttributeUpdates {
		if u.Action == types.AttributeActionAdd {
			return false
		}
	}
	return in.UpdateExpression == nil || idempotentExpression(*in.UpdateExpression)
}

func idempotentExpression(expression string) bool {
	clause := ""
	var path string   // what is being set
	var right []token // what it is set to
	harmless := func() bool {
		if clause != "SET" {
			return true
		}
		ok := plain(path, right)
		path, right = "", nil
		return ok
	}
	depth, assigned := 0, false
	for _, t := range tokens(expression) {
		switch {
		case t.clause != "":
			if !harmless() || t.clause == "ADD" {
				return false
			}
			clause, assigned = t.clause, false
		case t.text == "[":
			return false
		case clause != "SET":
		case t.text == "," && depth == 0:
			if !harmless() {
				return false
			}
			assigned = false
		case !assigned && t.text == "=":
			assigned = true
		case !assigned:
			path += t.text
		default:
			switch t.text {
			case "(":
				depth++
			case ")":
				depth--
			}
			right = append(right, t)
		}
	}
	return harmless()
}

// plain reports whether what an attribute is set to does not depend on the item: it is a placeholder of a value, or
// if_not_exists(path, placeholder) of the path that is set.
func plain(path string, right []token) bool {
	for len(right) > 2 && right[0].text == "(" && right[len(right)-1].text == ")" {
		right = right[1 : len(right)-1]
	}
	if len(right) == 1 {
		return strings.HasPrefix(right[0].text, ":")
	}
	var text strings.Builder
	for _, t := range right {
		text.WriteString(t.text)
	}
	value, ok := strings.CutPrefix(text.String(), "if_not_exists("+path+",")
	return ok && strings.HasPrefix(value, ":") && !strings.ContainsAny(value, "+-(,")
}

// token is a word or a sign of an update expression.
type token struct {
	text   string
	at     int
	clause string // SET, ADD, REMOVE or DELETE where the word begins a clause
}

// tokens splits an update expression into words (names, placeholders, keywords) and signs. It takes anything: what is
// wrong is for DynamoDB to find.
func tokens(expression string) []token {
	var all []token
	for i := 0; i < len(expression); {
		start := i
		for i < len(expression) && isWord(expression[i]) {
			i++
		}
		switch {
		case i > start:
			t := token{text: expression[start:i], at: start}
			if len(all) == 0 || !strings.Contains(".,=+-([", all[len(all)-1].text) && all[len(all)-1].clause == "" {
				switch upper := strings.ToUpper(t.text); upper {
				case "SET", "ADD", "REMOVE", "DELETE":
					t.clause = upper
				}
			}
			all = append(all, t)
		case strings.IndexByte(" \t\r\n\f", expression[i]) >= 0:
			i++
		default:
			i++
			all = append(all, token{text: expression[start:i], at: start})
		}
	}
	return all
}

func isWord(b byte) bool {
	return b == '#' || b == ':' || b == '_' || b >= 0x80 || isDigit(b) || 'a' <= b|0x20 && b|0x20 <= 'z'
}
