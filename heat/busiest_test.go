package heat_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// While a stream is followed, what counts is now: a rush that is over is over. Once reading has ended, it is what was
// found in all that time, and the rush is a finding with the rate that it had.
func TestAStreamThatEndedRemembersARush(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := local.Start(t)
		client := db.Client()
		createWithStream(t, client, "orders")
		reader, err := heat.OpenStream(t.Context(), client, db.StreamsClient(), "orders", heat.StreamOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- reader.Run(ctx) }()
		time.Sleep(time.Second)
		for tick := range 500 { // five seconds of 250 writes each, then fifteen of 75
			n := 10
			if tick >= 500/4 {
				n = 3
			}
			for i := range n {
				if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{
					TableName: aws.String("orders"), Item: key("CUSTOMER#big", fmt.Sprint(tick, "-", i)),
				}); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(40 * time.Millisecond)
		}
		time.Sleep(2 * time.Minute)
		if findings := heat.Explain(reader.Report(), heat.Rules{}); len(findings) != 0 {
			t.Errorf("long after the rush: %v", findings)
		}
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		report := reader.Report()
		hot := resource(t, report, "orders").Writes.Keys[0]
		if hot.Consumed > 1 || math.Abs(hot.Busiest-250) > 50 {
			t.Errorf("consumes %.0f units a second, %.0f when it was busiest, which should be about 250", hot.Consumed, hot.Busiest)
		}
		findings := heat.Explain(report, heat.Rules{Warm: 0.2, Hot: 0.5})
		if len(findings) != 1 || findings[0].Key != "CUSTOMER#big" || findings[0].Severity != heat.Warning {
			t.Errorf("in the end: %v", findings)
		}
	})
}

// A key that was busy is told of in the end, also if a thousand others came since.
func TestAStreamThatEndedRemembersKeysThatAreLongGone(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := local.Start(t)
		client := db.Client()
		createWithStream(t, client, "orders")
		put := func(pk string, sk int) {
			if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: key(pk, fmt.Sprint(sk))}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 8000 {
			put("CUSTOMER#big", i)
			if i%20 == 0 {
				time.Sleep(20 * time.Millisecond) // 1,000 a second
			}
		}
		time.Sleep(2 * time.Hour)
		for i := range 1200 {
			put(fmt.Sprint("CUSTOMER#", i), i)
		}
		reader, err := heat.OpenStream(t.Context(), client, db.StreamsClient(), "orders", heat.StreamOptions{FromStart: true, UntilNow: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := reader.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		findings := heat.Explain(reader.Report(), heat.Rules{})
		if len(findings) != 1 || findings[0].Key != "CUSTOMER#big" || findings[0].Severity != heat.Critical {
			t.Errorf("got %v", findings)
		}
	})
}

// The times of a stream are whole seconds. Writes of two seconds are not taken for those of the one between their times.
func TestStreamOfTwoSeconds(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := local.Start(t)
		client := db.Client()
		createWithStream(t, client, "orders")
		time.Sleep(900 * time.Millisecond)
		for n := range 2 {
			for i := range 500 {
				if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{
					TableName: aws.String("orders"), Item: key("DEVICE#1", fmt.Sprint(n, "-", i)),
				}); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(200 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		reader, err := heat.OpenStream(t.Context(), client, db.StreamsClient(), "orders", heat.StreamOptions{FromStart: true, UntilNow: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := reader.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		report := reader.Report()
		hot := resource(t, report, "orders").Writes.Keys[0]
		if took := report.To.Sub(report.From); took != 2*time.Second || hot.RateLow > 550 || hot.RateLow < 450 {
			t.Errorf("1,000 units in two seconds: got %.0f a second over %v", hot.RateLow, took)
		}
	})
}

// Of a stream that was read to its end, shares are of all that was written, not of the last seconds.
func TestStreamSharesAreOfTheWholeTime(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := local.Start(t)
		client := db.Client()
		createWithStream(t, client, "orders")
		for i := range 400 { // a rush of one key, and later one of others
			pk := "DEVICE#1"
			if i >= 300 {
				pk = "DEVICE#2"
			}
			if i == 300 {
				time.Sleep(time.Minute)
			}
			if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: key(pk, fmt.Sprint(i))}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		reader, err := heat.OpenStream(t.Context(), client, db.StreamsClient(), "orders", heat.StreamOptions{FromStart: true, UntilNow: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := reader.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		shares := make(map[string]float64)
		for _, k := range resource(t, reader.Report(), "orders").Writes.Keys {
			shares[k.Key] = k.Share
		}
		if shares["DEVICE#1"] != 0.75 || shares["DEVICE#2"] != 0.25 {
			t.Errorf("got %v of 300 and 100 units", shares)
		}
	})
}
