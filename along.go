package heatsink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/expr/compose"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/forward/express"
	"github.com/heatsink-go/heatsink/internal/gather"
	"github.com/heatsink-go/heatsink/internal/lease"
	"github.com/heatsink-go/heatsink/internal/meter"
	"github.com/heatsink-go/heatsink/internal/sift"
)

// errMoved ends the requests of a read that knows an older generation of the record than this process does by now.
var errMoved = errors.New("the items of the collection have gone on to another stage of their move")

// checked returns a reading of a movable collection that knows no course yet.
func (c *core) checked(ctx context.Context, q Query) (*reading, error) {
	r := &reading{core: c, query: q, key: &types.AttributeValueMemberS{Value: q.Key}, meters: meter.Of(ctx)}
	if err := r.check(); err != nil {
		return nil, err
	}
	err := c.movable.table.CheckQuery(&dynamodb.QueryInput{
		FilterExpression: &q.Filter, ProjectionExpression: &q.Projection,
		ExpressionAttributeNames: q.Names, ExpressionAttributeValues: q.Values,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrQuery, err)
	}
	r.interval, err = q.Sort.interval(c.options.Encode)
	return r, err
}

// along returns a reading along a course. A light one returns items without the caller's attributes.
//
// Where all items have one home, DynamoDB evaluates the filter and the projection. It also returns what has moved on, because that
// shows that the course is out of date. Where an item may have two homes, each of them counts whatever the filter says of it: only both
// together tell what the item is. So this process evaluates the filter and the projection.
func (r *reading) along(c *course, light bool) (*reading, error) {
	q := r.query
	to := &reading{core: r.core, query: q, key: r.key, interval: r.interval, meters: r.meters, course: c}
	if err := checkParts(q.Projection, q.Names, to.needed()); err != nil {
		return nil, err
	}
	if c.phase != forward.Settled {
		return to, to.siftHere(light)
	}
	to.copyPlaceholders()
	if q.Filter != "" {
		to.names["#hs_f"] = express.Marks()[0]
		filter := compose.Group(q.Filter) + " OR attribute_exists(#hs_f)"
		to.filter = &filter
	}
	if light {
		to.projectKeys()
		return to, nil
	}
	return to, to.addProjection()
}

// siftHere makes this process evaluate the filter and the projection. Requests ask for the attributes that it needs.
func (r *reading) siftHere(light bool) error {
	var err error
	if r.sift, err = r.newSift(light); err != nil {
		return err
	}
	r.names, r.values, r.light = map[string]string{"#hs_pk": r.core.schema.PartitionKey}, Item{}, light
	wanted := r.sift.Needs()
	if wanted == nil {
		return nil
	}
	for _, name := range r.needed() {
		if !slices.Contains(wanted, name) {
			wanted = append(wanted, name)
		}
	}
	aliases := make([]string, len(wanted))
	for i, name := range wanted {
		aliases[i] = r.add(name)
	}
	r.added = nil // the projection leaves them out
	projection := strings.Join(aliases, ", ")
	r.projection = &projection
	return nil
}

// newSift returns the filter and the projection. A light reading projects the sort key alone.
func (r *reading) newSift(light bool) (*sift.Sift, error) {
	q, schema := &r.query, r.core.schema
	names, projection := q.Names, q.Projection
	if light {
		names, projection = maps.Clone(q.Names), "#hs_sk"
		if names == nil {
			names = make(map[string]string, 1)
		}
		names[projection] = schema.SortKey
	}
	parsed, err := sift.New(q.Filter, projection, names, q.Values)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrQuery, err)
	}
	for _, name := range []string{schema.PartitionKey, schema.SortKey} {
		if parsed.Filters(name) {
			return nil, fmt.Errorf("%w: Filter %q names the key attribute %q, but DynamoDB filters by other attributes only: restrict Sort instead", ErrQuery, q.Filter, name)
		}
	}
	return parsed, nil
}

// send sends a request of the read, and retries it. In a movable collection each attempt is bound by the lease on the generation that the
// read knows. The error is a *ShardError, or errMoved, or says why nothing is known of the record.
func (r *reading) send(ctx context.Context, what *request, once func(context.Context, ...func(*dynamodb.Options)) error) error {
	sender := r.core.sender
	if r.course == nil {
		return sender.read(ctx, what, func(ctx context.Context, _ int) error { return once(ctx, dispatch.Once) })
	}
	var stop error
	err := sender.read(ctx, what, func(ctx context.Context, _ int) (err error) {
		if stop, err = r.leased(ctx, once); stop != nil {
			return &dispatch.RejectedError{Err: stop}
		}
		return err
	})
	if stop != nil {
		return stop
	}
	return err
}

// leased makes one attempt of a request within a lease. If it was not made, stop says why.
func (r *reading) leased(ctx context.Context, once func(context.Context, ...func(*dynamodb.Options)) error) (stop, err error) {
	view, stop := r.core.movable.book.View(ctx)
	for range 3 {
		if stop != nil {
			return stop, nil
		}
		if view.Record.Generation != r.course.generation {
			return errMoved, nil
		}
		if err = once(ctx, dispatch.Once, view.Lease().Bind); !errors.Is(err, lease.ErrOver) {
			return nil, err
		}
		view, stop = r.core.movable.book.Renew(ctx, view) // the clocks of this machine disagree
	}
	return fmt.Errorf("query %s key %q: each lease on the record of the move is over as soon as it is read: check this machine's clock: %w",
		r.core.options.Table, r.query.Key, err), nil
}

// meet takes what the shard has of an id. It reports false if that says nothing about any item.
func (s *shard) meet(e *entry, page *gather.Page[found]) (bool, error) {
	r, f := s.read, &e.Value
	f.role = r.course.role(s.key, sortOf(*e))
	slot, err := r.core.movable.table.Take(f.item)
	if err != nil {
		return false, err
	}
	f.state, f.item = slot.State, slot.Content
	switch {
	case f.role == onlyHome && f.state == forward.Dead:
		return false, nil
	case f.role == noHome && f.state != forward.Live:
		return false, nil // left by a move from or to here
	case f.item == nil:
		page.Dropped++
		return true, nil
	}
	if r.sift == nil {
		return true, nil
	}
	keeps, err := r.sift.Keeps(f.item)
	if err != nil {
		return false, fmt.Errorf("query %s shard %q: %w", r.core.options.Table, s.key, err)
	}
	if f.dropped = !keeps; f.dropped {
		page.Dropped++
		f.item = nil
		return true, nil
	}
	f.item = r.sift.Project(f.item)
	return true, nil
}
