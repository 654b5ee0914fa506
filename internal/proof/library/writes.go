package main

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
)

func init() {
	measurements = append(measurements,
		measurement{"11", "acknowledged writes undone by a late attempt, with Version", "7 of 7", "0 of 7", on(lateAttempts("v"))},
		measurement{"11", "the same without Version, as documented", "7 of 7", "7 of 7", on(lateAttempts(""))},
		measurement{"12", "processes of two that are told they created an item, after a lost request", "2", "1", on(createdBy("v"))},
		measurement{"12", "the same without Version; the other is told that its outcome is unknown", "2", "1", on(createdBy(""))},
		measurement{"13", "good items lost beside an oversized one in a batch of 25", "24", "0", on(oversized)},
		measurement{"13", "good items lost beside one without a key, and the error", "24, no BatchError", "0, BatchError", on(keyless)},
	)
}

// lateAttempts counts the acknowledged writes that are undone by an attempt of an earlier one.
func lateAttempts(version string) func(context.Context, *engine) (string, error) {
	like := item("pk", "a", "sk", "1")
	type items = *heatsink.Collection[heatsink.Item]
	put := func(n int) func(context.Context, items) error {
		return func(ctx context.Context, c items) error {
			_, err := c.Put(ctx, item("pk", "a", "sk", "1", "n", n))
			return err
		}
	}
	update := func(n int) func(context.Context, items) error {
		return func(ctx context.Context, c items) error {
			_, err := c.Update(ctx, like, func(in *dynamodb.UpdateItemInput) {
				in.UpdateExpression, in.ExpressionAttributeValues = aws.String("SET n = :n"), item(":n", n)
			})
			return err
		}
	}
	remove := func(ctx context.Context, c items) error {
		_, err := c.Delete(ctx, like)
		return err
	}
	trials := []struct {
		first, later func(context.Context, items) error
		want         string
	}{
		{put(1), put(2), "2"},
		{put(1), update(2), "2"},
		{put(1), remove, ""},
		{update(1), put(2), "2"},
		{update(1), update(2), "2"},
		{update(1), remove, ""},
		{remove, put(2), "2"},
	}
	return func(ctx context.Context, e *engine) (string, error) {
		undone := 0
		options := heatsink.Options{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}, Version: version, TTL: "ttl"}
		direct, err := open(e.client, options)
		if err != nil {
			return "", err
		}
		late, err := open(e.faulty, options)
		if err != nil {
			return "", err
		}
		for _, trial := range trials {
			if err := put(0)(ctx, direct); err != nil {
				return "", err
			}
			first := true
			e.faults.Decide(func(r faulty.Request) faulty.Fault {
				if !first || strings.Contains(r.Operation, "Get") {
					return faulty.None
				}
				first = false
				return faulty.Late
			})
			e.faults.Delay(faulty.Exactly(300 * time.Millisecond).Of(faulty.Late))
			if err := trial.first(ctx, late); err != nil {
				return "", err
			}
			if err := trial.later(ctx, direct); err != nil {
				return "", err
			}
			e.faults.Wait()
			got, err := direct.Get(ctx, like, strongly)
			if err != nil && !errors.Is(err, heatsink.ErrNotFound) {
				return "", err
			}
			if text(got, "n") != trial.want || err != nil && trial.want != "" {
				undone++
			}
		}
		return of(undone, len(trials)), nil
	}
}

// createdBy returns how many of two processes are told that they created an item, when the first request of one is lost.
func createdBy(version string) func(context.Context, *engine) (string, error) {
	return func(ctx context.Context, e *engine) (string, error) {
		options := heatsink.Options{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}, Version: version, TTL: "ttl"}
		a, err := open(e.faulty, options)
		if err != nil {
			return "", err
		}
		b, err := open(e.client, options)
		if err != nil {
			return "", err
		}
		it := item("pk", "a", "sk", "1", "n", 1)
		var second error
		requests := 0
		e.faults.Decide(func(faulty.Request) faulty.Fault {
			if requests++; requests == 1 {
				return faulty.LostRequest
			}
			_, second = b.Put(ctx, it, ifNew)
			return faulty.None
		})
		_, first := a.Put(ctx, it, ifNew)
		created := 0
		for _, err := range []error{first, second} {
			if err == nil {
				created++
			}
		}
		return strconv.Itoa(created), nil
	}
}

// batchOf puts 24 good items and a bad one, and returns how many good ones are missing and the error.
func batchOf(ctx context.Context, e *engine, bad heatsink.Item) (missing int, err error) {
	c, err := open(e.client, heatsink.Options{Layout: layout.Layout{Shards: 4}})
	if err != nil {
		return 0, err
	}
	items := []heatsink.Item{bad}
	for i := range 24 {
		items = append(items, item("pk", "a", "sk", strconv.Itoa(i)))
	}
	failed := c.BatchPut(ctx, items)
	n, err := e.stored(ctx, "items")
	if err != nil {
		return 0, err
	}
	return 24 - n, failed
}

func oversized(ctx context.Context, e *engine) (string, error) {
	missing, failed := batchOf(ctx, e, item("pk", "a", "sk", "bad", "blob", strings.Repeat("x", 401<<10)))
	if failed == nil {
		return "accepted", nil
	}
	return strconv.Itoa(missing), nil
}

func keyless(ctx context.Context, e *engine) (string, error) {
	missing, failed := batchOf(ctx, e, item("sk", "bad"))
	kind := "no BatchError"
	if batch, ok := errors.AsType[*heatsink.BatchError](failed); ok && len(batch.Failed) == 1 && batch.Failed[0].Position == 0 {
		kind = "BatchError"
	}
	return strconv.Itoa(missing) + ", " + kind, nil
}
