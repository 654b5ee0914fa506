package dispatch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
)

func TestJudge(t *testing.T) {
	canceled := func(codes ...string) error {
		e := &types.TransactionCanceledException{}
		for _, code := range codes {
			e.CancellationReasons = append(e.CancellationReasons, types.CancellationReason{Code: aws.String(code)})
		}
		return e
	}
	for _, c := range []struct {
		name string
		err  error
		want Verdict
		fast bool // counts as a throttle
	}{
		{"success", nil, Done, false},
		{"throughput", faulty.Throttled.Err(), Refused, true},
		{"throttling", faulty.Answer(400, &types.ThrottlingException{}), Refused, true},
		{"account limit", faulty.Answer(400, &types.RequestLimitExceeded{}), Refused, true},
		{"conflict", faulty.Answer(400, &types.TransactionConflictException{}), Refused, false},
		{"conflict of regions", faulty.Answer(400, &types.ReplicatedWriteConflictException{}), Refused, false},
		{"unprocessed", fmt.Errorf("batch: %w", &UnprocessedError{1, 2}), Refused, true},
		{"429", faulty.Answer(429, errors.New("slow down")), Refused, true},
		{"dial", faulty.Unreached.Err(), NotSent, false},
		{"throttled part", canceled("None", "ThrottlingError"), Refused, true},
		{"part in conflict", canceled("TransactionConflict", "None"), Refused, false},
		{"condition of a part", canceled("None", "ConditionalCheckFailed"), Rejected, false},
		{"conflict and condition", canceled("TransactionConflict", "ConditionalCheckFailed"), Rejected, false},
		{"collection too large", canceled("ItemCollectionSizeLimitExceeded", "None"), Rejected, false},
		{"transaction under way", &types.TransactionInProgressException{}, Unknown, false},
		{"token of another transaction", &types.IdempotentParameterMismatchException{}, Rejected, false},
		{"no table", &types.ResourceNotFoundException{}, Rejected, false},
		{"still waiting for its turn", &NotSentError{context.Canceled}, NotSent, false},
		{"condition", faulty.Answer(400, &types.ConditionalCheckFailedException{}), Rejected, false},
		{"condition of a fake", &types.ConditionalCheckFailedException{}, Rejected, false},
		{"validation", faulty.Answer(400, &smithy.GenericAPIError{Code: "ValidationException"}), Rejected, false},
		{"access denied", faulty.Answer(400, &smithy.GenericAPIError{Code: "AccessDeniedException"}), Rejected, false},
		{"parameters", smithy.InvalidParamsError{}, Rejected, false},
		{"408", faulty.Answer(408, errors.New("timeout")), Unknown, false},
		{"500", faulty.BrokeDown.Err(), Unknown, false},
		{"500 of a fake", &types.InternalServerError{}, Unknown, false},
		{"503", faulty.Answer(503, &smithy.GenericAPIError{Code: "ServiceUnavailable"}), Unknown, false},
		{"200 and nonsense", faulty.Answer(200, &smithy.DeserializationError{Err: io.ErrUnexpectedEOF}), Unknown, false},
		{"reset", faulty.LostRequest.Err(), Unknown, false},
		{"end of file", faulty.LostAnswer.Err(), Unknown, false},
		{"cancelled", &smithy.CanceledError{Err: context.Canceled}, Unknown, false},
		{"deadline", context.DeadlineExceeded, Unknown, false},
		{"anything", errors.New("?"), Unknown, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Judge(c.err); got != c.want {
				t.Errorf("got verdict %s, want %s", got, c.want)
			}
			if got := TooFast(c.err); got != c.fast {
				t.Errorf("got TooFast %t, want %t", got, c.fast)
			}
		})
	}
}

// What the SDK really returns, from servers that behave badly.
func TestJudgeTheSDK(t *testing.T) {
	put := func(t *testing.T, url string, timeout time.Duration) error {
		client := dynamodb.New(dynamodb.Options{
			BaseEndpoint: &url, Region: "us-east-1", HTTPClient: &http.Client{Timeout: timeout, Transport: &http.Transport{DisableKeepAlives: true}},
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
			}),
		})
		_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("t"), Item: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}}}, Once)
		return err
	}
	serve := func(t *testing.T, answer http.HandlerFunc) string {
		server := httptest.NewServer(answer)
		t.Cleanup(server.Close)
		return server.URL
	}
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   Verdict
	}{
		{"hangs up", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			conn, _, _ := w.(http.Hijacker).Hijack()
			_ = conn.Close()
		}, Unknown},
		{"half an answer", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("{"))
		}, Unknown},
		{"500", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError"}`, 500)
		}, Unknown},
		{"proxy's 503", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusServiceUnavailable) }, Unknown},
		{"throttled", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"}`, 400)
		}, Refused},
		{"invalid", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"__type":"com.amazon.coral.validate#ValidationException"}`, 400)
		}, Rejected},
		{"slow", func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}, Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := put(t, serve(t, c.answer), 200*time.Millisecond)
			if got := Judge(err); got != c.want {
				t.Errorf("got verdict %s, want %s, for %v", got, c.want, err)
			}
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		url := "http://" + listener.Addr().String()
		_ = listener.Close()
		if err := put(t, url, time.Second); Judge(err) != NotSent || TooFast(err) {
			t.Errorf("got verdict %s, too fast: %t, want %s and no throttle, for %v", Judge(err), TooFast(err), NotSent, err)
		}
	})
	t.Run("no table name", func(t *testing.T) {
		_, err := local.Start(t).Client().PutItem(t.Context(), &dynamodb.PutItemInput{}, Once)
		if Judge(err) != Rejected {
			t.Errorf("got verdict %s, want %s, for %v", Judge(err), Rejected, err)
		}
	})
}

// A hot key is told from a table or an account that is out of capacity.
func TestHotKey(t *testing.T) {
	because := func(reasons ...string) error {
		e := &types.ThrottlingException{}
		for _, reason := range reasons {
			e.ThrottlingReasons = append(e.ThrottlingReasons, types.ThrottlingReason{Reason: aws.String(reason)})
		}
		return faulty.Answer(400, e)
	}
	for _, c := range []struct {
		err  error
		want bool
	}{
		{because(), true},
		{because("TableWriteKeyRangeThroughputExceeded"), true},
		{because("TableWriteAccountLimitExceeded", "IndexWriteKeyRangeThroughputExceeded"), true},
		{because("TableWriteProvisionedThroughputExceeded"), false},
		{faulty.Answer(400, &types.ConditionalCheckFailedException{}), false},
		{faulty.Unreached.Err(), false},
		{nil, false},
	} {
		if got := HotKey(c.err); got != c.want {
			t.Errorf("%v: got %t, want %t", c.err, got, c.want)
		}
	}
}
