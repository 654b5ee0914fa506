package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/local"
)

// heatRun is what became of writes that were offered at an even rate.
type heatRun struct {
	Keys     int     `json:"keys"`
	Offered  float64 `json:"offeredPerSecond"`
	Accepted float64 `json:"acceptedPerSecond"`
	Refused  float64 `json:"refusedPerSecond"`
	Reason   string  `json:"reason,omitempty"` // of the last refusal
}

const (
	heatRate = 2000 // writes offered a second
	heatTime = 3 * time.Second
)

// heat offers the same writes to one key and to many, of a new on-demand table
// with partitions that throttle.
func (d *demo) heat(ctx context.Context) (err error) {
	db, err := local.New(local.Options{Physics: &local.Physics{}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	client := db.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	if err := createViews(ctx, client, false); err != nil {
		return err
	}
	d.say("\n  %d writes a second for %v to a new on-demand table, with partitions that throttle:", heatRate, heatTime)
	for _, keys := range []int{1, 200} {
		run, err := offerWrites(ctx, client, keys)
		if err != nil {
			return err
		}
		d.report.Heat = append(d.report.Heat, run)
		d.say("  %3d %-8s %5.0f/s accepted   %5.0f/s refused   %s", keys, plural(keys, "key", "keys"), run.Accepted, run.Refused, run.Reason)
	}
	return nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// offerWrites writes at the rate, over so many keys, whatever becomes of it.
func offerWrites(ctx context.Context, client *dynamodb.Client, keys int) (heatRun, error) {
	var (
		group             sync.WaitGroup
		mu                sync.Mutex
		accepted, refused int
		reason            string
		failure           error
	)
	start := time.Now()
	total := int(heatTime.Seconds() * heatRate)
	for writer := range demoWriters {
		group.Go(func() {
			for i := writer; i < total; i += demoWriters {
				if !sleepUntil(ctx, start.Add(time.Duration(i)*time.Second/heatRate)) {
					return
				}
				_, err := putView(ctx, client, fmt.Sprintf("site-%d-of-%d", i%keys, keys), i)
				var throttle *types.ThrottlingException
				mu.Lock()
				switch {
				case err == nil:
					accepted++
				case errors.As(err, &throttle) && len(throttle.ThrottlingReasons) > 0:
					refused++
					reason = aws.ToString(throttle.ThrottlingReasons[0].Reason)
				default:
					failure = err
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if err := errors.Join(failure, ctx.Err()); err != nil {
		return heatRun{}, err
	}
	seconds := time.Since(start).Seconds()
	return heatRun{
		Keys: keys, Reason: reason, Offered: float64(total) / seconds,
		Accepted: float64(accepted) / seconds, Refused: float64(refused) / seconds,
	}, nil
}

// sleepUntil reports whether it was not ctx that ended the sleep.
func sleepUntil(ctx context.Context, at time.Time) bool {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
