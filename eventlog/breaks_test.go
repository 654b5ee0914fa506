package eventlog_test

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/eventlog"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
)

// The tests of this file were written for breaks of a line that no other test noticed.

// dropping is a client that drops the item from the errors of failed conditions.
type dropping struct{ *faulty.Client }

func (d dropping) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	out, err := d.Client.PutItem(ctx, in, options...)
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		failed.Item = nil
	}
	return out, err
}

// If nobody can tell whose event it is that a repeated append finds, the outcome is unknown, whether there is a mark or not.
func TestAppendWithoutTheItemThatStandsAgainstIt(t *testing.T) {
	for _, mark := range []string{"", "append"} {
		bubble.Test(t, func(t *testing.T) {
			db := local.Start(t)
			options := eventlog.Options{Begin: noon, Mark: mark}
			setup(t, db.Client(), options)
			logs := open(t, dropping{faulty.On(t, db.Client(), faulty.Script(faulty.LostAnswer))}, options)
			receipt, err := logs.Append(t.Context(), event{Log: "OPS_LOG", At: noon, ID: "known", Body: op{N: 1}})
			if !errors.As(err, new(*heatsink.UnknownOutcomeError)) {
				t.Errorf("mark %q: got %+v, %v, want an unknown outcome", mark, receipt, err)
			}
		})
	}
}

// Only an event that is appended by itself, with an id of the caller's, has a mark.
func TestMarkedEvents(t *testing.T) {
	client := local.Start(t).Client()
	logs := setup(t, client, eventlog.Options{Mark: "append", Begin: noon})
	if _, err := logs.Append(t.Context(), event{Log: "without", At: noon, Body: op{N: 1}}); err != nil {
		t.Fatal(err)
	}
	appendAll(t, logs, []event{{Log: "batch", At: noon, ID: "1", Body: op{N: 1}}, {Log: "batch", At: noon, Body: op{N: 2}}})
	for _, item := range stored(t, client, "logs") {
		if item["append"] != nil {
			t.Errorf("got a mark in %v", item)
		}
	}
	if _, err := logs.Append(t.Context(), event{Log: "alone", At: noon, ID: "1", Body: op{N: 1}}); err != nil {
		t.Fatal(err)
	}
	marked := 0
	for _, item := range stored(t, client, "logs") {
		if item["append"] != nil {
			marked++
		}
	}
	if marked != 1 {
		t.Errorf("%d events have a mark, want 1", marked)
	}
}
