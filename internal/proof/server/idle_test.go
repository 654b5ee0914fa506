package main

import (
	"errors"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

var idle = flag.Duration("idle", time.Hour, "virtual time in which nothing happens")

// An engine sleeps through the time until something expires, and then deletes it. How long that takes in real time is
// printed for the proof.
func TestIdle(t *testing.T) {
	began := time.Now()
	bubble.Test(t, func(t *testing.T) {
		ctx := t.Context()
		db, err := local.New(local.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.CreateTable(ctx, table, "id"); err != nil {
			t.Fatal(err)
		}
		c := db.Client()
		_, err = c.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
			TableName: aws.String(table), TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("until"), Enabled: aws.Bool(true)},
		})
		if err != nil {
			t.Fatal(err)
		}
		until := time.Now().Add(*idle)
		if _, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(table), Item: item("id", "a", "until", until.Unix(), "payload", "b")}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(*idle - time.Minute)
		if _, err := get(ctx, c, "a"); err != nil {
			t.Errorf("a minute before the item expires: %v", err)
		}
		time.Sleep(2 * time.Minute)
		if got, err := get(ctx, c, "a"); !errors.Is(err, errMissing) {
			t.Errorf("a minute after the item expired: got %q, %v, want none", got, err)
		}
	})
	fmt.Printf("idle for %s: %s\n", *idle, time.Since(began))
}
