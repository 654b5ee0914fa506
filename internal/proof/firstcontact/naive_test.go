package main

import (
	"context"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// suffixes is what people write themselves after they have read AWS's page on write sharding: "2014-07-09.1" to "2014-07-09.200".
// Its methods are shown in docs/comparison-naive.md.
type suffixes struct {
	client *dynamodb.Client
	table  string
	count  int                   // how many suffixes there are
	pick   func(sort string) int // from 1 to count: see randomSuffix and hashedSuffix
}

// Put stores an item under the key and a suffix.
func (s *suffixes) Put(ctx context.Context, key, sort string, body types.AttributeValue) error {
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &s.table,
		Item: map[string]types.AttributeValue{
			"pk":   &types.AttributeValueMemberS{Value: fmt.Sprintf("%s.%d", key, s.pick(sort))},
			"sk":   &types.AttributeValueMemberS{Value: sort},
			"body": body,
		},
	})
	return err
}

// hashedSuffix is the same suffix whenever an item is written: AWS's page calls it calculated.
func hashedSuffix(count int) func(string) int {
	return func(sort string) int { return 1 + int(crc32.ChecksumIEEE([]byte(sort)))%count }
}

// randomSuffix is another suffix each time. intN is rand.IntN, or that of a seed.
func randomSuffix(count int, intN func(int) int) func(string) int {
	return func(string) int { return 1 + intN(count) }
}

// Newest queries every suffix for its newest items, merges them and keeps the first n. limit is n, or 0 to read everything.
func (s *suffixes) Newest(ctx context.Context, key string, n, limit int) ([]string, error) {
	var sorts []string
	for suffix := range s.count {
		in := &dynamodb.QueryInput{
			TableName:              &s.table,
			KeyConditionExpression: aws.String("pk = :pk"),
			ScanIndexForward:       aws.Bool(false),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":pk": &types.AttributeValueMemberS{Value: fmt.Sprintf("%s.%d", key, suffix+1)},
			},
		}
		if limit > 0 {
			in.Limit = aws.Int32(int32(limit))
		}
		for pages := dynamodb.NewQueryPaginator(s.client, in); pages.HasMorePages(); {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, err
			}
			for _, item := range page.Items {
				sorts = append(sorts, item["sk"].(*types.AttributeValueMemberS).Value)
			}
			if limit > 0 {
				break
			}
		}
	}
	slices.Sort(sorts)
	slices.Reverse(sorts)
	return sorts[:min(n, len(sorts))], nil
}

// single is the key as it is, without a suffix.
type single struct {
	client *dynamodb.Client
	table  string
}

func (s *single) Put(ctx context.Context, key, sort string, body types.AttributeValue) error {
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &s.table, Item: map[string]types.AttributeValue{"pk": text(key), "sk": text(sort), "body": body},
	})
	return err
}

func (s *single) Newest(ctx context.Context, key string, n int) (sorts []string, err error) {
	out, err := s.client.Query(ctx, &dynamodb.QueryInput{
		TableName: &s.table, KeyConditionExpression: aws.String("pk = :pk"), ScanIndexForward: aws.Bool(false), Limit: aws.Int32(int32(n)),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(key)},
	})
	if err != nil {
		return nil, err
	}
	for _, item := range out.Items {
		sorts = append(sorts, item["sk"].(*types.AttributeValueMemberS).Value)
	}
	return sorts, nil
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
