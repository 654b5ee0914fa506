package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/round"
	"github.com/heatsink-go/heatsink/internal/wire"
)

// topRound is what top shows at a time.
type topRound = round.Round

// topFeed is where top gets its rounds from.
type topFeed interface {
	run(ctx context.Context) error // until ctx ends, which is no error
	round(ctx context.Context) (topRound, error)
}

// feed returns the engine at the endpoint if there is one that reports its heat, otherwise the table's stream.
func (t *top) feed(ctx context.Context, c clients) (topFeed, error) {
	if endpoint := cmp.Or(t.endpoint, os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"), os.Getenv("AWS_ENDPOINT_URL")); endpoint != "" && !t.stream {
		feed := &engineFeed{endpoint: strings.TrimSuffix(endpoint, "/"), table: t.table, keys: t.asked(), redact: t.redact()}
		_, err := feed.round(ctx)
		if err == nil {
			return feed, feed.check(ctx, c)
		}
		stream, faults := t.streamFeed(ctx, c)
		if faults != nil {
			faults = fmt.Errorf("%w; the server at %s does not report its heat either, as heatsink serve --physics without an access key would: %w", faults, endpoint, err)
		}
		return stream, faults
	}
	return t.streamFeed(ctx, c)
}

func (t *top) streamFeed(ctx context.Context, c clients) (topFeed, error) {
	options := heat.StreamOptions{Recorder: heat.Options{Top: t.asked(), Redact: t.redact()}, Poll: min(t.every, time.Second)}
	feed := &streamFeed{}
	reader, err := heat.OpenStream(ctx, c.tables, &answeringStream{c.streams, feed}, t.table, options)
	if err != nil {
		return nil, err
	}
	feed.reader = reader
	return feed, nil
}

// streamFeed is the stream of a table. run may be called again after an error.
type streamFeed struct {
	reader *heat.StreamReader
	lost   atomic.Pointer[error] // why reading ended; nil from when the server answers again
}

func (f *streamFeed) run(ctx context.Context) error {
	err := f.reader.Run(ctx)
	if err != nil {
		f.lost.Store(&err)
	}
	return err
}

func (f *streamFeed) round(context.Context) (topRound, error) {
	if err := f.lost.Load(); err != nil {
		return topRound{}, *err
	}
	return topRound{Report: f.reader.Report()}, nil
}

// answeringStream notes that the server answers.
type answeringStream struct {
	heat.StreamClient
	feed *streamFeed
}

func (c *answeringStream) DescribeStream(ctx context.Context, in *dynamodbstreams.DescribeStreamInput, o ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error) {
	out, err := c.StreamClient.DescribeStream(ctx, in, o...)
	return out, c.note(err)
}

func (c *answeringStream) GetRecords(ctx context.Context, in *dynamodbstreams.GetRecordsInput, o ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error) {
	out, err := c.StreamClient.GetRecords(ctx, in, o...)
	return out, c.note(err)
}

func (c *answeringStream) note(err error) error {
	if err == nil {
		c.feed.lost.Store(nil)
	}
	return err
}

// engineFeed is a heatsink serve --physics, which counts by itself.
type engineFeed struct {
	endpoint, table string
	keys            int
	redact          func(dst, key []byte) []byte
}

// check reports a table that does not exist: the engine's heat would just be empty for ever.
func (f *engineFeed) check(ctx context.Context, c clients) error {
	if _, err := c.tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(f.table)}); err != nil {
		return fmt.Errorf("describe table %q: %w", f.table, err)
	}
	return nil
}

func (f *engineFeed) run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func (f *engineFeed) round(ctx context.Context) (topRound, error) {
	var answer heatAnswer
	if err := f.get(ctx, heatPath, &answer); err != nil {
		return topRound{}, err
	}
	r := topRound{Report: answer.Report}
	if err := f.get(ctx, wire.PartitionsPath, &r.Partitions); err != nil {
		return r, err
	}
	r.Locate(answer.Places)
	if f.redact != nil {
		r.Redact(f.redact)
	}
	return r, nil
}

// get asks the engine about the table, for its last seconds where that matters.
func (f *engineFeed) get(ctx context.Context, path string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	query := url.Values{"table": {f.table}, "last": {lookBack.String()}, "top": {strconv.Itoa(f.keys)}, "places": {"true"}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.endpoint+path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	heatLimits.limit(response)
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
