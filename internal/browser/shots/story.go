package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatpage"
	"github.com/heatsink-go/heatsink/local"
)

const (
	table   = "orders"
	hotKey  = "STATUS#OPEN"
	units   = 8 // write units of one put
	quiet   = 8 * time.Second
	burning = 20 * time.Second
	spread  = 24 * time.Second
)

// order is an item.
type order struct {
	Key  string `dynamodbav:"pk"`
	At   string `dynamodbav:"sk"`
	Body string `dynamodbav:"body"`
}

// story is a table whose key burns until it is spread: first a plain client writes it, then a collection that adapts.
type story struct {
	db       *local.DB
	recorder *heat.Recorder
	plain    *dynamodb.Client
	adaptive *heatsink.Collection[order]
	running  sync.WaitGroup

	due, begun atomic.Int64 // puts that were to begin, and that did
}

// tell plays the story, and writes the page that shows it.
func tell(ctx context.Context, w io.Writer) (err error) {
	s := &story{}
	if s.db, err = local.New(local.Options{Physics: &local.Physics{OnDemandPartitions: 12}}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	if err := s.db.CreateTable(ctx, table, "pk", "sk"); err != nil {
		return err
	}
	if s.recorder, err = heat.NewRecorder(heat.Options{Keys: map[string][]string{table: {"pk"}}, NoDescribe: true, Top: 500}); err != nil {
		return err
	}
	s.plain = s.db.Client(s.recorder.Option, func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
	s.adaptive, err = heatsink.Open[order](s.db.Client(s.recorder.Option), heatsink.Options{Table: table, PartitionKey: "pk", SortKey: "sk", Adaptive: &heatsink.Adaptive{}})
	if err != nil {
		return err
	}
	page, err := heatpage.New(heatpage.Options{Title: "heatsink: " + table, Source: s.round, Ledger: func(ctx context.Context, _ heat.Resource, key string) (heatpage.Ledger, error) {
		l, err := s.adaptive.Ledgers().Show(ctx, key, time.Now())
		return heatpage.Ledger(l), err
	}})
	if err != nil {
		return err
	}
	playing, end := context.WithTimeout(ctx, quiet+burning+spread)
	defer end()
	s.running.Go(func() { page.Run(playing) })
	s.write(playing)
	s.running.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := enough("the story of the page", float64(s.begun.Load()), float64(s.due.Load())); err != nil {
		return err
	}
	return page.Export(w)
}

func (s *story) round(ctx context.Context) (r heatpage.Round, err error) {
	r.Report = s.recorder.Report()
	if r.Partitions, err = s.db.Partitions(ctx, table, 10*time.Second); err != nil {
		return r, err
	}
	var keys []string
	for i := range r.Resources {
		for _, k := range r.Resources[i].Writes.Keys {
			keys = append(keys, k.Key)
		}
	}
	places, err := s.db.Places(ctx, table, keys...)
	r.Locate(map[string]map[string]string{table: places})
	return r, err
}

// write begins the traffic: customers that are cold, and the key that burns.
func (s *story) write(ctx context.Context) {
	begun := time.Now()
	s.running.Go(func() {
		s.pace(ctx, 110, func(n int) {
			s.put(ctx, fmt.Sprintf("CUSTOMER#%03d", 1+int(rand.ExpFloat64()*6)%14), n)
		})
	})
	s.running.Go(func() {
		s.pace(ctx, 30, func(n int) { s.put(ctx, hotKey, n) }) // what it takes on a quiet day
	})
	s.running.Go(func() {
		if sleep(ctx, quiet) != nil {
			return
		}
		s.pace(ctx, 430, func(n int) {
			if time.Since(begun) < quiet+burning {
				s.put(ctx, hotKey, n)
				return
			}
			_, _ = s.adaptive.Put(ctx, newOrder(hotKey, n)) // some are throttled until the key has grown
		})
	})
}

// pace calls do so often each second, at most 200 at a time.
func (s *story) pace(ctx context.Context, perSecond int, do func(n int)) {
	slots := make(chan struct{}, 200)
	start := time.Now()
	next := start
	defer func() { s.due.Add(int64(time.Since(start).Seconds() * float64(perSecond))) }()
	for n := 0; ctx.Err() == nil; n++ {
		next = next.Add(time.Second / time.Duration(perSecond))
		if sleep(ctx, time.Until(next)) != nil {
			break
		}
		slots <- struct{}{}
		s.begun.Add(1)
		s.running.Go(func() { defer func() { <-slots }(); do(n) })
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var body = strings.Repeat("h", units*1024-128)

func newOrder(key string, n int) order {
	return order{key, fmt.Sprintf("%s#%06d", time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), n), body}
}

// put writes without heatsink.
func (s *story) put(ctx context.Context, key string, n int) {
	o := newOrder(key, n)
	_, _ = s.plain.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(table), Item: map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: o.Key}, "sk": &types.AttributeValueMemberS{Value: o.At + key}, "body": &types.AttributeValueMemberS{Value: o.Body},
	}}) // throttled: that is the story
}
