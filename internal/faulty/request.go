package faulty

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// Request is one call of a client, and what became of it.
type Request struct {
	Operation string    // such as "PutItem"
	Input     any       // such as a *dynamodb.PutItemInput: a copy, as it was sent
	At        time.Time // when it was sent
	Fault     Fault     // what went wrong; None while it is decided

	// Done says that DynamoDB carried the request out without an error, whatever the sender got to know of it.
	// It is false while the request is decided, and while it is under way.
	Done bool

	ctx  context.Context // the sender's; the layers of the client keep things in it, so repetitions need it, too
	next middleware.InitializeHandler
}

// answer is what comes back.
type answer struct {
	out      middleware.InitializeOutput
	metadata middleware.Metadata
	err      error
}

// Key returns the text of an attribute, such as the partition key, of the item that a PutItem writes or in the key of a
// request for a single item. It is empty if there is none, or if it is no string.
func (r Request) Key(attribute string) string {
	var item map[string]types.AttributeValue
	switch in := r.Input.(type) {
	case *dynamodb.PutItemInput:
		item = in.Item
	case *dynamodb.GetItemInput:
		item = in.Key
	case *dynamodb.UpdateItemInput:
		item = in.Key
	case *dynamodb.DeleteItemInput:
		item = in.Key
	}
	if s, ok := item[attribute].(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// Again sends the request once more, as the network does that delivers it twice, whether or not its sender's context has
// ended. Nothing goes wrong with it, and it is not counted.
func (r Request) Again() error {
	return r.send(context.WithoutCancel(r.ctx), r.Input).err
}

func (r Request) send(ctx context.Context, input any) (a answer) {
	a.out, a.metadata, a.err = r.next.HandleInitialize(ctx, middleware.InitializeInput{Parameters: input})
	return a
}
