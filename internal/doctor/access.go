package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/layout"
)

// access is what requests have shown about permissions.
type access struct {
	allowed []string
	denied  []refusal
	unclear []string // actions whose requests failed before the server said whether they are permitted
	why     error    // of the last of them
}

// refusal is an action that is not permitted.
type refusal struct{ action, resource string }

// needed are the actions without which programs cannot work. Others are of commands alone, or are done without.
var needed = []string{"BatchGetItem", "DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem"}

// anything is the resource of actions that are of the account, such as ListTables. A policy must not name a table for them.
const anything = "*"

// note takes the outcome of a request.
func (a *access) note(action, resource string, err error) {
	switch f := faultOf(err); {
	case f == denied:
		if named := resourceIn(err); named != "" && resource != anything {
			resource = named
		}
		if r := (refusal{action, resource}); !slices.Contains(a.denied, r) {
			a.denied = append(a.denied, r)
		}
	case f == none || f == throttled || f == missing || f == invalid:
		if !slices.Contains(a.allowed, action) {
			a.allowed = append(a.allowed, action)
		}
	case f != unsupported && f != interrupted:
		a.unclear, a.why = append(a.unclear, action), err
	}
}

// unknown returns the actions that no request has shown anything about.
func (a *access) unknown() (actions []string) {
	for _, action := range a.unclear {
		judged := slices.Contains(a.allowed, action) || slices.ContainsFunc(a.denied, func(r refusal) bool { return r.action == action })
		if !judged && !slices.Contains(actions, action) {
			actions = append(actions, action)
		}
	}
	return actions
}

// What a check says that a missing permission keeps from being made. The permissions have the remedy.
const (
	seePermissions = "see permissions"
	needsDescribe  = "not checked: this needs dynamodb:DescribeTable"
)

// statement returns a statement of an IAM policy in a line.
func statement(actions []string, resource string) string {
	text, err := json.Marshal(struct {
		Effect   string
		Action   []string
		Resource string
	}{"Allow", actions, resource})
	if err != nil {
		return err.Error() // strings always have a JSON form
	}
	return string(text)
}

// permissions reports what is permitted and what is not, one result for each resource.
func (v *visit) permissions() {
	byResource := map[string][]string{}
	var resources []string
	for _, r := range v.access.denied {
		if byResource[r.resource] == nil {
			resources = append(resources, r.resource)
		}
		byResource[r.resource] = append(byResource[r.resource], r.action)
	}
	for _, resource := range resources {
		actions := byResource[resource]
		outcome, effect := Warning, "checks and commands that need this are left out"
		if slices.ContainsFunc(actions, func(a string) bool { return slices.Contains(needed, a) }) {
			outcome, effect = Problem, "programs with these credentials fail"
		}
		var names []string
		for _, a := range actions {
			names = append(names, "dynamodb:"+a)
		}
		v.result("permissions", outcome, "allow it: "+statement(names, resource), "not allowed: %s; %s", strings.Join(names, ", "), effect)
	}
	if actions := v.access.unknown(); actions != nil && v.blocked == "" {
		v.result("permissions", Unknown, "try again", "not known whether these are allowed: %s; the last request ended with: %s", strings.Join(actions, ", "), reason(v.access.why))
	}
	if len(v.access.allowed) == 0 || len(resources) > 0 && v.options.Table == "" {
		return
	}
	slices.Sort(v.access.allowed)
	text := "allowed: " + strings.Join(v.access.allowed, ", ")
	if v.options.Table != "" && !v.options.TryWrites && v.table != nil {
		text += "; writes were not tried, see --try-writes"
	}
	v.result("permissions", OK, "", "%s", text)
}

// resource returns the ARN of the table, as far as it is known.
func (v *visit) resource() string {
	if v.table != nil && aws.ToString(v.table.TableArn) != "" {
		return *v.table.TableArn
	}
	if strings.HasPrefix(v.options.Table, "arn:") {
		return v.options.Table
	}
	return fmt.Sprintf("arn:aws:dynamodb:%s:*:table/%s", v.report.Region, v.options.Table)
}

// denies reports whether an error is a refusal, and adds the result of the check that needs the request.
func (v *visit) denies(check, action string, err error) bool {
	v.access.note(action, v.resource(), err)
	if faultOf(err) != denied {
		return false
	}
	v.result(check, Unknown, seePermissions, "not checked: this needs dynamodb:%s", action)
	return true
}

// tryAccess sends what programs send, where nothing else has tried it yet. Reads are of one item that need not be there.
func (v *visit) tryAccess(ctx context.Context) {
	if v.table == nil {
		return
	}
	key := v.probeKey()
	if key == nil {
		return // the types of its keys are unknown
	}
	for _, try := range v.tries(key) {
		limit, cancel := limited(ctx)
		err := try.send(limit)
		cancel()
		if refused := (*types.ConditionalCheckFailedException)(nil); errors.As(err, &refused) {
			err = nil // allowed, and never true
		}
		if faultOf(err) == throttled {
			v.throttled = err
		}
		v.access.note(try.action, try.resource, err)
	}
}

// try is a request that shows whether an action is allowed.
type try struct {
	action, resource string
	send             func(context.Context) error
}

func (v *visit) tries(key map[string]types.AttributeValue) []try {
	name, arn := aws.String(v.options.Table), v.resource()
	hash, _ := v.keyNames()
	all := []try{
		{"GetItem", arn, func(ctx context.Context) error {
			_, err := v.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: name, Key: key})
			return err
		}},
		{"BatchGetItem", arn, func(ctx context.Context) error {
			_, err := v.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{*name: {Keys: []map[string]types.AttributeValue{key}}}})
			return err
		}},
		{"Query", arn, func(ctx context.Context) error { return v.query(ctx, nil, hash, key[hash]) }},
	}
	for _, c := range v.collections {
		if c.charter.Index.Name != "" && c.charter.Index.ShardAttribute == "" {
			all = append(all, try{"Query", arn + "/index/" + c.charter.Index.Name, func(ctx context.Context) error {
				return v.query(ctx, &c.charter.Index.Name, c.charter.Index.PartitionKey, &types.AttributeValueMemberS{Value: probeText})
			}})
		}
	}
	if !v.options.TryWrites {
		return all
	}
	never := aws.String("attribute_exists(#k) AND attribute_not_exists(#k)")
	names := map[string]string{"#k": hash}
	return append(
		all,
		try{"PutItem", arn, func(ctx context.Context) error {
			_, err := v.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: name, Item: key, ConditionExpression: never, ExpressionAttributeNames: names})
			return err
		}},
		try{"UpdateItem", arn, func(ctx context.Context) error {
			_, err := v.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: name, Key: key, ConditionExpression: never, ExpressionAttributeNames: names})
			return err
		}},
		try{"DeleteItem", arn, func(ctx context.Context) error {
			_, err := v.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: name, Key: key, ConditionExpression: never, ExpressionAttributeNames: names})
			return err
		}},
	)
}

// probeText is a key that no program has: heatsink refuses it, because control items begin like this.
const probeText = layout.ControlPrefix + "doctor"

func (v *visit) query(ctx context.Context, index *string, attribute string, value types.AttributeValue) error {
	_, err := v.client.Query(ctx, &dynamodb.QueryInput{
		TableName: &v.options.Table, IndexName: index, Limit: aws.Int32(1), KeyConditionExpression: aws.String("#k = :k"),
		ExpressionAttributeNames: map[string]string{"#k": attribute}, ExpressionAttributeValues: map[string]types.AttributeValue{":k": value},
	})
	return err
}
