package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/wholebody"
)

const table = "items"

// client returns an SDK client that signs, with at most so many connections. It gives up a request after a minute.
func client(url string, connections int, options ...func(*dynamodb.Options)) *dynamodb.Client {
	transport := &http.Transport{MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections}
	o := dynamodb.Options{
		BaseEndpoint: &url, Region: "us-east-1",
		HTTPClient:  wholebody.Client{HTTPClient: &http.Client{Transport: transport, Timeout: time.Minute}},
		Credentials: credentials.NewStaticCredentialsProvider(accessKey, secretKey, ""),
	}
	return dynamodb.New(o, options...)
}

// once makes a client that does not send anything twice.
func once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// retryable reports whether an SDK would send a request again that got this error.
func retryable(err error) bool {
	return retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary
}

// createTable makes a table of items by id.
func createTable(ctx context.Context, c *dynamodb.Client, name string) error {
	_, err := c.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: "HASH"}},
	})
	return err
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: fmt.Sprint(n)}
}

// put writes an item of an id and a payload.
func put(ctx context.Context, c *dynamodb.Client, id, payload string) error {
	_, err := c.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(table), Item: map[string]types.AttributeValue{"id": text(id), "payload": text(payload)},
	})
	return err
}

var errMissing = errors.New("the item is not there")

// get reads the payload of an item.
func get(ctx context.Context, c *dynamodb.Client, id string) (string, error) {
	out, err := c.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(table), Key: map[string]types.AttributeValue{"id": text(id)}, ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return "", err
	}
	payload, ok := out.Item["payload"].(*types.AttributeValueMemberS)
	if !ok {
		return "", errMissing
	}
	return payload.Value, nil
}

// latencies collects how long answers took.
type latencies struct {
	mu       sync.Mutex
	took     []time.Duration
	failed   int
	firstErr error
}

// add notes a request that began at a time and ended now.
func (l *latencies) add(began time.Time, err error) {
	took := time.Since(began)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failed++
		if l.firstErr == nil {
			l.firstErr = err
		}
		return
	}
	l.took = append(l.took, took)
}

// at returns how long the given share of the answers took at most.
func (l *latencies) at(share float64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.took) == 0 {
		return 0
	}
	slices.Sort(l.took)
	return l.took[min(int(share*float64(len(l.took))), len(l.took)-1)]
}

func (l *latencies) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "p50 %s, p99 %s, max %s", seconds(l.at(0.5)), seconds(l.at(0.99)), seconds(l.at(1)))
	return b.String()
}

// beside has a well-behaved client put and get small items while f runs.
func beside(ctx context.Context, c *dynamodb.Client, f func() error) (*latencies, error) {
	l := &latencies{}
	ending := make(chan struct{})
	var workers sync.WaitGroup
	for worker := range 4 {
		workers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-ending:
					return
				default:
				}
				id, payload := fmt.Sprintf("polite-%d-%d", worker, n%100), fmt.Sprint(n)
				began := time.Now()
				err := put(ctx, c, id, payload)
				l.add(began, err)
				if err == nil {
					began = time.Now()
					got, err := get(ctx, c, id)
					if err == nil && got != payload {
						err = fmt.Errorf("%s is %q, want %q", id, got, payload)
					}
					l.add(began, err)
				}
				if sleep(ctx, 10*time.Millisecond) != nil {
					return
				}
			}
		})
	}
	err := f()
	close(ending)
	workers.Wait()
	return l, err
}

// item returns an item of texts and numbers: name, value, name, value.
func item(pairs ...any) map[string]types.AttributeValue {
	it := map[string]types.AttributeValue{}
	for i := 0; i < len(pairs); i += 2 {
		switch v := pairs[i+1].(type) {
		case string:
			it[pairs[i].(string)] = text(v)
		case int64:
			it[pairs[i].(string)] = number(v)
		}
	}
	return it
}
