package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// act is a way to write the load: a layout, on a table.
type act struct {
	name   string // in JSON
	short  string // in the table of figures
	title  string
	layout layout.Layout
	grows  bool  // the layout is adaptive
	warm   int64 // write units a second that the table is warmed for; 0: as new ones are
	tour   bool  // show more of reading
}

var acts = []act{
	{
		name: "one-key", short: "one key",
		title: "one key, on a new on-demand table  (layout.Layout{})",
	},
	{
		name: "many-partitions", short: "ten shards",
		title:  "ten shards, on a table warmed for 40,000 WCU/s  (layout.Layout{Shards: 10})",
		layout: layout.Layout{Shards: 10}, warm: 40_000, tour: true,
	},
	{
		name: "four-partitions", short: "ten shards",
		title:  "the same ten shards, on a new on-demand table",
		layout: layout.Layout{Shards: 10},
	},
	{
		name: "adaptive", short: "adaptive",
		title: "one key, cold then hot, on the warmed table  (Adaptive: &heatsink.Adaptive{})",
		grows: true, warm: 40_000,
	},
}

// view is somebody looking at a page.
type view struct {
	Key     string `dynamodbav:"pk"`
	At      string `dynamodbav:"sk"` // when, and a number that makes it unique
	Page    string `dynamodbav:"page"`
	Headers string `dynamodbav:"headers"` // what makes the item as large as it is
}

// stage is where an act is played: an engine with a table of its own.
type stage struct {
	act
	db     *local.DB
	key    string
	body   string // of every item
	spread spread
	growth growth    // of an adaptive layout
	heat   *demoHeat // what a page is told, nil if there is none
	client *dynamodb.Client
}

// open sets the stage for an act that writes items of so many write units.
func (a act) open(ctx context.Context, key string, units int) (*stage, error) {
	db, err := local.New(local.Options{Physics: &local.Physics{}})
	if err != nil {
		return nil, err
	}
	const rest = 128 // bytes of an item beside its body, at most
	s := &stage{act: a, db: db, key: key, body: strings.Repeat("h", units*1024-rest), client: db.Client()}
	if err := s.createTable(ctx); err != nil {
		return nil, closeAfter(db, err)
	}
	if s.spread, err = newSpread(ctx, db, a.layout, key); err != nil {
		return nil, closeAfter(db, err)
	}
	return s, nil
}

// show lets a page see the act.
func (s *stage) show(heat *demoHeat, number int) error {
	option, err := heat.play(fmt.Sprintf("act %d (%s)", number, s.name), s.grows, s.db)
	if err != nil {
		return err
	}
	s.heat, s.client = heat, s.db.Client(option)
	return nil
}

// close ends the act.
func (s *stage) close() error {
	if s.heat != nil {
		s.heat.stop()
	}
	return s.db.Close()
}

func closeAfter(db *local.DB, err error) error {
	_ = db.Close() // in memory, and err says more
	return err
}

func (s *stage) createTable(ctx context.Context) error {
	if s.warm == 0 {
		return s.db.CreateTable(ctx, demoTable, "pk", "sk")
	}
	_, err := s.db.Client().CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   aws.String(demoTable),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
		WarmThroughput: &types.WarmThroughput{
			WriteUnitsPerSecond: aws.Int64(s.warm), ReadUnitsPerSecond: aws.Int64(s.warm),
		},
	})
	return err
}

// collection opens the key's collection, as a program of its own would.
func (s *stage) collection(retry heatsink.Retry) (*heatsink.Collection[view], error) {
	o := heatsink.Options{Table: demoTable, PartitionKey: "pk", SortKey: "sk", Layout: s.layout, Retry: retry}
	if s.grows {
		o.Adaptive = &heatsink.Adaptive{Decided: func(ctx context.Context, d heatsink.Decision) {
			s.growth.decided(ctx, d)
			if s.heat != nil {
				s.heat.decided(d)
			}
		}}
	}
	return heatsink.Open[view](s.client, o)
}

// view returns the item of the i-th put.
func (s *stage) view(i int) view {
	pages := [...]string{"/", "/news", "/pricing", "/help", "/login"}
	return view{
		Key:     s.key,
		At:      fmt.Sprintf("%s#%06d", time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), i),
		Page:    pages[i%len(pages)],
		Headers: s.body,
	}
}
