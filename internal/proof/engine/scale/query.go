package scale

import (
	"context"
	"errors"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

// query compares a Query of fifty items through the SDK with a handler that has the answer ready.
func query(ctx context.Context, o Options) ([]scenario.Figure, error) {
	b, err := newBed(ctx, o.Few)
	if err != nil {
		return nil, err
	}
	speed, err := b.queryBeside(ctx, o.Rounds)
	return []scenario.Figure{atLeast("Query of 50 items through the SDK, in memory: speed / that of a canned answer", speed, 0.7)},
		errors.Join(err, b.db.Close())
}

func (b *bed) queryBeside(ctx context.Context, rounds int) (float64, error) {
	answer := &response{header: http.Header{}, status: http.StatusOK}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1/", strings.NewReader(queryBody))
	if err != nil {
		return 0, err
	}
	r.Header = http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "X-Amz-Target": {"DynamoDB_20120810.Query"}}
	b.handler.ServeHTTP(answer, r)
	ours := b.db.Client()
	canned := b.db.Client(func(o *dynamodb.Options) { o.HTTPClient = handlerClient{cannedHandler(answer.body.Bytes())} })
	ask := func(c *dynamodb.Client) func(int) error {
		return func(n int) error { return queryItems(ctx, c, n*7919%b.items) }
	}
	return alternate(ctx, rounds, processorTime, repeat(50, ask(ours)), repeat(50, ask(canned)))
}

const queryBody = `{"TableName":"items","KeyConditionExpression":"pk = :pk","ExpressionAttributeValues":{":pk":{"S":"user-00000000"}}}`

// cannedHandler reads requests, and answers all of them alike.
type cannedHandler []byte

func (c cannedHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	h := w.Header()
	h.Set("Content-Type", "application/x-amz-json-1.0")
	h.Set("Content-Length", strconv.Itoa(len(c)))
	h.Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(c)), 10))
	_, _ = w.Write(c)
}

// handlerClient is an HTTP client that calls a handler, as the engine's own does.
type handlerClient struct{ http.Handler }

func (c handlerClient) Do(r *http.Request) (*http.Response, error) {
	w := &response{header: http.Header{}, status: http.StatusOK}
	c.ServeHTTP(w, r)
	_ = r.Body.Close()
	return &http.Response{
		StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: w.header,
		Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}
