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
	living, err := heatsink.Open[heatsink.Item](client, options.collection())
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

// collection returns the options of the collection living.
func (o *Options) collection() heatsink.Options {
	n, fixed := &o.Names, layout.Layout{Shards: o.Shards, Strategy: layout.Calculated}
	c := heatsink.Options{
		Table: o.Table, PartitionKey: n.ID,
		Index:     heatsink.Index{Name: n.ListIndex, PartitionKey: n.List, SortKey: n.Expires},
		Layout:    fixed,
		TokenKeys: o.TokenKeys, Retry: o.Retry, Logger: o.Logger,
	}
	if o.Adaptive == nil {
		return c
	}
	c.Adaptive, c.Layout.Shards = o.Adaptive, 0
	if o.Shards > 0 {
		c.Older = []layout.Layout{fixed}
	}
	return c
}

// Ledgers returns the ledger of the list of sessions, whose key is ListKey: over how many index keys it is spread. Without
// Options.Adaptive the methods return heatsink.ErrOptions.
func (s *Store[T]) Ledgers() heatsink.Ledgers { return s.living.Ledgers() }

// update changes the item of a session. The names of attributes in the expression and condition are #expires and so
// on. If the condition fails, the error has the item.
func (s *Store[T]) update(ctx context.Context, handle, expression, condition string, values heatsink.Item) error {
	return s.updateLike(ctx, heatsink.Item{s.options.Names.ID: text(handle)}, expression, condition, values)
}

// updateListed is update, and lists the session where a new one would be if the list may have grown since. The session must
// be one that is listed, so the condition must say so. It is for changes that move the item in the index anyway.
func (s *Store[T]) updateListed(ctx context.Context, handle, expression, condition string, values heatsink.Item) error {
	like := heatsink.Item{s.options.Names.ID: text(handle)}
	if s.options.Adaptive != nil {
		like[s.options.Names.List] = text(ListKey)
	}
	return s.updateLike(ctx, like, expression, condition, values)
}

func (s *Store[T]) updateLike(ctx context.Context, like heatsink.Item, expression, condition string, values heatsink.Item) error {
	n := &s.options.Names
	_, err := s.living.Update(ctx, like, func(in *dynamodb.UpdateItemInput) {
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
