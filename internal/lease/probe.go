package lease

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/heatsink-go/heatsink/internal/dispatch"
)

// probeAge is how old the signature is that a server must refuse.
const probeAge = time.Hour

// Getter is the part of the SDK's client that Probe takes.
type Getter interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// Probe reports whether the server refuses a request whose signature is an hour old, which all leases rely on. It sends in twice: as it is,
// and with such a signature. That costs two reads of the item at most. The error wraps ErrUnsigned if the client does not sign, or not in
// the way of the SDK. Any other answer than success and that refusal is an error too.
func Probe(ctx context.Context, client Getter, in *dynamodb.GetItemInput) (checked bool, err error) {
	var fresh, old Stamp
	if _, err := client.GetItem(ctx, in, fresh.Note); err != nil {
		return false, fmt.Errorf("a read to compare with: %w", err)
	}
	at, err := fresh.Time()
	if err != nil {
		return false, err
	}
	_, refused := client.GetItem(ctx, in, aged, old.Note, dispatch.Once)
	signed, err := old.Time()
	switch {
	case err != nil:
		return false, errors.Join(err, refused)
	case at.Sub(signed) < probeAge/2:
		return false, fmt.Errorf("%w: a request that was to be signed an hour ago was signed at %s, and another one at %s: leave AuthSchemes of the client to the SDK",
			ErrUnsigned, signed.Format(time.RFC3339), at.Format(time.RFC3339))
	case refused == nil:
		return false, nil
	case expired(refused):
		return true, nil
	}
	return false, fmt.Errorf("a read with a signature of an hour ago: %w", refused)
}

// expired reports whether a request was refused because its signature is old.
func expired(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return false
	}
	switch api.ErrorCode() {
	case "RequestExpired", "RequestTimeTooSkewed":
		return true
	case "InvalidSignatureException", "SignatureDoesNotMatch":
		return strings.Contains(api.ErrorMessage(), "Signature expired")
	}
	return false
}

// aged is an option for one request, which is signed with a time an hour ago. The SDK builds the schemes of a client when that is made, so
// they are taken from another client with a signer of its own.
func aged(o *dynamodb.Options) {
	o.HTTPSignerV4 = earlier{o.HTTPSignerV4}
	o.AuthSchemes = dynamodb.New(dynamodb.Options{HTTPSignerV4: o.HTTPSignerV4, Region: o.Region}).Options().AuthSchemes
}

// earlier signs with a time of before.
type earlier struct{ dynamodb.HTTPSignerV4 }

func (e earlier) SignHTTP(
	ctx context.Context, credentials aws.Credentials, r *http.Request, hash, service, region string, at time.Time, options ...func(*v4.SignerOptions),
) error {
	return e.HTTPSignerV4.SignHTTP(ctx, credentials, r, hash, service, region, at.Add(-probeAge), options...)
}
