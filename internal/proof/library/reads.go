package main

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
)

func init() {
	measurements = append(measurements,
		measurement{"7", "items of a second with fractions that a range leaves out", "4 of 4", "0 of 4", on(fractions)},
		measurement{"7", "From and To on an index without the event time are refused", "all items or none", "holds", test(".", "TestIndexWithoutTheEventTime")},
		measurement{"8", "items of another tenant that forged tokens read", "2190", "0", on(forged)},
		measurement{"8", "a token made with 16 shards, after a rollback to 4", "accepted, 26 of 40 items missing", "refused", on(rolledBack)},
		measurement{"8", "items that pages miss or repeat when an unsharded key gets its shards", "token refused", "0", on(firstShards)},
		measurement{"8", "a token of the old key, with two keys and with the new one alone", "one key at a time", "accepted, refused", on(rotated)},
		measurement{"9", "requests sent for days from 1970 on, over 4 shards", "83088", "0, refused", on(sinceForever)},
		measurement{"10", "callers' mistakes that read as such", "0 of 5", "5 of 5", on(mistakes)},
		measurement{"10", "items behind one that does not decode: by Query, by Page", "0 of 9, 0 of 9", "9 of 9, 9 of 9", on(undecodable)},
		measurement{"10", "items read by Count with Limit 10, of 40,000, fewer than 200", "40000", "yes", on(limitedCount)},
		measurement{"10", "requests at once of a Get with MaxConcurrency 2", "8", "2", on(getAtOnce)},
		measurement{"10", "requests counted that were never sent", "1", "0", on(neverSent)},
	)
}

func fractions(ctx context.Context, e *engine) (string, error) {
	c, err := open(e.client, heatsink.Options{
		Layout: layout.Layout{Bucket: layout.Day}, EventTime: heatsink.EventTime{Attribute: "at", Unit: heatsink.UnixSeconds},
	})
	if err != nil {
		return "", err
	}
	for i, fraction := range []string{".25", ".5", ".75", ".999999"} {
		at := &types.AttributeValueMemberN{Value: "1718000000" + fraction}
		if _, err := c.Put(ctx, item("pk", "LOG", "sk", strconv.Itoa(i), "at", at)); err != nil {
			return "", err
		}
	}
	from := time.Unix(1718000000, 0).Add(200 * time.Millisecond)
	n, err := c.Count(ctx, heatsink.Query{Key: "LOG", From: from, To: from.Add(time.Second)})
	return of(4-n, 4), err
}

// forged changes the sort key in tokens without a signature, and counts the items that are read outside the query's range.
func forged(ctx context.Context, e *engine) (string, error) {
	c, err := open(e.client, heatsink.Options{Layout: layout.Layout{Shards: 4}})
	if err != nil {
		return "", err
	}
	var batch []heatsink.Item
	for i := range 100 {
		batch = append(batch, item("pk", "DOCS", "sk", fmt.Sprintf("tenant-a#%03d", i)), item("pk", "DOCS", "sk", fmt.Sprintf("tenant-b#%03d", i)))
	}
	if err := c.BatchPut(ctx, batch); err != nil {
		return "", err
	}
	q := heatsink.Query{Key: "DOCS", Sort: heatsink.BeginsWith("tenant-b#"), Limit: 100}
	page, err := c.Page(ctx, heatsink.Query{Key: "DOCS", Sort: q.Sort, Limit: 5}, "")
	if err != nil {
		return "", err
	}
	outside := 0
	for at := range len(page.Next) {
		raw, err := base64.RawURLEncoding.DecodeString(page.Next)
		if err != nil {
			return "", err
		}
		if at >= len(raw)-4 {
			break
		}
		for _, b := range []byte{'a', 0, 0xff, raw[at] - 1} {
			body := append([]byte{}, raw[:len(raw)-4]...)
			body[at] = b
			token := base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(body, crc32.ChecksumIEEE(body)))
			got, err := c.Page(ctx, q, token)
			if err != nil {
				continue
			}
			for _, it := range got.Items {
				if text(it, "sk")[:9] != "tenant-b#" {
					outside++
				}
			}
		}
	}
	return strconv.Itoa(outside), nil
}

func rolledBack(ctx context.Context, e *engine) (string, error) {
	wide, err := open(e.client, heatsink.Options{Layout: layout.Layout{Shards: 16}})
	if err != nil {
		return "", err
	}
	for i := range 40 {
		if _, err := wide.Put(ctx, item("pk", "a", "sk", fmt.Sprintf("%02d", i))); err != nil {
			return "", err
		}
	}
	q := heatsink.Query{Key: "a", Limit: 3}
	page, err := wide.Page(ctx, q, "")
	if err != nil {
		return "", err
	}
	few, err := open(e.client, heatsink.Options{Layout: layout.Layout{Shards: 4}})
	if err != nil {
		return "", err
	}
	_, err = few.Page(ctx, q, page.Next)
	return refused(err, heatsink.ErrToken, heatsink.ErrTooNarrow), nil
}

func firstShards(ctx context.Context, e *engine) (string, error) {
	bare, err := open(e.client, heatsink.Options{})
	if err != nil {
		return "", err
	}
	spread, err := open(e.client, heatsink.Options{Layout: layout.Layout{Shards: 10, Format: layout.Format{BareZero: true}}})
	if err != nil {
		return "", err
	}
	seen := map[string]int{}
	put := func(c items, from, to int) error {
		for i := from; i < to; i++ {
			if _, err := c.Put(ctx, item("pk", "a", "sk", fmt.Sprintf("%03d", i))); err != nil {
				return err
			}
		}
		return nil
	}
	if err := put(bare, 0, 50); err != nil {
		return "", err
	}
	q := heatsink.Query{Key: "a", Limit: 7}
	c, token := bare, ""
	for pages := 0; ; pages++ {
		if pages == 2 {
			c = spread
			if err := put(c, 50, 100); err != nil {
				return "", err
			}
		}
		page, err := c.Page(ctx, q, token)
		if errors.Is(err, heatsink.ErrToken) {
			return "token refused", nil
		}
		if err != nil {
			return "", err
		}
		for _, it := range page.Items {
			seen[text(it, "sk")]++
		}
		if token = page.Next; token == "" {
			break
		}
	}
	wrong := 100 - len(seen)
	for _, n := range seen {
		wrong += n - 1
	}
	return strconv.Itoa(wrong), nil
}

func rotated(ctx context.Context, e *engine) (string, error) {
	with := func(keys ...string) (items, error) {
		o := heatsink.Options{Layout: layout.Layout{Shards: 4}}
		for _, key := range keys {
			o.TokenKeys = append(o.TokenKeys, []byte(key))
		}
		return open(e.client, o)
	}
	const before, after = "the key of yesterday", "the key of tomorrow"
	c, err := with(before)
	if err != nil {
		return "", err
	}
	for i := range 10 {
		if _, err := c.Put(ctx, item("pk", "a", "sk", strconv.Itoa(i))); err != nil {
			return "", err
		}
	}
	q := heatsink.Query{Key: "a", Limit: 3}
	page, err := c.Page(ctx, q, "")
	if err != nil {
		return "", err
	}
	var verdict strings.Builder
	for i, keys := range [][]string{{after, before}, {after}} {
		c, err := with(keys...)
		if err != nil {
			return "", err
		}
		_, err = c.Page(ctx, q, page.Next)
		if i > 0 {
			verdict.WriteString(", ")
		}
		verdict.WriteString(refused(err, heatsink.ErrToken))
	}
	return verdict.String(), nil
}

func sinceForever(ctx context.Context, e *engine) (string, error) {
	c, err := open(e.faulty, heatsink.Options{Layout: layout.Layout{Shards: 4, Bucket: layout.Day}, EventTime: heatsink.EventTime{Attribute: "at"}})
	if err != nil {
		return "", err
	}
	_, err = c.Count(ctx, heatsink.Query{Key: "LOG", From: time.Unix(0, 0), To: time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)})
	return fmt.Sprintf("%d, %s", e.faults.Count("Query"), refused(err, heatsink.ErrQuery, heatsink.ErrTooManyRequests)), nil
}

func mistakes(ctx context.Context, e *engine) (string, error) {
	right := 0
	for _, q := range []heatsink.Query{
		{Key: "a", Sort: heatsink.BeginsWith("")},
		{Key: "a", Sort: heatsink.Equal(7)},
		{Key: "a", Filter: "sk = :v", Values: item(":v", "x")},
		{Key: "a", Values: item(":unused", "x")},
	} {
		c, err := open(e.client, heatsink.Options{Layout: layout.Layout{Shards: 4}})
		if err != nil {
			return "", err
		}
		for _, err := range c.Query(ctx, q) {
			if errors.Is(err, heatsink.ErrQuery) && !errors.As(err, new(*heatsink.GatherError)) {
				right++
			}
		}
	}
	c, err := open(e.client, heatsink.Options{Table: "nowhere", PartitionKey: "pk", SortKey: "sk", Layout: layout.Layout{Shards: 4}})
	if err != nil {
		return "", err
	}
	_, err = c.Count(ctx, heatsink.Query{Key: "a"})
	if errors.As(err, new(*types.ResourceNotFoundException)) && !errors.As(err, new(*heatsink.GatherError)) {
		right++
	}
	return of(right, 5), nil
}

func undecodable(ctx context.Context, e *engine) (string, error) {
	type record struct {
		PK string `dynamodbav:"pk"`
		SK string `dynamodbav:"sk"`
		N  int    `dynamodbav:"n"`
	}
	c, err := heatsink.Open[record](e.client, heatsink.Options{Table: "items", PartitionKey: "pk", SortKey: "sk"})
	if err != nil {
		return "", err
	}
	for i := range 10 {
		it := item("pk", "a", "sk", strconv.Itoa(i), "n", i)
		if i == 0 {
			it["n"] = &types.AttributeValueMemberS{Value: "none"}
		}
		if err := e.store(ctx, it); err != nil {
			return "", err
		}
	}
	queried, paged := 0, 0
	for _, err := range c.Query(ctx, heatsink.Query{Key: "a"}) {
		if err == nil {
			queried++
		} else if !errors.As(err, new(*heatsink.DecodeError)) {
			return "", err
		}
	}
	for token := ""; ; {
		page, err := c.Page(ctx, heatsink.Query{Key: "a", Limit: 4}, token)
		if err != nil && !errors.As(err, new(*heatsink.DecodeError)) {
			return "", err
		}
		paged += len(page.Items)
		if token = page.Next; token == "" {
			break
		}
	}
	return of(queried, 9) + ", " + of(paged, 9), nil
}

func limitedCount(ctx context.Context, e *engine) (string, error) {
	c, err := open(e.client, heatsink.Options{Layout: layout.Layout{Shards: 8}})
	if err != nil {
		return "", err
	}
	batch := make([]heatsink.Item, 40_000)
	for i := range batch {
		batch[i] = item("pk", "a", "sk", fmt.Sprintf("%05d", i))
	}
	if err := c.BatchPut(ctx, batch); err != nil {
		return "", err
	}
	var meter heatsink.Meter
	n, err := c.Count(heatsink.WithMeter(ctx, &meter), heatsink.Query{Key: "a", Limit: 10})
	if err != nil || n != 10 {
		return "", fmt.Errorf("counted %d: %w", n, err)
	}
	if read := meter.Cost().Items; read >= 200 {
		return strconv.Itoa(read), nil
	}
	return "yes", nil
}

func getAtOnce(ctx context.Context, e *engine) (string, error) {
	c, err := open(e.faulty, heatsink.Options{Layout: layout.Layout{Shards: 800}, MaxConcurrency: 2})
	if err != nil {
		return "", err
	}
	e.faults.Delay(faulty.Exactly(50 * time.Millisecond))
	if _, err := c.Get(ctx, item("pk", "a", "sk", "1")); !errors.Is(err, heatsink.ErrNotFound) {
		return "", err
	}
	// Requests that begin within 25 ms of each other were under way together.
	most := 0
	sent := e.faults.Requests()
	for _, r := range sent {
		n := 0
		for _, s := range sent {
			if d := s.At.Sub(r.At); d >= 0 && d < 25*time.Millisecond {
				n++
			}
		}
		most = max(most, n)
	}
	return strconv.Itoa(most), nil
}

func neverSent(ctx context.Context, e *engine) (string, error) {
	c, err := open(e.faulty, heatsink.Options{Retry: heatsink.Retry{Attempts: 1}})
	if err != nil {
		return "", err
	}
	e.faults.Decide(faulty.Always(faulty.Unreached))
	var meter heatsink.Meter
	if _, err := c.Get(heatsink.WithMeter(ctx, &meter), item("pk", "a", "sk", "1")); err == nil {
		return "", errors.New("a request that reached nobody succeeded")
	}
	return strconv.Itoa(meter.Cost().Requests), nil
}
