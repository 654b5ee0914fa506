// Package carry carries out the machines of package forward on DynamoDB: one operation of a user, one move, one chore of a mover. It
// knows no ledger. Its caller says in which phase a key is, and how long that may be relied on.
package carry

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/forward/express"
	"github.com/heatsink-go/heatsink/internal/lease"
	"github.com/heatsink-go/heatsink/internal/meter"
)

// ErrStale is wrapped when an operation cannot go on with the phase that it knows: it has met a mark of a later one, or its lease
// is over. It had no effect on the item. Read the ledger with strong consistency, and begin the operation again.
var ErrStale = errors.New("the key has gone on to another stage of its move")

// Client is the part of the SDK's client that items take.
type Client interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
}

// Carrier sends requests.
type Carrier struct {
	Client        Client
	Reads, Writes *dispatch.Dispatcher
}

// Place is one id at one stage of its key.
type Place struct {
	Homes express.Homes
	Phase forward.Phase
	// Generation is that of the ledger which says so.
	Generation uint64
	Lease      lease.Lease // on what the ledger said
}

// Result is what an operation has come to.
type Result struct {
	Outcome forward.Outcome // Found, Missing, Done or Refused
	// Home is where the item was found or written. If there is none, it is where the last request went.
	Home    forward.Home
	Table   string       // that has this home
	Content express.Item // of a read
	// Returned is what the user's ReturnValues ask for, without marks.
	Returned express.Item
	// Refused is what DynamoDB would have answered to a write that is Refused; nil if that is a success.
	Refused error
	// Sight is where the id is, for the next operation on it.
	Sight forward.Sight
}

// none leaves out no rule.
var none forward.Breaks

// Operate runs one operation of a user on an id. Each request of it is tried again as the dispatchers allow. After a lost answer the
// user's own write is tried again only if it is repeatable. If no answer then shows what became of it, the error is a LostError. The user's
// Get is eventually consistent if it asks for no more and the id is settled.
func (c *Carrier) Operate(ctx context.Context, at Place, u *express.User, first forward.First, repeatable bool) (Result, error) {
	machine := forward.NewOperation[express.Item](u.Kind(), at.Phase, first, &none)
	machine.Generation = at.Generation
	var lost error // of the user's own write
	creates := false
	for {
		r := machine.Next()
		asked := u
		if !users(r.Act) && u.Kind() != forward.Get {
			asked = nil
		}
		answer, returned, err := c.ask(ctx, at, r, asked, !repeatable, &lost)
		if err != nil {
			return Result{}, lostBefore(lost, err)
		}
		machine = machine.Take(answer)
		creates = creates || u.Kind() != forward.Get && r.Creates(answer)
		result := Result{Outcome: machine.Outcome, Home: r.Home, Sight: machine.Sight(r, answer)}
		result.Sight.Made = result.Sight.Made || creates
		switch machine.Outcome {
		case forward.Running:
			continue
		case forward.Stale:
			return Result{}, lostBefore(lost, staleAt(at, answer))
		case forward.Refused:
			result.Refused = u.Refused(answer)
			if lost != nil && result.Refused != nil {
				return Result{}, &LostError{fmt.Errorf("%w; the repeated request was refused: %v", lost, result.Refused)}
			}
		case forward.Done:
			result.Returned = returned
		case forward.Found:
			result.Content = machine.Content
			if answer.Slot.Content == nil { // the home that was read before has it
				result.Home, result.Sight = r.Home.Other(), forward.Sight{}
			}
		}
		result.Table = at.Homes.In(result.Home).Name()
		return result, nil
	}
}

// staleAt returns the error for a mark that the phase cannot have.
func staleAt(at Place, a forward.Answer[express.Item]) error {
	return fmt.Errorf("%w: %v found the item %v", ErrStale, at.Phase, a.Slot.State)
}

// ask sends a request of an operation. u is nil if it is neither the user's write nor a read for the user. returned is what the user gets of it.
func (c *Carrier) ask(ctx context.Context, at Place, r forward.Request[express.Item], u *express.User, atMostOnce bool, lost *error) (forward.Answer[express.Item], express.Item, error) {
	request, err := at.Homes.Express(r, u)
	if err != nil {
		return forward.Answer[express.Item]{}, nil, err
	}
	var mine *error
	if users(r.Act) {
		mine = lost
	}
	answer, returned, err := c.send(ctx, at.Lease, request, atMostOnce, mine)
	if err == nil && request.Eventual() && answer.Slot.State.Forwarded() {
		r.Eventual = false // the replica may only lag behind the end of a move
		return c.ask(ctx, at, r, u, atMostOnce, lost)
	}
	return answer, request.Returned(returned), err
}

// users reports whether an act is the user's own.
func users(a forward.Act) bool {
	return a == forward.Write || a == forward.WriteExisting || a == forward.Kill
}

// Move moves an id to its new home, or back to its old one if the key is on its way back. Nothing is lost if it stops at any point.
func (c *Carrier) Move(ctx context.Context, at Place) error {
	machine := forward.NewMove[express.Item](&none)
	if at.Phase == forward.Back {
		machine = forward.NewReturn[express.Item](&none)
	}
	machine.Generation = at.Generation
	for !machine.Over {
		answer, err := c.Act(ctx, at, machine.Next())
		if err != nil {
			return err
		}
		if machine = machine.Take(answer); machine.Stale {
			return staleAt(at, answer)
		}
	}
	return nil
}

// Act sends one request that is not a user's.
func (c *Carrier) Act(ctx context.Context, at Place, r forward.Request[express.Item]) (forward.Answer[express.Item], error) {
	request, err := at.Homes.Express(r, nil)
	if err != nil {
		return forward.Answer[express.Item]{}, err
	}
	answer, _, err := c.send(ctx, at.Lease, request, false, nil)
	return answer, err
}

// send sends a request within a lease, and returns its answer and the attributes that came with it. lost is not nil for what the user has
// written: it gets the error of the first attempt whose answer was lost. After that the request is not sent again if it may be applied only
// once.
func (c *Carrier) send(ctx context.Context, l lease.Lease, r express.Request, atMostOnce bool, lost *error) (a forward.Answer[express.Item], returned express.Item, err error) {
	by := c.Writes
	if r.Get != nil {
		by = c.Reads
	}
	over := false
	_, err = by.Do(ctx, dispatch.Request{
		Send: func(ctx context.Context, _ int) (err error) {
			returned, err = c.once(ctx, l, r)
			if lost != nil && *lost == nil && dispatch.Judge(err) == dispatch.Unknown {
				*lost = err
			}
			over = errors.Is(err, lease.ErrOver)
			return err
		},
		Again: func(v dispatch.Verdict) bool { return !over && (v.Harmless() || lost == nil || !atMostOnce) },
	})
	if over {
		return a, nil, fmt.Errorf("%w: %w", ErrStale, err)
	}
	a, err = r.Answer(returned, err)
	return a, returned, err
}

// once sends a request once.
func (c *Carrier) once(ctx context.Context, l lease.Lease, r express.Request) (express.Item, error) {
	switch {
	case r.Get != nil:
		r.Get.ReturnConsumedCapacity = meter.Of(ctx).Wanted()
		out, err := c.Client.GetItem(ctx, r.Get, dispatch.Once, l.Bind)
		if err != nil {
			return nil, err
		}
		meter.Read(ctx, 0, out.ConsumedCapacity)
		return out.Item, nil
	case r.Put != nil:
		r.Put.ReturnConsumedCapacity = meter.Of(ctx).Wanted()
		out, err := c.Client.PutItem(ctx, r.Put, dispatch.Once, l.Bind)
		if err != nil {
			return nil, err
		}
		meter.Wrote(ctx, out.ConsumedCapacity)
		return out.Attributes, nil
	case r.Update != nil:
		r.Update.ReturnConsumedCapacity = meter.Of(ctx).Wanted()
		out, err := c.Client.UpdateItem(ctx, r.Update, dispatch.Once, l.Bind)
		if err != nil {
			return nil, err
		}
		meter.Wrote(ctx, out.ConsumedCapacity)
		return out.Attributes, nil
	}
	r.Delete.ReturnConsumedCapacity = meter.Of(ctx).Wanted()
	out, err := c.Client.DeleteItem(ctx, r.Delete, dispatch.Once, l.Bind)
	if err != nil {
		return nil, err
	}
	meter.Wrote(ctx, out.ConsumedCapacity)
	return out.Attributes, nil
}
