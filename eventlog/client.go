package eventlog

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

// queries is a client whose queries count against what a read is allowed, and whose items tell their time: those of an
// older layout may have it in the sort key only, behind a prefix, where a collection does not look.
type queries struct {
	Client
	core *core
	tell string // the attribute that must hold the time; "" if it does
}

func (c *core) queries(client Client) *queries {
	q := &queries{Client: client, core: c}
	if name := c.timeAttribute(); name != c.options.SortKey && len(c.options.Older) > 0 {
		q.tell = name
	}
	return q
}

// Query sends a query, unless the read has sent as many as it may.
func (q *queries) Query(ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if a, ok := ctx.Value(allowanceKey{}).(*allowance); ok && !a.spend() {
		return nil, ctx.Err()
	}
	out, err := q.Client.Query(ctx, in, options...)
	if err == nil && q.tell != "" {
		for _, item := range out.Items {
			q.tellTime(item)
		}
	}
	return out, err
}

func (q *queries) tellTime(item heatsink.Item) {
	if item[q.tell] != nil {
		return
	}
	key, ok := item[q.core.options.SortKey].(*types.AttributeValueMemberS)
	if !ok {
		return
	}
	if at, _, err := q.core.stamps.parse(key.Value); err == nil {
		item[q.tell] = &types.AttributeValueMemberS{Value: q.core.stamps.text(at)}
	}
}

// allowance is how many queries a read may send. The one that is too many ends the read's context, with errTooMany.
type allowance struct {
	left atomic.Int64
	end  context.CancelCauseFunc
}

type allowanceKey struct{}

// errTooMany is why a read was ended that would have sent too many requests.
var errTooMany = errors.New("the read needs more requests than Index.MaxRequests")

// allow returns a context for a read that may send n queries, any number if n is 0. The caller ends it.
func allow(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	if n > 0 {
		a := &allowance{end: end}
		a.left.Store(int64(n))
		ctx = context.WithValue(ctx, allowanceKey{}, a)
	}
	return ctx, func() { end(nil) }
}

func (a *allowance) spend() bool {
	if a.left.Add(-1) >= 0 {
		return true
	}
	a.end(errTooMany)
	return false
}
