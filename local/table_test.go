package local_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/local"
)

func TestCreateTable(t *testing.T) {
	db := local.Start(t)
	if err := db.CreateTable(t.Context(), "orders", "customer", "number:N"); err != nil {
		t.Fatal(err)
	}
	out, err := db.Client().DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("orders")})
	if err != nil {
		t.Fatal(err)
	}
	kinds := make(map[string]types.ScalarAttributeType)
	for _, a := range out.Table.AttributeDefinitions {
		kinds[*a.AttributeName] = a.AttributeType
	}
	keys := out.Table.KeySchema
	if len(keys) != 2 || *keys[0].AttributeName != "customer" || *keys[1].AttributeName != "number" ||
		kinds["customer"] != types.ScalarAttributeTypeS || kinds["number"] != types.ScalarAttributeTypeN {
		t.Errorf("got %v with %v", keys, kinds)
	}
	for _, keys := range [][]string{nil, {"a", "b", "c"}, {"a:X"}, {""}} {
		if err := db.CreateTable(t.Context(), "bad", keys...); err == nil {
			t.Errorf("a table with keys %q was created", keys)
		}
	}
	err = db.CreateTable(t.Context(), "bad", "a:")
	if want := `create table "bad": key "a:": want a name, with :N for a number, :B for binary or :S for a string`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
