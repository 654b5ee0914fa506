package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

// measureFault writes items one by one, of which some meet a fault, and looks for those that are there twice or not at all.
func measureFault(t *testing.T, contestant, fault string) (r faultResult) {
	switched(t, contestant)
	bubble.Test(t, func(t *testing.T) { r = newWorld(t, 3).fault(contestant, fault) })
	r.Contestant, r.Fault = contestant, fault
	return r
}

func (w *world) fault(contestant, fault string) faultResult {
	w.Helper()
	r := faultResult{Items: faultItems}
	var due atomic.Bool // whether the next write is to meet the fault
	meet := (&badWay{due: &due, silent: fault != broken}).option
	first, second := w.start(contestant, meet), w.start(contestant, meet)
	put := first.put
	switch fault {
	case unanswered:
		// A collection waits a second for each of its attempts, and needs some time for the second one.
		patience := 2 * answerTime
		if contestant == suffixPatient {
			patience = 4 * answerTime
		}
		put = func(ctx context.Context, sort string) error { return again(ctx, patience, first.put, sort) }
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

// again is what a caller does who waits so long for an answer: up to three times.
func again(ctx context.Context, patience time.Duration, put func(context.Context, string) error, sort string) (err error) {
	for range 3 {
		err = func() error {
			waiting, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			return put(waiting, sort)
		}()
		if err == nil {
			return nil
		}
	}
	return err
}

// badWay is an HTTP client that loses the answer to a write of an item when one is due: the connection breaks, or nothing ever comes. It
// is below the retries of the SDK and of heatsink, and below an HTTP timeout.
type badWay struct {
	dynamodb.HTTPClient
	due    *atomic.Bool
	silent bool
}

func (b *badWay) option(o *dynamodb.Options) { b.HTTPClient, o.HTTPClient = o.HTTPClient, b }

func (b *badWay) Do(r *http.Request) (*http.Response, error) {
	concerned, err := writesItem(r)
	if err != nil {
		return nil, err
	}
	answer, err := b.HTTPClient.Do(r)
	if !concerned || !b.due.CompareAndSwap(true, false) {
		return answer, err
	}
	if err == nil {
		err = answer.Body.Close()
	}
	switch {
	case err != nil:
		return nil, err
	case b.silent:
		<-r.Context().Done()
		return nil, context.Cause(r.Context())
	}
	return nil, io.ErrUnexpectedEOF
}

// writesItem reports whether a request puts an item of the key. Control items are left alone.
func writesItem(r *http.Request) (bool, error) {
	if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".PutItem") {
		return false, nil
	}
	text, err := io.ReadAll(r.Body)
	if err == nil {
		err = r.Body.Close()
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	return bytes.Contains(text, []byte(`"pk":{"S":"`+key)), err
}
