package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
)

// measureFault writes items one by one, of which some meet a fault, and looks for those that are there twice or not at all.
func measureFault(t *testing.T, contestant, fault string) (r faultResult) {
	bubble.Test(t, func(t *testing.T) { r = newWorld(t, 3).fault(contestant, fault) })
	r.Contestant, r.Fault = contestant, fault
	return r
}

func (w *world) fault(contestant, fault string) faultResult {
	w.Helper()
	r := faultResult{Items: faultItems}
	var due atomic.Bool // whether the next write is to meet the fault
	meet := faulty.New(once(&due)).Option
	if fault == broken {
		meet = (&brokenWay{due: &due}).option
	}
	first, second := w.start(contestant, meet), w.start(contestant, meet)
	put := first.put
	switch fault {
	case unanswered:
		put = func(ctx context.Context, sort string) error { return again(ctx, first.put, sort) }
	case killed:
		put = func(ctx context.Context, sort string) error {
			// The first process waits for the answer when it is killed. Nobody but DynamoDB knows of the write.
			dying, kill := context.WithTimeout(ctx, answerTime/2)
			defer kill()
			if err := first.put(dying, sort); err == nil {
				return nil
			}
			return second.put(ctx, sort)
		}
	}
	acked := map[string]bool{}
	for i := range faultItems {
		sort := sortOf(i)
		if i%faultEvery == 0 {
			due.Store(true)
			r.Met++
		}
		if err := put(w.Context(), sort); err != nil {
			r.Failed++
		} else {
			acked[sort] = true
		}
		if due.Load() {
			w.Errorf("%s, %s: item %d did not meet it", contestant, fault, i)
		}
	}
	w.count(&r, acked)
	return r
}

// start opens a process that has used the key before: one that is adaptive knows how wide it is.
func (w *world) start(contestant string, option func(*dynamodb.Options)) store {
	w.Helper()
	s := w.open(contestant, option)
	if s.grow != nil {
		if err := s.grow(w.Context(), grown); err != nil {
			w.Fatal(err)
		}
	}
	if _, err := s.newest(w.Context(), 1); err != nil {
		w.Fatal(err)
	}
	return s
}

// count looks for items that are there twice, or not at all.
func (w *world) count(r *faultResult, acked map[string]bool) {
	stored, keys := w.stored(w.Context())
	for _, n := range stored {
		if n > 1 {
			r.Doubled++
		}
	}
	for sort := range acked {
		if stored[sort] == 0 {
			r.Lost++
		}
	}
	if r.Keys = keys; keys == 0 {
		w.Error("nothing is stored")
	}
}

// once makes a PutItem take effect and never be answered, when one is due. Control items are left alone.
func once(due *atomic.Bool) faulty.Decide {
	return func(r faulty.Request) faulty.Fault {
		if r.Operation != "PutItem" || !strings.HasPrefix(r.Key("pk"), key) || !due.CompareAndSwap(true, false) {
			return faulty.None
		}
		return faulty.UnansweredDone
	}
}

// again is what a caller does who waits a second for an answer: up to three times.
func again(ctx context.Context, put func(context.Context, string) error, sort string) (err error) {
	for range 3 {
		err = func() error {
			// A collection waits as long for each of its attempts, and needs some time for the second.
			waiting, cancel := context.WithTimeout(ctx, 2*answerTime)
			defer cancel()
			return put(waiting, sort)
		}()
		if err == nil {
			return nil
		}
	}
	return err
}

// brokenWay is an HTTP client that loses the answer to a PutItem when one is due. It is below the SDK's retries.
type brokenWay struct {
	dynamodb.HTTPClient
	due *atomic.Bool
}

func (b *brokenWay) option(o *dynamodb.Options) { b.HTTPClient, o.HTTPClient = o.HTTPClient, b }

func (b *brokenWay) Do(r *http.Request) (*http.Response, error) {
	answer, err := b.HTTPClient.Do(r)
	if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".PutItem") || !b.due.CompareAndSwap(true, false) {
		return answer, err
	}
	if err == nil {
		err = answer.Body.Close()
	}
	if err != nil {
		return nil, err
	}
	return nil, io.ErrUnexpectedEOF
}
