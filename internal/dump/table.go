package dump

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Client is what exports and imports need of a *dynamodb.Client.
type Client interface {
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
	BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
}

// schema is what is needed to create a table like another one: table.json.
type schema struct {
	AttributeDefinitions []types.AttributeDefinition
	KeySchema            []types.KeySchemaElement
	Local, Global        []index `json:",omitempty"`
}

// index is an index of either kind. Throughput is not kept: who imports has another load.
type index struct {
	IndexName  string
	KeySchema  []types.KeySchemaElement
	Projection types.Projection
}

func schemaOf(d *types.TableDescription) *schema {
	s := &schema{AttributeDefinitions: d.AttributeDefinitions, KeySchema: d.KeySchema}
	for _, x := range d.LocalSecondaryIndexes {
		s.Local = append(s.Local, index{aws.ToString(x.IndexName), x.KeySchema, *x.Projection})
	}
	for _, x := range d.GlobalSecondaryIndexes {
		if x.Backfilling == nil && x.IndexStatus != types.IndexStatusDeleting { // neither on its way in nor out
			s.Global = append(s.Global, index{aws.ToString(x.IndexName), x.KeySchema, *x.Projection})
		}
	}
	s.prune()
	return s
}

// prune removes the definitions that no key has.
func (s *schema) prune() {
	used := map[string]bool{}
	note := func(keys []types.KeySchemaElement) {
		for _, k := range keys {
			used[aws.ToString(k.AttributeName)] = true
		}
	}
	note(s.KeySchema)
	for _, list := range [][]index{s.Local, s.Global} {
		for _, x := range list {
			note(x.KeySchema)
		}
	}
	var kept []types.AttributeDefinition
	for _, d := range s.AttributeDefinitions {
		if used[aws.ToString(d.AttributeName)] {
			kept = append(kept, d)
		}
	}
	s.AttributeDefinitions = kept
}

// input is the request that creates the table, on demand.
func (s *schema) input(table string) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest,
		KeySchema: s.KeySchema, AttributeDefinitions: s.AttributeDefinitions,
	}
	for _, x := range s.Local {
		in.LocalSecondaryIndexes = append(in.LocalSecondaryIndexes, types.LocalSecondaryIndex{IndexName: &x.IndexName, KeySchema: x.KeySchema, Projection: &x.Projection})
	}
	for _, x := range s.Global {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{IndexName: &x.IndexName, KeySchema: x.KeySchema, Projection: &x.Projection})
	}
	return in
}

// schemaFor returns what a table is created with: the keys that are given, such as
// pk:S and sk:N, or what the export says.
func (f *folder) schemaFor(table, key, sort string) (*schema, error) {
	if key == "" && sort != "" {
		return nil, errors.New("a sort key is given, but no partition key")
	}
	if key != "" {
		s := &schema{}
		for i, text := range []string{key, sort} {
			if text == "" {
				continue
			}
			at := strings.LastIndex(text, ":")
			if at < 1 || !strings.Contains("SNB", text[at+1:]) || len(text[at+1:]) != 1 {
				return nil, fmt.Errorf("key %q: want a name and a type, such as pk:S; types are S, N and B", text)
			}
			name := text[:at]
			s.AttributeDefinitions = append(s.AttributeDefinitions, types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeType(text[at+1:])})
			s.KeySchema = append(s.KeySchema, types.KeySchemaElement{AttributeName: &name, KeyType: []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i]})
		}
		return s, nil
	}
	path := filepath.Join(f.path, tableFile)
	text, err := readWhole(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("table %s does not exist, and the export does not say which keys it has: create it, or give its partition key and its sort key, such as --key pk:S and --sort sk:N", table)
	}
	if err != nil {
		return nil, err
	}
	s := &schema{}
	if err := json.Unmarshal(text, s); err != nil || len(s.KeySchema) == 0 {
		return nil, fmt.Errorf("%s: not the description of a table: %w", path, errors.Join(err, errors.New("create the table, or give its keys")))
	}
	return s, nil
}

// create creates a table, and waits until it can be used.
func create(ctx context.Context, client Client, in *dynamodb.CreateTableInput) (*types.TableDescription, error) {
	if _, err := client.CreateTable(ctx, in); err != nil {
		return nil, fmt.Errorf("create table %s: %w", *in.TableName, err)
	}
	for {
		out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: in.TableName})
		if missing := (*types.ResourceNotFoundException)(nil); err != nil && !errors.As(err, &missing) {
			return nil, fmt.Errorf("describe table %s: %w", *in.TableName, err)
		}
		if err == nil && out.Table.TableStatus == types.TableStatusActive {
			return out.Table, nil
		}
		if err := rest(ctx, time.Second); err != nil {
			return nil, err
		}
	}
}
