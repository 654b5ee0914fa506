package session

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/direct"
	"github.com/heatsink-go/heatsink/layout"
)

// Client is the part of *dynamodb.Client that a Store uses.
type Client = heatsink.Client

// Store keeps sessions with data of type T, which is anything that the SDK's attributevalue can store. Its methods
// may be called concurrently. What they cost is added to the heatsink.Meter of their context.
type Store[T any] struct {
	options Options // with defaults

	living *heatsink.Collection[heatsink.Item] // the table, and its index by shards
	users  *direct.Table                       // its index by user
}

// Open returns the store that options describe. It does no I/O and needs no closing.
func Open[T any](client Client, options Options) (*Store[T], error) {
	options = options.withDefaults()
	if err := options.validate(); err != nil {
		return nil, err
	}
	n := &options.Names
	living, err := heatsink.Open[heatsink.Item](client, heatsink.Options{
		Table: options.Table, PartitionKey: n.ID,
		Index:     heatsink.Index{Name: n.ListIndex, PartitionKey: n.List, SortKey: n.Expires},
		Layout:    layout.Layout{Shards: options.Shards, Strategy: layout.Calculated},
		TokenKeys: options.TokenKeys, Retry: options.Retry, Logger: options.Logger,
	})
	if err != nil {
		return nil, err
	}
	users, err := direct.Open(client, direct.Options{
		Table: options.Table, Index: n.UserIndex, PartitionKey: n.User, Retry: options.Retry, Logger: options.Logger,
	})
	if err != nil {
		return nil, err
	}
	return &Store[T]{options: options, living: living, users: users}, nil
}

// update changes the item of a session. The names of attributes in the expression and condition are #expires and so
// on. If the condition fails, the error has the item.
func (s *Store[T]) update(ctx context.Context, handle, expression, condition string, values heatsink.Item) error {
	n := &s.options.Names
	_, err := s.living.Update(ctx, heatsink.Item{n.ID: text(handle)}, func(in *dynamodb.UpdateItemInput) {
		in.UpdateExpression, in.ConditionExpression = &expression, &condition
		in.ExpressionAttributeNames = n.placeholders(expression + " " + condition)
		in.ExpressionAttributeValues = values
		in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	})
	return err
}

// placeholders returns those names of attributes that an expression has placeholders of.
func (n *Names) placeholders(expression string) map[string]string {
	used := make(map[string]string)
	for placeholder, name := range map[string]string{
		"#list": n.List, "#user": n.User, "#expires": n.Expires, "#ttl": n.TTL, "#until": n.Until, "#created": n.Created,
		"#idle": n.Idle, "#version": n.Version, "#data": n.Data,
	} {
		if strings.Contains(expression, placeholder) {
			used[placeholder] = name
		}
	}
	return used
}
