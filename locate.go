package heatsink

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/internal/meter"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/layout"
)

// located is the home of an item, where it is or would be, and the homes of its other copies.
type located struct {
	place.Home
	of     place.Key    // the key that is spread, for keys with ledgers
	key    Item         // the item's key in the table
	found  bool         // the item exists, in one shard of a Random layout or of a key with a ledger
	hidden []place.Home // homes of copies that Get does not return, in the order of preference
}

// locate finds the item that has the key of like. If the item may be in several shards, locate reads them with strong
// consistency. An expired item does not exist, as for Get. With a Random layout, locate returns ErrNotFound if no shard
// has the item. A Calculated layout determines where the item would be.
func (f *finder) locate(ctx context.Context, like Item) (*located, error) {
	key, err := f.schema.KeyOf(like)
	if err != nil {
		return nil, err
	}
	if f.schema.Index != "" {
		at := &located{Home: f.schema.TableHome(key), key: key}
		if f.ledgers != nil && f.schema.Listed(like) {
			at.of, err = f.schema.KeyIn(ctx, like)
		}
		return at, err
	}
	homes, rest, err := f.homes(ctx, like, false, true)
	if err != nil {
		return nil, err
	}
	more, err := rest.wait()
	if err != nil {
		return nil, err
	}
	homes = append(homes, more...)
	at := &located{Home: homes[0]}
	if f.ledgers != nil {
		if at.of, err = f.schema.KeyIn(ctx, like); err != nil {
			return nil, err
		}
	}
	if len(homes) > 1 || f.ledgers != nil {
		if err := f.look(ctx, at, key, like, homes); err != nil {
			return nil, err
		}
	}
	at.key = f.schema.KeyAt(key, at.Home)
	return at, nil
}

// homes returns where an item may be, as far as this process knows. With ledgers there may be more homes, and rest tells which.
// every asks for all shards, and strong for those of every item that was acknowledged before.
func (f *finder) homes(ctx context.Context, like Item, every, strong bool) (homes []place.Home, rest *restOfHomes, err error) {
	if f.ledgers == nil {
		homes, err = f.schema.Homes(ctx, like, every)
		return homes, nil, err
	}
	k, err := f.schema.KeyIn(ctx, like)
	if err != nil {
		return nil, nil, err
	}
	mode := ledger.Eventual
	if strong {
		mode = ledger.Strong
	}
	cover, err := f.ledgers.Cover(k.Text, k.Bucket, ledger.Reading{Mode: mode})
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrItem, err)
	}
	k.Width.Read = cover.First()
	if homes, err = f.schema.HomesAt(&k, like, every); err != nil || !cover.Pending() {
		return homes, nil, err
	}
	rest = &restOfHomes{}
	rest.read.Go(func() {
		if k.Width.Read, rest.err = cover.Await(ctx); rest.err != nil {
			return
		}
		all, err := f.schema.HomesAt(&k, like, every)
		rest.err = err
		for _, home := range all {
			if !slices.Contains(homes, home) {
				rest.homes = append(rest.homes, home)
			}
		}
	})
	return homes, rest, nil
}

// restOfHomes are the homes of an item that only a ledger tells of, while it is being read. The nil restOfHomes has none.
type restOfHomes struct {
	read  sync.WaitGroup
	homes []place.Home
	err   error
}

func (r *restOfHomes) pending() bool { return r != nil }

// wait waits for the ledger.
func (r *restOfHomes) wait() ([]place.Home, error) {
	if r == nil {
		return nil, nil
	}
	r.read.Wait()
	return r.homes, r.err
}

// stop ends the reading of the ledger if nobody waits for it any more.
func (r *restOfHomes) stop(cancel context.CancelFunc) {
	if r != nil {
		cancel()
		r.read.Wait()
	}
}

// look finds out which homes have the item.
func (f *finder) look(ctx context.Context, at *located, key, like Item, homes []place.Home) error {
	in := &dynamodb.GetItemInput{
		ConsistentRead:           aws.Bool(true),
		ReturnConsumedCapacity:   meter.Of(ctx).Wanted(),
		ProjectionExpression:     aws.String("#hs_pk"),
		ExpressionAttributeNames: map[string]string{"#hs_pk": f.schema.PartitionKey},
	}
	need := slices.Clone([]string(f.schema.Beside))
	for _, name := range []string{f.ttl.Attribute, f.versions.Name()} { // they show whether the item has expired or was deleted
		if name != "" && !slices.Contains(need, name) {
			need = append(need, name)
		}
	}
	for i, name := range need {
		alias := "#hs_" + strconv.Itoa(i)
		in.ExpressionAttributeNames[alias] = name
		*in.ProjectionExpression += ", " + alias
	}
	items, err := f.find(ctx, key, homes, in)
	if err != nil {
		return err
	}
	f.schema.Beside.KeepSame(items[1:], like)
	now := time.Now()
	random := f.schema.Layout.Strategy == layout.Random
	must := random || f.ledgers != nil // nobody else could know where this process would create the item
	there := false
	if f.versions.Keeps() && !random {
		i := f.versions.Newest(items)
		for j, item := range items {
			if j != i && !f.versions.Absent(item, now) && f.schema.Beside.SurelySame(item, like) {
				at.hidden = append(at.hidden, homes[j])
			}
		}
		if i >= 0 && !f.versions.Absent(items[i], now) {
			at.Home = homes[i]
		}
		return nil
	}
	for i, item := range items {
		switch {
		case f.versions.Absent(item, now):
		case !there:
			at.Home, at.found, there = homes[i], must, true
		case !random && f.schema.Beside.SurelySame(item, like):
			at.hidden = append(at.hidden, homes[i])
		}
	}
	if must && !there {
		return ErrNotFound
	}
	return nil
}
