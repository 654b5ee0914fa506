package move_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// The checkpoint of a move is not used by one that differs in any way that decides which items move, or where to. The log says so.
func TestCheckpointOfAnotherMove(t *testing.T) {
	plain := func() move.Options { return move.Options{Collection: collection(sixteen, layout.Layout{})} }
	daily := func() move.Options {
		return move.Options{Collection: collection(layout.Layout{Shards: 4, Strategy: layout.Calculated, Bucket: layout.Day}), From: []layout.Layout{{}}}
	}
	wide := func() move.Options {
		o := move.Options{Collection: collection(layout.Layout{Strategy: layout.Calculated}), From: []layout.Layout{{}}}
		o.Collection.Widths = layout.Width{Write: 4, Read: 16}
		return o
	}
	bare := func() move.Options {
		return move.Options{Collection: collection(layout.Layout{Strategy: layout.Calculated, Format: layout.Format{BareZero: true}}), From: []layout.Layout{{Shards: 4}}}
	}
	for name, test := range map[string]struct {
		stopped func() move.Options
		change  func(*move.Options)
		resumes bool
	}{
		"nothing":                 {plain, func(*move.Options) {}, true},
		"the rates":               {plain, func(o *move.Options) { o.RCU, o.WCU = 500, 500 }, true},
		"Key":                     {plain, func(o *move.Options) { o.Key = "OPEN" }, false},
		"Prefix":                  {plain, func(o *move.Options) { o.Prefix = "OPEN" }, false},
		"From":                    {plain, func(o *move.Options) { o.From = []layout.Layout{{}, {Shards: 4, Strategy: layout.Calculated}} }, false},
		"another From":            {plain, func(o *move.Options) { o.From = []layout.Layout{{Shards: 4, Strategy: layout.Calculated}} }, false},
		"Segments":                {plain, func(o *move.Options) { o.Segments = 4 }, false},
		"Layout":                  {plain, func(o *move.Options) { o.Collection.Layout.Shards = 8 }, false},
		"ShardBy":                 {plain, func(o *move.Options) { o.Collection.ShardBy = []string{"created"} }, false},
		"nothing, in buckets":     {daily, func(*move.Options) {}, true},
		"EventTime":               {daily, func(o *move.Options) { o.Collection.EventTime.Attribute = "changed" }, false},
		"nothing, with widths":    {wide, func(*move.Options) {}, true},
		"nothing, with one shard": {bare, func(*move.Options) {}, true},
		"Adaptive":                {bare, func(o *move.Options) { o.Collection.Adaptive = &heatsink.Adaptive{} }, false},
		"Widths": {bare, func(o *move.Options) {
			o.Collection.Widths = layout.WidthTable{Default: layout.Width{Write: 4, Read: 4}}
		}, false},
		"Hash, with widths":  {wide, func(o *move.Options) { o.Collection.Layout.Hash = layout.FNV }, false},
		"the width to write": {wide, func(o *move.Options) { o.Collection.Widths = layout.Width{Write: 8, Read: 16} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				client := start(t).Client()
				status := "OPEN"
				if test.stopped().Collection.Layout.Format.BareZero {
					status = "OPEN#SHARD_1" // without a suffix it would be in its place
				}
				for i := range 30 {
					put(t, client, fmt.Sprint("o", i), status, func(item heatsink.Item) { item["changed"] = text("2026-11-02T00:00:00Z") })
				}
				stop(t, client, test.stopped(), 10)
				o := test.stopped()
				test.change(&o)
				if o.Collection.Adaptive != nil { // the program writes the charter that a mover looks for
					if _, err := open(t, client, o.Collection).Count(t.Context(), heatsink.Query{Key: "OPEN"}); err != nil {
						t.Fatal(err)
					}
				}
				var log bytes.Buffer
				o.Logger = slog.New(slog.NewTextHandler(&log, nil))
				result, err := mover(t, client, o).Run(t.Context())
				if err != nil && !errors.Is(err, move.ErrDamage) { // another layout does not explain what the stopped move has moved
					t.Fatal(err)
				}
				told := strings.Contains(log.String(), "the checkpoint is not used") && strings.Contains(log.String(), "it is of another move")
				if result.Resumed != test.resumes || told == test.resumes {
					t.Errorf("resumed: %t, log: %s", result.Resumed, log.String())
				}
			})
		})
	}
}

// A checkpoint that was restored into a table with other keys, or with another index of the same name, is not used.
func TestCheckpointOfAnotherSchema(t *testing.T) {
	rename := func(in *dynamodb.CreateTableInput, from, to string) {
		for i, a := range in.AttributeDefinitions {
			if *a.AttributeName == from {
				in.AttributeDefinitions[i].AttributeName = &to
			}
		}
		for _, keys := range [][]types.KeySchemaElement{in.KeySchema, in.GlobalSecondaryIndexes[0].KeySchema} {
			for i, k := range keys {
				if *k.AttributeName == from {
					keys[i].AttributeName = &to
				}
			}
		}
	}
	for name, test := range map[string]struct {
		create  func(*dynamodb.CreateTableInput)
		options func(*heatsink.Options)
		resumes bool
	}{
		"the same": {func(*dynamodb.CreateTableInput) {}, func(*heatsink.Options) {}, true},
		"PartitionKey": {
			func(in *dynamodb.CreateTableInput) { rename(in, "id", "pk") },
			func(o *heatsink.Options) { o.PartitionKey = "pk" }, false,
		},
		"SortKey": {
			func(in *dynamodb.CreateTableInput) {
				in.KeySchema = append(in.KeySchema, key("created", types.KeyTypeRange))
			},
			func(o *heatsink.Options) { o.SortKey = "created" }, false,
		},
		"the partition key of the index": {
			func(in *dynamodb.CreateTableInput) { rename(in, "status", "state") },
			func(o *heatsink.Options) { o.Index.PartitionKey = "state" }, false,
		},
		"the sort key of the index": {
			func(in *dynamodb.CreateTableInput) { rename(in, "created", "changed") },
			func(o *heatsink.Options) { o.Index.SortKey = "changed" }, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				first := start(t).Client()
				fill(t, first, collection(layout.Layout{}), 30, 10)
				o := move.Options{Collection: collection(sixteen, layout.Layout{})}
				stop(t, first, o, 10)
				checkpoint := checkpointOf(t, first)
				second := start(t, test.create).Client()
				test.options(&o.Collection)
				delete(checkpoint, "id")
				checkpoint[o.Collection.PartitionKey] = text(checkpointID)
				if o.Collection.SortKey != "" {
					checkpoint[o.Collection.SortKey] = text("-")
				}
				if _, err := second.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: checkpoint}); err != nil {
					t.Fatal(err)
				}
				var log bytes.Buffer
				o.Logger = slog.New(slog.NewTextHandler(&log, nil))
				result, err := mover(t, second, o).Run(t.Context())
				told := strings.Contains(log.String(), "it is of another move")
				if err != nil || result.Resumed != test.resumes || told == test.resumes {
					t.Errorf("resumed: %t, log: %s, %v", result.Resumed, log.String(), err)
				}
			})
		})
	}
}
