package session_test

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/session"
)

// failWrites makes the next writes go wrong, one after another.
func failWrites(faults ...faulty.Fault) faulty.Decide {
	return faulty.Script(faults...).Of("PutItem", "UpdateItem")
}

// writesOf returns the writes that succeeded, to send them again.
func writesOf(client *faulty.Client) []faulty.Request {
	return slices.DeleteFunc(client.Requests(), func(r faulty.Request) bool {
		return !r.Done || r.Operation != "PutItem" && r.Operation != "UpdateItem"
	})
}

// lagging is a client whose indexes show items as they were a while ago.
type lagging struct {
	session.Client
	lag time.Duration

	mu   sync.Mutex
	born map[string]time.Time // by handle
}

func (l *lagging) PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	out, err := l.Client.PutItem(ctx, in, opts...)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.born == nil {
		l.born = make(map[string]time.Time)
	}
	l.born[in.Item["id"].(*types.AttributeValueMemberS).Value] = time.Now()
	return out, err
}

func (l *lagging) Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	out, err := l.Client.Query(ctx, in, opts...)
	if err != nil {
		return out, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	out.Items = slices.DeleteFunc(out.Items, func(item heatsink.Item) bool {
		return time.Since(l.born[item["id"].(*types.AttributeValueMemberS).Value]) < l.lag
	})
	return out, nil
}
