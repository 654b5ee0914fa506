package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/figure"
)

// describe finds out whether the table is there and can be used. It is the first request that is sent.
func (v *visit) describe(ctx context.Context) {
	limit, cancel := limited(ctx)
	defer cancel()
	out, err := v.client.DescribeTable(limit, &dynamodb.DescribeTableInput{TableName: &v.options.Table})
	if err == nil && out.Table == nil { // anything that answers every request with {}, or with nothing
		err = errors.New("its answer to DescribeTable describes no table")
	}
	if err == nil && !hasKeys(out.Table) {
		err = errors.New("its answer to DescribeTable has no keys that a table can have: one partition key, and one sort key or none")
	}
	f := v.answered(err)
	switch {
	case v.blocked != "" || v.denies("table", "DescribeTable", err):
	case f == missing:
		v.missing(ctx)
	case f == throttled:
		v.blocked = "the description of the table was throttled"
		v.result("table", Unknown, "try again", "table %s was not described: %s", v.options.Table, reason(err))
	case err != nil:
		v.result("table", Problem, "check the name of the table, and try again", "table %s cannot be described: %s", v.options.Table, reason(err))
	default:
		v.table = out.Table
		v.status()
	}
}

// hasKeys reports whether a table has a partition key, and at most one sort key.
func hasKeys(t *types.TableDescription) bool {
	hash, sort := namesOf(t.KeySchema)
	return hash != "" && (len(t.KeySchema) == 1 || len(t.KeySchema) == 2 && sort != "")
}

// missing says that the table is not there, and what is.
func (v *visit) missing(ctx context.Context) {
	names, more, err := v.list(ctx)
	found := fmt.Sprintf("there is no table %s in %s", v.options.Table, v.report.Region)
	remedy := "check the name, --region and --profile"
	switch {
	case err == nil && len(names) == 0:
		found += ", nor any other table"
	case err == nil:
		found += fmt.Sprintf("; %s has %s: %s", v.report.Region, count(len(names), more), listed(closest(names, v.options.Table), 10))
	}
	v.result("table", Problem, remedy, "%s", found)
}

// closest returns names with those first that contain the wanted one, or are contained in it, whatever their case.
func closest(names []string, wanted string) []string {
	near := func(name string) bool {
		a, b := strings.ToLower(name), strings.ToLower(wanted)
		return strings.Contains(a, b) || strings.Contains(b, a)
	}
	sorted := slices.Clone(names)
	slices.SortStableFunc(sorted, func(a, b string) int {
		switch {
		case near(a) && !near(b):
			return -1
		case near(b) && !near(a):
			return 1
		}
		return 0
	})
	return sorted
}

// status reports whether the table is ready for requests.
func (v *visit) status() {
	t := v.table
	wait := "wait until it is over: " + v.aws("wait table-exists")
	switch status := t.TableStatus; status {
	case types.TableStatusActive:
		v.result("table", OK, "", "table %s is active, with about %s of %s", v.options.Table, figure.Count(aws.ToInt64(t.ItemCount), "item"), figure.Bytes(aws.ToInt64(t.TableSizeBytes)))
	case types.TableStatusCreating:
		v.result("table", Problem, wait, "table %s is being created", v.options.Table)
	case types.TableStatusDeleting:
		v.result("table", Problem, "create it again when it is gone: "+v.aws("wait table-not-exists"), "table %s is being deleted", v.options.Table)
	case types.TableStatusUpdating:
		v.result("table", Warning, wait, "table %s is being changed: it can be used meanwhile, but not changed again", v.options.Table)
	case types.TableStatusInaccessibleEncryptionCredentials:
		v.result("table", Problem, "give DynamoDB access to the table's KMS key again: the table is archived after seven days", "table %s has a KMS key that DynamoDB cannot use", v.options.Table)
	default:
		v.result("table", Problem, "see "+v.aws("describe-table"), "table %s is %s", v.options.Table, strings.ToLower(string(status)))
	}
}

// keyNames returns the names of the table's keys. The sort key may be "".
func (v *visit) keyNames() (hash, sort string) { return namesOf(v.table.KeySchema) }

func namesOf(schema []types.KeySchemaElement) (hash, sort string) {
	for _, key := range schema {
		if key.KeyType == types.KeyTypeHash && hash == "" {
			hash = aws.ToString(key.AttributeName)
		} else if key.KeyType == types.KeyTypeRange && sort == "" {
			sort = aws.ToString(key.AttributeName)
		}
	}
	return hash, sort
}

// typeOf returns the type of a key attribute, "" if the table does not define it.
func (v *visit) typeOf(name string) types.ScalarAttributeType {
	for _, a := range v.table.AttributeDefinitions {
		if aws.ToString(a.AttributeName) == name {
			return a.AttributeType
		}
	}
	return ""
}

// probeKey returns a key of the table that no program has, nil if the types of its keys are not known.
func (v *visit) probeKey() map[string]types.AttributeValue {
	key := map[string]types.AttributeValue{}
	for _, k := range v.table.KeySchema {
		name := aws.ToString(k.AttributeName)
		switch v.typeOf(name) {
		case types.ScalarAttributeTypeS:
			key[name] = &types.AttributeValueMemberS{Value: probeText}
		case types.ScalarAttributeTypeN:
			key[name] = &types.AttributeValueMemberN{Value: "0"}
		case types.ScalarAttributeTypeB:
			key[name] = &types.AttributeValueMemberB{Value: []byte(probeText)}
		default:
			return nil
		}
	}
	return key
}

// indexKeys returns the names of the keys of a global index, "" if there is no such index.
func (v *visit) indexKeys(name string) (hash, sort string) {
	for _, index := range v.table.GlobalSecondaryIndexes {
		if aws.ToString(index.IndexName) == name {
			return namesOf(index.KeySchema)
		}
	}
	return "", ""
}
