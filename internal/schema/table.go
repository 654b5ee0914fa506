// Package schema describes the tables that the recipes keep their items in: it creates them, checks those that exist
// already, and writes them down for the tools that teams create tables with.
package schema

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Table is what a recipe needs of a table. The table may have more: other indexes, a stream, any billing mode.
type Table struct {
	Name    string
	Key     Key
	Indexes []Index
	TTL     string // the attribute that DynamoDB takes the time of expiry from; "" if items do not expire
}

// Index is a global secondary index that has all attributes of the table's items.
type Index struct {
	Name string
	Key  Key
}

// Key is a primary key: the partition key and, unless its name is empty, the sort key.
type Key struct {
	Partition Attribute
	Sort      Attribute
}

// Attribute is an attribute of a key.
type Attribute struct {
	Name string
	Type types.ScalarAttributeType
}

// String, Number and Binary name attributes of a key.
func String(name string) Attribute { return Attribute{name, types.ScalarAttributeTypeS} }

// Number is String for a number.
func Number(name string) Attribute { return Attribute{name, types.ScalarAttributeTypeN} }

// Binary is String for bytes.
func Binary(name string) Attribute { return Attribute{name, types.ScalarAttributeTypeB} }

// attributes returns the key's attributes: one or two.
func (k Key) attributes() []Attribute {
	if k.Sort.Name == "" {
		return []Attribute{k.Partition}
	}
	return []Attribute{k.Partition, k.Sort}
}

// attributes returns every attribute that is part of a key, once, in the order of the keys.
func (t Table) attributes() []Attribute {
	all := t.Key.attributes()
	for _, index := range t.Indexes {
		for _, attribute := range index.Key.attributes() {
			if !slices.Contains(all, attribute) {
				all = append(all, attribute)
			}
		}
	}
	return all
}

// Input returns the request that creates the table, on demand. TimeToLive is a second request, which Ensure makes.
func (t Table) Input() *dynamodb.CreateTableInput {
	input := &dynamodb.CreateTableInput{
		TableName:   aws.String(t.Name),
		BillingMode: types.BillingModePayPerRequest,
		KeySchema:   t.Key.elements(),
	}
	for _, attribute := range t.attributes() {
		input.AttributeDefinitions = append(input.AttributeDefinitions, types.AttributeDefinition{
			AttributeName: aws.String(attribute.Name), AttributeType: attribute.Type,
		})
	}
	for _, index := range t.Indexes {
		input.GlobalSecondaryIndexes = append(input.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName:  aws.String(index.Name),
			KeySchema:  index.Key.elements(),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		})
	}
	return input
}

func (k Key) elements() []types.KeySchemaElement {
	kinds := [...]types.KeyType{types.KeyTypeHash, types.KeyTypeRange}
	var elements []types.KeySchemaElement
	for i, attribute := range k.attributes() {
		elements = append(elements, types.KeySchemaElement{AttributeName: aws.String(attribute.Name), KeyType: kinds[i]})
	}
	return elements
}
