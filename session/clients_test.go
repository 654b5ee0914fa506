package session_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/session"
)

// pace is a client whose queries take a time each.
type pace struct {
	session.Client
	each    time.Duration
	queries atomic.Int64
}

func (p *pace) Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	p.queries.Add(1)
	time.Sleep(p.each)
	return p.Client.Query(ctx, in, opts...)
}

// fault is what goes wrong with a request.
type fault uint8

const (
	none       fault = iota
	throttled        // refused for its rate
	lostBefore       // no answer, and it was not done
	lostAfter        // no answer, but it was done
)

// faulty is a client whose requests go wrong, one after another as its script says, or at random.
type faulty struct {
	session.Client
	mu     sync.Mutex
	script []fault // of the next writes; then:
	luck   *rand.Rand
	rate   int // percent of writes and reads that go wrong
	writes int
}

func (f *faulty) next(write bool) fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if write {
		f.writes++
		if len(f.script) > 0 {
			next := f.script[0]
			f.script = f.script[1:]
			return next
		}
	}
	if f.luck == nil || f.luck.IntN(100) >= f.rate {
		return none
	}
	return throttled + fault(f.luck.IntN(3))
}

func (f fault) err() error {
	if f == throttled {
		return &types.ProvisionedThroughputExceededException{Message: aws.String("too fast")}
	}
	return &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "X", Err: &smithyhttp.RequestSendError{Err: io.ErrUnexpectedEOF}}
}

func suffer[T any](f fault, call func() (*T, error)) (*T, error) {
	if f == throttled || f == lostBefore {
		return nil, f.err()
	}
	out, err := call()
	if f == lostAfter && (err == nil || errors.As(err, new(*types.ConditionalCheckFailedException))) {
		return nil, f.err()
	}
	return out, err
}

func (f *faulty) PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return suffer(f.next(true), func() (*dynamodb.PutItemOutput, error) { return f.Client.PutItem(ctx, in, opts...) })
}

func (f *faulty) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return suffer(f.next(true), func() (*dynamodb.UpdateItemOutput, error) { return f.Client.UpdateItem(ctx, in, opts...) })
}

func (f *faulty) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return suffer(f.next(false), func() (*dynamodb.GetItemOutput, error) { return f.Client.GetItem(ctx, in, opts...) })
}

// recorder is a client that keeps the writes that succeeded, to send them again.
type recorder struct {
	session.Client
	mu     sync.Mutex
	writes []recorded
}

type recorded struct {
	at   time.Time
	send func(ctx context.Context) error
}

func (r *recorder) add(send func(ctx context.Context) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes = append(r.writes, recorded{time.Now(), send})
}

func (r *recorder) PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	out, err := r.Client.PutItem(ctx, in, opts...)
	if err == nil {
		r.add(func(ctx context.Context) error { return second(r.Client.PutItem(ctx, in, opts...)) })
	}
	return out, err
}

func (r *recorder) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	out, err := r.Client.UpdateItem(ctx, in, opts...)
	if err == nil {
		r.add(func(ctx context.Context) error { return second(r.Client.UpdateItem(ctx, in, opts...)) })
	}
	return out, err
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
