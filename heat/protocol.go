package heat

import (
	"context"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// protocol is a client's protocol that reads receipts. Whoever replaces it loses nothing: the consumed capacity is in the
// output then, where the recorder finds it as well. That costs a few allocations more.
type protocol struct{ smithyhttp.ClientProtocol }

// withReceipts returns a protocol that reads receipts, nil if there is no protocol.
func withReceipts(p smithyhttp.ClientProtocol) smithyhttp.ClientProtocol {
	if _, reads := p.(protocol); p == nil || reads {
		return p
	}
	return protocol{p}
}

// DeserializeResponse reads a response. Calls without a receipt are read as ever.
func (p protocol) DeserializeResponse(ctx context.Context, operation *smithy.OperationSchema, registry *smithy.TypeRegistry,
	response *smithyhttp.Response, output smithy.Deserializable,
) error {
	if r := receiptOf(ctx); r != nil {
		if r.readShort(response) {
			return nil
		}
		output = r.into(output)
	}
	return p.ClientProtocol.DeserializeResponse(ctx, operation, registry, response, output)
}
