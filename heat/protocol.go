package heat

import (
	"context"
	"io"

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
	r := receiptOf(ctx)
	if r == nil {
		return p.ClientProtocol.DeserializeResponse(ctx, operation, registry, response, output)
	}
	r.read, r.long = false, nil // of an earlier attempt
	short := shortTexts.Get().(*shortText)
	defer short.free()
	text, all := short.readAll(response)
	rest, ok := r.cut(text)
	if ok && len(rest) == 0 {
		return nil // the output stays empty
	}
	if !ok {
		rest, output = text, r.into(output)
	}
	if all {
		defer func(body io.ReadCloser) { response.Body = body }(response.Body)
		response.Body = short.body(rest, response.Body)
	}
	return p.ClientProtocol.DeserializeResponse(ctx, operation, registry, response, output)
}
