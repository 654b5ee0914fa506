package local

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// CreateTable creates an on-demand table that has only a key, for tests and examples. keys are the names of the
// partition key and, optionally, the sort key. Key attributes are strings; the suffix :N makes one a number, and :B
// makes it binary.
//
//	err := db.CreateTable(ctx, "orders", "customer", "number:N")
//
// For other tables, use the CreateTable of Client.
func (db *DB) CreateTable(ctx context.Context, name string, keys ...string) error {
	if len(keys) < 1 || len(keys) > 2 {
		return fmt.Errorf("create table %q: want the partition key and at most a sort key, got %d names", name, len(keys))
	}
	for _, key := range keys {
		if attribute, kind, typed := strings.Cut(key, ":"); attribute == "" || typed && kind != "S" && kind != "N" && kind != "B" {
			return fmt.Errorf("create table %q: key %q: want a name, with :N for a number, :B for binary or :S for a string", name, key)
		}
	}
	in := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest}
	for i, key := range keys {
		attribute, kind, typed := strings.Cut(key, ":")
		if !typed {
			kind = string(types.ScalarAttributeTypeS)
		}
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{
			AttributeName: aws.String(attribute), AttributeType: types.ScalarAttributeType(kind),
		})
		in.KeySchema = append(in.KeySchema, types.KeySchemaElement{
			AttributeName: aws.String(attribute), KeyType: []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i],
		})
	}
	_, err := db.Client().CreateTable(ctx, in)
	return err
}
