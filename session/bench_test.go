package session_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/session"
)

// BenchmarkStore is each operation on the engine inside the process. GetItem is the SDK's, for comparison with Get.
func BenchmarkStore(b *testing.B) {
	ctx := context.Background()
	db := local.Start(b)
	sessions := open(b, db.Client(), session.Options{TouchEvery: -1})
	s := create(b, sessions, "ann")
	run := func(name string, op func() error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := op(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	client := db.Client()
	run("GetItem", func() error {
		return second(client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: aws.String("sessions"), ConsistentRead: aws.Bool(true),
			Key: heatsink.Item{"id": &types.AttributeValueMemberS{Value: s.Handle}},
		}))
	})
	run("Get", func() error { return second(sessions.Get(ctx, s.ID)) })
	run("Create", func() error { return second(sessions.Create(ctx, "", cart{})) })
	run("TouchNotDue", func() error { return second(sessions.Touch(ctx, s)) })
	longer := s
	run("Touch", func() (err error) {
		longer.Idle += time.Second // so that there is something to move
		longer, err = sessions.Touch(ctx, longer)
		return err
	})
	run("Change", func() error {
		return second(sessions.Change(ctx, s.ID, func(c *cart) error { c.Items++; return nil }))
	})
}

// BenchmarkCount counts 1,000 sessions over 25 shards.
func BenchmarkCount(b *testing.B) {
	sessions := open(b, local.Start(b).Client(), session.Options{})
	for range 1000 {
		create(b, sessions, "")
	}
	b.ReportAllocs()
	for b.Loop() {
		if n, err := sessions.Count(context.Background()); n != 1000 || err != nil {
			b.Fatal(n, err)
		}
	}
}
